// SPDX-License-Identifier: Apache-2.0
#include "loadgen/agent_trace.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "loadgen/trace_json.h"

namespace daybreak::loadgen {
namespace {

constexpr std::size_t kMaxBlockTokens = 65'536;

class AgentTrace final : public TraceSource {
 public:
  explicit AgentTrace(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  Result<std::optional<Conversation>> next() override {
    if (at_ == paths_.size()) {
      return std::optional<Conversation>();
    }
    const std::string& path = paths_[at_++];
    DAYBREAK_TRY(const std::string text, read_whole_file(path, kMaxAgentTraceBytes));
    DAYBREAK_TRY(Conversation out, parse_agent_trace(text, path));
    out.name = std::filesystem::path(path).stem().string();
    return std::optional(std::move(out));
  }

 private:
  const std::vector<std::string> paths_;
  std::size_t at_ = 0;
};

// Seconds of a member, 0 without one.
Result<double> seconds_of(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> found = object.find_set(key);
  return found ? found->number(0, kMaxTraceSeconds) : Result<double>(0.0);
}

// Keeps of `blocks` what differs from `before`.
void keep_difference(Turn& turn, const std::vector<std::uint64_t>& blocks,
                     const std::vector<std::uint64_t>& before) {
  const auto [mine, theirs] = std::ranges::mismatch(blocks, before);
  turn.kept_blocks = static_cast<std::size_t>(mine - blocks.begin());
  turn.blocks.assign(mine, blocks.end());
}

Result<std::uint64_t> scope_of(const JsonValue& root, std::string_view name) {
  const std::optional<JsonValue> scope = root.find_set("hash_id_scope");
  if (!scope) {
    return fnv1a64(std::as_bytes(std::span(name)));
  }
  DAYBREAK_TRY(const std::string_view text, scope->string());
  if (text != "local" && text != "global") {
    return scope->expected("\"local\" or \"global\"");
  }
  return text == "global" ? 0 : fnv1a64(std::as_bytes(std::span(name)));
}

}  // namespace

Result<Conversation> parse_agent_trace(std::string_view text, std::string_view name) {
  DAYBREAK_TRY(const JsonDocument document,
               JsonDocument::parse(text, name, {.max_bytes = kMaxAgentTraceBytes}));
  const JsonValue root = document.root();
  Conversation out;
  DAYBREAK_TRY(const JsonValue block_size, member_of(root, "block_size"));
  DAYBREAK_TRY(out.block_tokens, block_size.integer(1, kMaxBlockTokens));
  DAYBREAK_TRY(out.scope, scope_of(root, name));
  DAYBREAK_TRY(const JsonValue requests, member_of(root, "requests"));
  DAYBREAK_TRY(const std::vector<JsonValue> items, requests.array(kMaxTraceTurns));
  std::vector<std::uint64_t> before;
  for (const JsonValue& item : items) {
    Turn turn;
    DAYBREAK_TRY(const JsonValue at, member_of(item, "t"));
    DAYBREAK_TRY(turn.at_seconds, at.number(0, kMaxTraceSeconds));
    DAYBREAK_TRY(turn.think_seconds, seconds_of(item, "think_time"));
    DAYBREAK_TRY(turn.input_tokens, tokens_of(item, "in", 1));
    DAYBREAK_TRY(turn.output_tokens, tokens_of(item, "out", 0));
    DAYBREAK_TRY(std::vector<std::uint64_t> blocks, blocks_of(item, "hash_ids"));
    keep_difference(turn, blocks, before);
    before = std::move(blocks);
    out.turns.push_back(std::move(turn));
  }
  return out.turns.empty() ? Result<Conversation>(requests.expected("at least one request"))
                           : std::move(out);
}

Result<std::unique_ptr<TraceSource>> open_agent_trace(const std::string& path) {
  std::vector<std::string> paths;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    if (!std::filesystem::exists(path, error)) {
      return Error{Errc::kNotFound, path + ": expected a file or directory, found none"};
    }
    paths.push_back(path);
  } else {
    std::filesystem::directory_iterator entries(path, error);
    for (const auto end = std::filesystem::directory_iterator(); !error && entries != end;
         entries.increment(error)) {
      if (entries->path().extension() == ".json") {
        paths.push_back(entries->path().string());
      }
      if (paths.size() > kMaxAgentTraces) {
        return Error{Errc::kTooLarge, path + ": expected at most 100000 files"};
      }
    }
    if (error) {
      return Error{Errc::kIo, path + ": " + error.message()};
    }
    std::ranges::sort(paths);
  }
  if (paths.empty()) {
    return Error{Errc::kInvalidArgument, path + ": expected .json files, found none"};
  }
  return std::unique_ptr<TraceSource>(std::make_unique<AgentTrace>(std::move(paths)));
}

}  // namespace daybreak::loadgen
