// SPDX-License-Identifier: Apache-2.0
#include "model/checkpoint_index.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/json_document.h"

namespace daybreak::model {
namespace {

constexpr std::size_t kMaxFileName = 255;

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxFileName && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\\') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Error corrupt(Error error) {
  return {error.code == Errc::kInvalidArgument ? Errc::kCorrupt : error.code,
          std::move(error.message)};
}

Result<std::optional<std::uint64_t>> read_total_size(const JsonValue& root) {
  const auto metadata = root.find_set("metadata");
  const auto total = metadata ? metadata->find_set("total_size") : std::nullopt;
  if (!total) {
    return std::optional<std::uint64_t>();
  }
  // Some writers store the sum as a float.
  const auto whole = total->integer(0, std::numeric_limits<std::uint64_t>::max());
  if (whole) {
    return std::optional<std::uint64_t>(*whole);
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53
  DAYBREAK_TRY(const double value, total->number(0, kExact));
  return std::optional<std::uint64_t>(static_cast<std::uint64_t>(value));
}

struct Pair {
  std::string_view tensor, file;
};

Result<std::vector<Pair>> read_pairs(const JsonValue& root) {
  const auto map = root.find("weight_map");
  if (!map) {
    return Error{Errc::kCorrupt, root.where_of("weight_map") + ": missing"};
  }
  simdjson::dom::object members;
  if (map->raw().get_object().get(members) != simdjson::SUCCESS) {
    return map->expected("an object");
  }
  std::vector<Pair> pairs;
  pairs.reserve(members.size());
  for (const auto member : members) {
    std::string_view file;
    if (member.value.get_string().get(file) != simdjson::SUCCESS || !is_plain_file_name(file)) {
      return JsonValue(member.value, map->where_of(member.key))
          .expected("a file name without a directory");
    }
    pairs.push_back({member.key, file});
  }
  std::ranges::sort(pairs, {}, &Pair::tensor);
  return pairs;
}

}  // namespace

Result<CheckpointIndex> parse_checkpoint_index(std::string_view json, std::string_view name) {
  auto document = JsonDocument::parse(json, name, {.max_bytes = kMaxIndexBytes, .max_depth = 8});
  if (!document) {
    return corrupt(std::move(document).error());
  }
  const JsonValue root = document->root();
  if (!root.is_object()) {
    return corrupt(root.expected("an object"));
  }
  auto total = read_total_size(root);
  auto pairs = read_pairs(root);
  if (!total || !pairs) {
    return corrupt(total ? pairs.error() : total.error());
  }
  CheckpointIndex index;
  index.total_size = *total;
  for (const Pair& pair : *pairs) {
    index.shards.emplace_back(pair.file);
  }
  std::ranges::sort(index.shards);
  const auto repeated = std::ranges::unique(index.shards);
  index.shards.erase(repeated.begin(), repeated.end());
  if (index.shards.size() > kMaxShards) {
    return Error{Errc::kTooLarge, root.where() + ": weight_map names " +
                                      std::to_string(index.shards.size()) + " shards, at most " +
                                      std::to_string(kMaxShards)};
  }
  index.tensors.reserve(pairs->size());
  for (const Pair& pair : *pairs) {
    const auto shard = std::ranges::lower_bound(index.shards, pair.file);
    index.tensors.push_back(
        {std::string(pair.tensor), static_cast<std::size_t>(shard - index.shards.begin())});
  }
  return index;
}

}  // namespace daybreak::model
