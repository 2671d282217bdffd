// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ledger: the durable record of usage. Entries go into a bounded queue; one thread writes all that
// wait in one transaction, so that many requests share one wait for the disk. What cannot be
// written stays in the queue and is tried again until it is.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "access/schema.h"
#include "access/usage.h"
#include "access/usage_rows.h"
#include "base/clock.h"
#include "base/result.h"

namespace daybreak::access {

struct LedgerOptions {
  std::filesystem::path database;
  Database::Missing missing = Database::Missing::kRefuse;
  std::size_t max_queue = 65'536;  // entries not yet on the disk, places of those to come included
  // Of the database's file; what would pass it fails like a full disk.
  std::int64_t max_bytes = std::int64_t{64} << 30U;
  // How long an entry may wait before the ledger counts as behind().
  std::chrono::seconds max_wait{30};
  std::chrono::milliseconds retry{500};   // from one failed attempt to the next
  const Clock* clock = &Clock::steady();  // of max_wait; outlives the ledger
};

enum class Recorded : std::uint8_t {
  kNew,
  kAlready,  // an entry of this request id is there, and stays as it is
};

// Thread-safe.
class Ledger {
 public:
  // Called on the ledger's thread, after the commit that holds the entry: it must be quick and must
  // not throw. Before that it is called once with an error (locked, disk full, damaged) if the
  // entry could not be written at the first attempt: it is kept and tried again.
  using Done = std::function<void(const Result<Recorded>&)>;

  // Room for one entry, kept for it until it goes. Must not outlive its ledger.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept : ledger_(std::exchange(other.ledger_, nullptr)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(ledger_, other.ledger_);
      return *this;
    }
    ~Place();

   private:
    friend class Ledger;
    explicit Place(Ledger* ledger) : ledger_(ledger) {}
    Ledger* ledger_ = nullptr;  // null: given up, or used
  };

  // Errors: those of open_access_database().
  [[nodiscard]] static Result<std::unique_ptr<Ledger>> open(const LedgerOptions& options);
  // Closes after one more attempt to write what waits; what cannot be written is lost.
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Errors: kResourceLimit when the queue is full.
  [[nodiscard]] Result<Place> reserve();
  // Queues `usage` in its place. After an error `done` is not called.
  // Errors: kInvalidArgument (see validate()).
  [[nodiscard]] Status append(Place place, Usage usage, Done done);
  // Both at once.
  [[nodiscard]] Status append(Usage usage, Done done);

  // Waits until everything is written, or until `deadline`, and gives what is not up for lost:
  // returns it, in order, and never writes it. REQUIRES: nobody appends any more.
  [[nodiscard]] std::vector<Usage> finish(std::chrono::steady_clock::time_point deadline);

  struct Stats {
    std::uint64_t recorded = 0;  // new ones
    std::uint64_t failed = 0;    // attempts to write, each of one or more entries
    std::uint64_t commits = 0;
    std::size_t queued = 0;                    // in the queue or being written
    std::size_t reserved = 0;                  // places for entries to come
    std::chrono::microseconds oldest_wait{0};  // of those in the queue
  };
  [[nodiscard]] Stats stats() const;

  // Whether entries have waited for longer than max_wait, or fill half of the queue: what is
  // answered now may not be recorded for long.
  [[nodiscard]] bool behind() const;

 private:
  struct Entry {
    Usage usage;
    Done done;
    Clock::TimePoint queued;
    bool told = false;  // that it could not be written at once
  };
  using Lock = std::unique_lock<std::mutex>;

  Ledger(Database database, const LedgerOptions& options)
      : options_(options), database_(std::move(database)) {}
  void release();
  void write_until_closed();
  // Of the first entries in the queue, which are taken out of it. Both let go of the lock while
  // others are told.
  void note_written(Lock& lock, std::vector<bool> is_new);
  void note_failed(Lock& lock, const Error& error);
  // One transaction. Returns for each entry whether it is new.
  [[nodiscard]] Result<std::vector<bool>> write(const std::vector<const Usage*>& batch);

  const LedgerOptions options_;
  Database database_;  // of the writer's thread alone

  mutable std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  std::deque<Entry> queue_;  // only the writer takes any out while writing_; none ever moves
  Stats stats_;
  bool closed_ = false;
  bool writing_ = false;  // the writer is at the database, or tells others

  std::thread writer_;  // last: everything else is there when it starts
};

}  // namespace daybreak::access
