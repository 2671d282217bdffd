// SPDX-License-Identifier: Apache-2.0
#pragma once

// DiskStore: the second tier of a prefix cache, parts in files (part_file.h). Its index is a
// PrefixTree of its own whose pages and checkpoints are files, so that what goes first is decided
// there as in memory. One thread writes and removes, another reads; whoever asks never waits for
// the disk. What is queued to be written is not kept from being evicted: a part that has gone from
// memory when its turn comes is not stored.
//
// All methods are thread-safe.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "cache/block_hash.h"
#include "cache/disk_jobs.h"
#include "cache/part_file.h"
#include "cache/part_shelf.h"
#include "cache/prefix_tree.h"

namespace daybreak::cache {

inline constexpr std::size_t kMaxQueuedSpills = 64;
inline constexpr std::chrono::seconds kQuietTime{10};  // between log lines of one kind of failure

struct DiskStoreOptions {
  std::filesystem::path directory = {};
  std::uint64_t max_bytes = 0;
  Keep keep = Keep::kNothing;
  StoreId id{};
  std::uint64_t block_bytes = 0;  // of the payload of each block; of each checkpoint
  std::uint64_t checkpoint_bytes = 0;
  std::size_t min_blocks = 1;               // that a checkpoint must save from being computed
  const Clock* clock = &Clock::steady();    // outlives the store
  Log* log = nullptr;                       // likewise; null: nowhere
  WritePointFn at_write = nullptr;          // for tests; called by the writer
  std::function<void()> at_read = nullptr;  // likewise; by the reader at the end of each load
};

class DiskStore {
 public:
  // Takes over what earlier processes left, or empties the directory, see PartShelf::open.
  // Errors: those; kInvalidArgument if not even one block and one checkpoint fit.
  [[nodiscard]] static Result<std::unique_ptr<DiskStore>> open(const DiskStoreOptions& options);
  ~DiskStore();
  DiskStore(const DiskStore&) = delete;
  DiskStore& operator=(const DiskStore&) = delete;

  // Begins to write and read. `wake` is called by its threads when a load has ended or a part that
  // was held for writing is not held any more: must be quick.
  void start(std::function<void()> wake);
  // Ends: what is queued is not written any more, unless it is to be kept and `patience` lasts.
  // Without Keep::kParts all files go. Loads fail. Idempotent.
  void stop(std::chrono::milliseconds patience);

  // Names blocks with the key that belongs to what is stored.
  [[nodiscard]] BlockHasher hasher() const { return BlockHasher(shelf_->key()); }

  // Returns how many blocks of the chain are stored, all from the first on.
  [[nodiscard]] std::size_t known(std::span<const BlockHash> chain) const;
  // Returns how many of its first blocks a sequence can start after.
  [[nodiscard]] std::size_t usable(std::span<const BlockHash> chain) const;
  // Whether a checkpoint at the end of the chain is missing here, can have a place and saves
  // enough.
  [[nodiscard]] bool wants(std::span<const BlockHash> chain) const;

  // Has the parts written when their turn comes. Returns false if the queue is full.
  bool spill(Spill spill);
  // Changes whenever a part that is being written begins or ceases to be held; odd while it is.
  [[nodiscard]] std::uint64_t holds() const { return holds_; }

  // Has blocks [first, chain.size()) and the checkpoint at the end read to `targets`; `memory`
  // keeps these alive. Null: they are not all here any more, or are of other sizes.
  [[nodiscard]] std::shared_ptr<DiskLoad> load(std::span<const BlockHash> chain, std::size_t first,
                                               LoadTargets targets);

  // These forget at once, queued and half-written parts too; the files go a little later, see
  // when_gone(). What is being loaded is its caller's affair.
  void erase_all();
  void erase_if(const std::function<bool(std::string_view scope)>& goes);
  void erase_branch(const BlockHash& first);
  // Has `then` called, by the writer or at once, when the files of all that was forgotten are gone
  // and will not be there after a restart either; also if the store has ended.
  void when_gone(std::function<void()> then);

  [[nodiscard]] DiskStats stats() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Farewell {  // of when_gone()
    std::uint64_t before_load = 0;
    std::function<void()> then;
  };

  DiskStore(const DiskStoreOptions& options, std::shared_ptr<PartShelf> shelf);
  void take_over();  // what earlier processes left
  [[nodiscard]] bool wants_locked(std::span<const BlockHash> chain) const;
  // Drops what is queued or being written and matches.
  void drop_spills(const std::function<bool(const Spill&)>& goes);

  void write_loop();
  [[nodiscard]] bool writer_has_work() const;
  void say_farewell(Lock& lock);
  void write(Spill& spill);
  // Writes one part of the chain [0, depth). Returns false if the spill is over.
  bool write_part(const Spill& spill, Part part, std::size_t depth);
  // Makes room and reserves it. Returns false if there is none.
  bool make_room(std::uint64_t bytes);
  bool drop(Drop reason);  // counts a spill that is over; returns false

  void read_loop();
  void read(DiskLoad& load);
  bool read_item(const DiskLoad::Item& item);
  void warn(std::size_t kind, std::string_view event, const Error& error);

  const DiskStoreOptions options_;
  const std::shared_ptr<PartShelf> shelf_;
  std::function<void()> wake_;
  std::atomic<std::uint64_t> holds_{0};

  mutable std::mutex mutex_;
  // Guarded from here on; its methods take no file's lock but the shelf's.
  mutable PrefixTree tree_;
  std::condition_variable to_write_;
  std::condition_variable to_read_;
  std::condition_variable idle_;
  std::deque<Spill> spills_;
  Spill* writing_ = nullptr;
  std::deque<std::shared_ptr<DiskLoad>> loads_;
  std::set<std::uint64_t> open_loads_;  // queued or being read
  std::uint64_t next_load_ = 1;
  std::vector<Farewell> farewells_;
  DiskStats stats_;
  std::array<std::optional<Clock::TimePoint>, 2> warned_;
  std::atomic<bool> stopping_{false};  // written with the lock held
  std::thread writer_;
  std::thread reader_;
};

}  // namespace daybreak::cache
