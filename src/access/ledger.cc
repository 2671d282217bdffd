// SPDX-License-Identifier: Apache-2.0
#include "access/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace daybreak::access {
namespace {

// Entries of one transaction: enough to make the wait for the disk small beside them, few enough
// that the first one does not wait long for the last.
constexpr std::size_t kMaxBatch = 1024;

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(const LedgerOptions& options) {
  DAYBREAK_TRY(Database database, open_access_database(options.database, options.missing));
  DAYBREAK_TRY(const std::int64_t page, database.integer("PRAGMA page_size"));
  const std::int64_t pages = std::clamp<std::int64_t>(options.max_bytes / page, 1, 4'294'967'294);
  DAYBREAK_CHECK_OK(database.execute(fmt::format("PRAGMA max_page_count={}", pages)));
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(database), options.max_queue));
  ledger->writer_ = std::thread([l = ledger.get()] { l->write_until_closed(); });
  return ledger;
}

Ledger::~Ledger() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  if (writer_.joinable()) {
    writer_.join();
  }
}

Status Ledger::append(Usage usage, Done done) {
  DAYBREAK_CHECK_OK(validate(usage));
  {
    const std::lock_guard lock(mutex_);
    if (stats_.queued >= max_queue_) {
      return Error{Errc::kResourceLimit,
                   fmt::format("the usage ledger's queue is full: {} entries wait for the disk",
                               stats_.queued)};
    }
    ++stats_.queued;
    queue_.push_back({std::move(usage), std::move(done)});
  }
  changed_.notify_one();
  return ok();
}

Ledger::Stats Ledger::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void Ledger::write_until_closed() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    const auto end =
        queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kMaxBatch));
    const std::vector<Entry> batch(std::move_iterator(queue_.begin()), std::move_iterator(end));
    queue_.erase(queue_.begin(), end);
    lock.unlock();
    const auto written = write(batch);
    lock.lock();
    if (written) {
      stats_.recorded += static_cast<std::uint64_t>(std::ranges::count(*written, true));
      ++stats_.commits;
    } else {
      stats_.failed += batch.size();
    }
    lock.unlock();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].done) {
        batch[i].done(written
                          ? Result<Recorded>((*written)[i] ? Recorded::kNew : Recorded::kAlready)
                          : Result<Recorded>(written.error()));
      }
    }
    lock.lock();
    stats_.queued -= batch.size();  // last: nothing queued means that everybody has been told
  }
}

Result<std::vector<bool>> Ledger::write(const std::vector<Entry>& batch) {
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database_));
  DAYBREAK_TRY(UsageInsert insert, UsageInsert::prepare(database_));
  std::vector<bool> out;
  out.reserve(batch.size());
  for (const Entry& entry : batch) {
    DAYBREAK_TRY(const bool is_new, insert.insert(entry.usage));
    out.push_back(is_new);
  }
  DAYBREAK_CHECK_OK(transaction.commit());
  return out;
}

}  // namespace daybreak::access
