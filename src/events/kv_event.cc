// SPDX-License-Identifier: Apache-2.0
#include "events/kv_event.h"

#include <nlohmann/json.hpp>

namespace daybreak::events {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Main memory is where this engine computes: what vLLM calls the device's tier, whatever it is.
constexpr const char* kMedium = "GPU";

int group_of(cache::Part part) { return part == cache::Part::kBlock ? 0 : 1; }
const char* kind_of(cache::Part part) {
  return part == cache::Part::kBlock ? "mla_attention" : "mamba";
}

bool has_extra_keys(const BlockStored& event) {
  return !event.salt.empty() || !event.lora_name.empty();
}

// Of one block: as vLLM has them, the adapter's name and then the salt.
OrderedJson extra_keys(const BlockStored& event) {
  OrderedJson keys = OrderedJson::array();
  for (const std::string& key : {event.lora_name, event.salt}) {
    if (!key.empty()) {
      keys.push_back(key);
    }
  }
  return keys;
}

OrderedJson stored_map(const BlockStored& event) {
  return {{"type", "BlockStored"},
          {"block_hashes", {event.hash}},
          {"parent_block_hash", event.parent ? OrderedJson(*event.parent) : OrderedJson()},
          {"token_ids", event.ids},
          {"block_size", cache::kBlockTokens},
          {"lora_id", nullptr},
          {"medium", kMedium},
          {"lora_name", event.lora_name.empty() ? OrderedJson() : OrderedJson(event.lora_name)},
          {"extra_keys",
           has_extra_keys(event) ? OrderedJson::array({extra_keys(event)}) : OrderedJson()},
          {"group_idx", group_of(event.part)},
          {"kv_cache_spec_kind", kind_of(event.part)},
          {"kv_cache_spec_sliding_window", nullptr}};
}

OrderedJson removed_map(const BlockRemoved& event) {
  return {{"type", "BlockRemoved"},
          {"block_hashes", {event.hash}},
          {"medium", kMedium},
          {"group_idx", group_of(event.part)}};
}

// Checkpoints lie far apart; only blocks follow each other.
bool follows(const BlockStored& last, const BlockStored& next) {
  return last.part == cache::Part::kBlock && next.part == cache::Part::kBlock &&
         next.parent == last.hash && next.salt == last.salt && next.lora_name == last.lora_name;
}

class Batch {
 public:
  void add(const BlockStored& event) {
    if (last_stored_ != nullptr && follows(*last_stored_, event)) {
      OrderedJson& map = maps_.back();
      map["block_hashes"].push_back(event.hash);
      OrderedJson& ids = map["token_ids"];
      for (const TokenId id : event.ids) {
        ids.push_back(id);
      }
      if (has_extra_keys(event)) {
        map["extra_keys"].push_back(extra_keys(event));
      }
    } else {
      maps_.push_back(stored_map(event));
    }
    last_stored_ = &event;
    last_removed_ = nullptr;
  }
  void add(const BlockRemoved& event) {
    if (last_removed_ != nullptr && last_removed_->part == event.part) {
      maps_.back()["block_hashes"].push_back(event.hash);
    } else {
      maps_.push_back(removed_map(event));
    }
    last_removed_ = &event;
    last_stored_ = nullptr;
  }
  void add(const AllBlocksCleared& /*event*/) {
    maps_.push_back({{"type", "AllBlocksCleared"}});
    last_stored_ = nullptr;
    last_removed_ = nullptr;
  }
  [[nodiscard]] OrderedJson take() { return std::move(maps_); }

 private:
  OrderedJson maps_ = OrderedJson::array();
  const BlockStored* last_stored_ = nullptr;  // in the last map, likewise
  const BlockRemoved* last_removed_ = nullptr;
};

}  // namespace

std::vector<std::uint8_t> encode_batch(double unix_seconds, std::span<const KvEvent> events) {
  Batch batch;
  for (const KvEvent& event : events) {
    std::visit([&](const auto& one) { batch.add(one); }, event);
  }
  return OrderedJson::to_msgpack(OrderedJson::array({unix_seconds, batch.take(), 0}));
}

}  // namespace daybreak::events
