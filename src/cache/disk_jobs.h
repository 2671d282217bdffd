// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a DiskStore is asked to write and to read, and what it counts.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cache/block_hash.h"
#include "cache/event_sink.h"
#include "cache/part_shelf.h"
#include "cache/prefix_tree.h"

namespace daybreak::cache {

// A part in memory that may have gone when its turn comes.
struct PartSource {
  std::weak_ptr<const void> held;
  std::span<const std::byte> bytes;  // as long as `held` can be had
};

// A checkpoint and those of the blocks before it that were not stored when it was queued.
struct Spill {
  std::vector<BlockHash> chain;  // up to the checkpoint
  std::size_t first = 0;         // block of blocks[0]
  std::vector<PartSource> blocks;
  PartSource checkpoint;
  std::string scope;
  std::atomic<bool> dropped = false;  // forgotten meanwhile

  Spill() = default;
  Spill(Spill&& other) noexcept
      : chain(std::move(other.chain)),
        first(other.first),
        blocks(std::move(other.blocks)),
        checkpoint(std::move(other.checkpoint)),
        scope(std::move(other.scope)),
        dropped(other.dropped.load()) {}
  Spill& operator=(Spill&&) = delete;
};

// Where a load goes.
struct LoadTargets {
  std::vector<std::span<std::byte>> blocks;
  std::span<std::byte> checkpoint;
  std::shared_ptr<const void> memory;  // keeps it all alive
};

// Parts on their way from the disk.
class DiskLoad {
 public:
  enum class State : std::uint8_t { kWaiting, kDone, kFailed };
  // Once it is kDone the targets hold what was stored, once it is kFailed anything; both are final.
  [[nodiscard]] State state() const { return state_.load(std::memory_order_acquire); }
  // Of the reading, once it is over.
  [[nodiscard]] double seconds() const { return seconds_; }
  // Nobody wants it any more: it may fail instead of going on.
  void give_up() { given_up_ = true; }

 private:
  friend class DiskStore;
  struct Item {
    PartShelf::FilePtr file;
    std::span<std::byte> target;
  };
  std::uint64_t number_ = 0;
  std::vector<Item> items_;
  std::shared_ptr<const void> memory_;
  std::atomic<bool> given_up_{false};
  std::atomic<State> state_{State::kWaiting};
  double seconds_ = 0;
};

// Why a part that was to be stored is not.
enum class Drop : std::uint8_t { kQueueFull, kGone, kNoRoom, kFailed };
inline constexpr std::size_t kDrops = 4;

struct DiskStats {
  // Now.
  std::uint64_t bytes = 0;  // of files, and of one that is being written
  std::uint64_t max_bytes = 0;
  std::size_t blocks = 0;
  std::size_t checkpoints = 0;
  std::size_t queued = 0;  // spills
  // Since start.
  std::uint64_t stored_blocks = 0;
  std::uint64_t stored_checkpoints = 0;
  std::uint64_t stored_bytes = 0;
  std::array<std::uint64_t, kDrops> dropped{};  // spills, by Drop
  std::uint64_t evicted_blocks = 0;
  std::uint64_t evicted_checkpoints = 0;
  std::uint64_t loads = 0;         // that came whole
  std::uint64_t loaded_bytes = 0;  // in them
  std::uint64_t failed_loads = 0;
  std::uint64_t damaged = 0;  // parts found damaged or missing, at the start or by a load
};

}  // namespace daybreak::cache
