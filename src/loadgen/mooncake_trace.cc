// SPDX-License-Identifier: Apache-2.0
#include "loadgen/mooncake_trace.h"

#include <utility>

#include "loadgen/trace_file.h"
#include "loadgen/trace_json.h"

namespace daybreak::loadgen {
namespace {

constexpr double kMillisecondsPerSecond = 1e3;

class MooncakeTrace final : public TraceSource {
 public:
  explicit MooncakeTrace(std::unique_ptr<TraceFile> file) : file_(std::move(file)) {}

  Result<std::optional<Conversation>> next() override {
    for (;;) {
      DAYBREAK_TRY(const std::optional<std::string> line, file_->next());
      if (!line) {
        return std::optional<Conversation>();
      }
      if (line->empty()) {
        continue;
      }
      DAYBREAK_TRY(Conversation conversation, parse_mooncake_line(*line, file_->where()));
      conversation.name = std::to_string(file_->number());
      return std::optional(std::move(conversation));
    }
  }

 private:
  std::unique_ptr<TraceFile> file_;
};

}  // namespace

Result<Conversation> parse_mooncake_line(std::string_view line, std::string_view where) {
  DAYBREAK_TRY(const JsonDocument document, JsonDocument::parse(line, where));
  const JsonValue root = document.root();
  Turn turn;
  DAYBREAK_TRY(const JsonValue timestamp, member_of(root, "timestamp"));
  DAYBREAK_TRY(const double ms, timestamp.number(0, kMaxTraceSeconds * kMillisecondsPerSecond));
  turn.at_seconds = ms / kMillisecondsPerSecond;
  DAYBREAK_TRY(turn.input_tokens, tokens_of(root, "input_length", 1));
  DAYBREAK_TRY(turn.output_tokens, tokens_of(root, "output_length", 0));
  DAYBREAK_TRY(turn.blocks, blocks_of(root, "hash_ids"));
  Conversation out{.name = {}, .scope = 0, .block_tokens = kMooncakeBlockTokens, .turns = {}};
  out.turns.push_back(std::move(turn));
  return out;
}

Result<std::unique_ptr<TraceSource>> open_mooncake_trace(const std::string& path) {
  DAYBREAK_TRY(auto file, TraceFile::open(path));
  return std::unique_ptr<TraceSource>(std::make_unique<MooncakeTrace>(std::move(file)));
}

}  // namespace daybreak::loadgen
