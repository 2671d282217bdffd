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
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(database), options));
  ledger->writer_ = std::thread([l = ledger.get()] { l->write_until_closed(); });
  return ledger;
}

Ledger::Place::~Place() {
  if (ledger_ != nullptr) {
    ledger_->release();
  }
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

Result<Ledger::Place> Ledger::reserve() {
  const std::lock_guard lock(mutex_);
  if (stats_.queued + stats_.reserved >= options_.max_queue) {
    return Error{Errc::kResourceLimit,
                 fmt::format("the usage ledger's queue is full: {} entries wait for the disk, and "
                             "{} are to come",
                             stats_.queued, stats_.reserved)};
  }
  ++stats_.reserved;
  return Place(this);
}

void Ledger::release() {
  const std::lock_guard lock(mutex_);
  --stats_.reserved;
}

Status Ledger::append(Place place, Usage usage, Done done) {
  DAYBREAK_CHECK_OK(validate(usage));
  {
    const std::lock_guard lock(mutex_);
    place.ledger_ = nullptr;
    --stats_.reserved;
    ++stats_.queued;
    queue_.push_back({std::move(usage), std::move(done), options_.clock->now()});
  }
  changed_.notify_all();
  return ok();
}

Status Ledger::append(Usage usage, Done done) {
  DAYBREAK_TRY(Place place, reserve());
  return append(std::move(place), std::move(usage), std::move(done));
}

std::vector<Usage> Ledger::finish(std::chrono::steady_clock::time_point deadline) {
  Lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return stats_.queued == 0; });
  // An attempt that has begun is not given up: it may succeed.
  changed_.wait(lock, [this] { return !writing_; });
  std::vector<Usage> lost;
  for (Entry& entry : queue_) {
    lost.push_back(std::move(entry.usage));
  }
  queue_.clear();
  stats_.queued = 0;
  return lost;
}

Ledger::Stats Ledger::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  if (!queue_.empty()) {
    stats.oldest_wait = std::chrono::duration_cast<std::chrono::microseconds>(
        options_.clock->now() - queue_.front().queued);
  }
  return stats;
}

bool Ledger::behind() const {
  const Stats now = stats();
  return now.oldest_wait > options_.max_wait || now.queued > options_.max_queue / 2;
}

void Ledger::write_until_closed() {
  Lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    const bool last = closed_;
    std::vector<const Usage*> batch;
    for (std::size_t i = 0; i < std::min(queue_.size(), kMaxBatch); ++i) {
      batch.push_back(&queue_[i].usage);
    }
    writing_ = true;
    lock.unlock();
    auto written = write(batch);
    lock.lock();
    if (written) {
      note_written(lock, *std::move(written));
    } else {
      note_failed(lock, written.error());
    }
    writing_ = false;
    changed_.notify_all();
    if (!written && last) {
      return;
    }
    if (!written) {
      changed_.wait_for(lock, options_.retry, [this] { return closed_; });
    }
  }
}

// Of an attempt that failed nobody knows whether it reached the disk: what is there already after
// one is this very entry.
void Ledger::note_written(Lock& lock, std::vector<bool> is_new) {
  for (std::size_t i = 0; i < is_new.size(); ++i) {
    is_new[i] = is_new[i] || queue_[i].told;
  }
  stats_.recorded += static_cast<std::uint64_t>(std::ranges::count(is_new, true));
  ++stats_.commits;
  const auto end = queue_.begin() + std::ssize(is_new);
  const std::vector<Entry> done(std::move_iterator(queue_.begin()), std::move_iterator(end));
  queue_.erase(queue_.begin(), end);
  lock.unlock();
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i].done) {
      done[i].done(is_new[i] ? Recorded::kNew : Recorded::kAlready);
    }
  }
  lock.lock();
  stats_.queued -= done.size();  // last: nothing queued means that everybody has been told
}

// Tells everybody who waits, also those whose entries were not tried: the database is not there.
void Ledger::note_failed(Lock& lock, const Error& error) {
  ++stats_.failed;
  std::vector<const Done*> untold;  // they stay where they are: see queue_
  for (Entry& entry : queue_) {
    if (!std::exchange(entry.told, true) && entry.done) {
      untold.push_back(&entry.done);
    }
  }
  lock.unlock();
  for (const Done* done : untold) {
    (*done)(error);
  }
  lock.lock();
}

Result<std::vector<bool>> Ledger::write(const std::vector<const Usage*>& batch) {
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database_));
  DAYBREAK_TRY(UsageInsert insert, UsageInsert::prepare(database_));
  std::vector<bool> out;
  out.reserve(batch.size());
  for (const Usage* usage : batch) {
    DAYBREAK_TRY(const bool is_new, insert.insert(*usage));
    out.push_back(is_new);
  }
  DAYBREAK_CHECK_OK(transaction.commit());
  return out;
}

}  // namespace daybreak::access
