// SPDX-License-Identifier: Apache-2.0
#pragma once

// One thing that happened in a prefix cache, and batches of them as vLLM publishes them
// (vllm/distributed/kv_events.py): MessagePack of [seconds, [event, ...], data-parallel rank], each
// event a map with the key "type". Blocks are group 0 of kind "mla_attention", checkpoints of the
// recurrent state group 1 of kind "mamba", so that routers which know hybrid models see both.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/token.h"
#include "cache/event_sink.h"

namespace daybreak::events {

// A name of a block as events have it: the last 64 bits of its hash, vLLM's default form.
using EventHash = std::uint64_t;

struct BlockStored {
  cache::Part part = cache::Part::kBlock;
  EventHash hash = 0;
  std::optional<EventHash> parent;
  std::array<TokenId, cache::kBlockTokens> ids{};
  std::string salt;            // of whose it is; empty: everybody's
  std::string lora_name = {};  // of the adapter it was computed with; empty: none
};
struct BlockRemoved {
  cache::Part part = cache::Part::kBlock;
  EventHash hash = 0;
};
struct AllBlocksCleared {};
using KvEvent = std::variant<BlockStored, BlockRemoved, AllBlocksCleared>;

// Returns the bytes of a batch. Stored blocks that follow each other, and removed ones, are joined.
[[nodiscard]] std::vector<std::uint8_t> encode_batch(double unix_seconds,
                                                     std::span<const KvEvent> events);

}  // namespace daybreak::events
