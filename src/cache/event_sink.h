// SPDX-License-Identifier: Apache-2.0
#pragma once

// EventSink: who is told what enters and leaves a prefix cache. A router that hears of it knows
// which replica has computed the beginning of a prompt.

#include <optional>
#include <span>
#include <string_view>

#include "base/token.h"
#include "cache/block_hash.h"

namespace daybreak::cache {

// What a sequence needs to start somewhere: the blocks up to there, and one checkpoint at the end
// of the last of them.
enum class Part : std::uint8_t { kBlock, kCheckpoint };

struct StoredPart {
  Part part = Part::kBlock;
  BlockHash hash;                   // of the block, or of the block whose end it is at
  std::optional<BlockHash> parent;  // of the block before; nothing: it is the first
  std::span<const TokenId> ids;     // kBlockTokens of the block
  std::string_view scope;           // whose it is, see BlockHasher
};

// Called by the thread that changes the cache: must be quick.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  virtual void stored(const StoredPart& what) = 0;
  virtual void removed(Part part, const BlockHash& hash, std::string_view scope) = 0;
  virtual void cleared() = 0;  // everything
  // What was told since the last call belongs together.
  virtual void flush() = 0;
};

}  // namespace daybreak::cache
