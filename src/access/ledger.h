// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ledger: the durable record of usage. Entries go into a bounded queue; one thread writes all that
// wait in one transaction, so that many requests share one wait for the disk.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
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
#include "base/result.h"

namespace daybreak::access {

struct LedgerOptions {
  std::filesystem::path database;
  Database::Missing missing = Database::Missing::kRefuse;
  std::size_t max_queue = 65'536;  // entries not yet on the disk
  // Of the database's file; what would pass it fails like a full disk.
  std::int64_t max_bytes = std::int64_t{64} << 30U;
};

enum class Recorded : std::uint8_t {
  kNew,
  kAlready,  // an entry of this request id is there, and stays as it is
};

// Thread-safe.
class Ledger {
 public:
  // Called once, on the ledger's thread, after the commit that holds the entry: it must be quick
  // and must not throw. An error (disk full, read-only, damaged) means that the entry is not known
  // to be recorded; the ledger goes on and tries again with the next entries.
  using Done = std::function<void(const Result<Recorded>&)>;

  // Errors: those of open_access_database().
  [[nodiscard]] static Result<std::unique_ptr<Ledger>> open(const LedgerOptions& options);
  // Writes what waits, calls every Done, and closes.
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Queues `usage`. After an error `done` is not called.
  // Errors: kInvalidArgument (see validate()), kResourceLimit when the queue is full.
  [[nodiscard]] Status append(Usage usage, Done done);

  struct Stats {
    std::uint64_t recorded = 0;  // new ones
    std::uint64_t failed = 0;
    std::uint64_t commits = 0;
    std::size_t queued = 0;  // in the queue or being written
  };
  [[nodiscard]] Stats stats() const;

 private:
  struct Entry {
    Usage usage;
    Done done;
  };

  Ledger(Database database, std::size_t max_queue)
      : max_queue_(max_queue), database_(std::move(database)) {}
  void write_until_closed();
  // One transaction. Returns for each entry whether it is new.
  [[nodiscard]] Result<std::vector<bool>> write(const std::vector<Entry>& batch);

  const std::size_t max_queue_;
  Database database_;  // of the writer's thread alone

  mutable std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  std::vector<Entry> queue_;
  Stats stats_;
  bool closed_ = false;

  std::thread writer_;  // last: everything else is there when it starts
};

}  // namespace daybreak::access
