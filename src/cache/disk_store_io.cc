// SPDX-License-Identifier: Apache-2.0
// The two threads of a DiskStore. Neither waits for the disk with the lock held.
#include <algorithm>
#include <utility>

#include "cache/disk_store.h"

namespace daybreak::cache {
namespace {

constexpr std::size_t kWriteWarning = 0;
constexpr std::size_t kReadWarning = 1;

}  // namespace

void DiskStore::start(std::function<void()> wake) {
  wake_ = std::move(wake);
  const std::lock_guard lock(mutex_);
  writer_ = std::thread([this] { write_loop(); });
  reader_ = std::thread([this] { read_loop(); });
}

void DiskStore::stop(std::chrono::milliseconds patience) {
  {
    Lock lock(mutex_);
    if (stopping_) {
      return;
    }
    if (options_.keep == Keep::kParts && writer_.joinable()) {
      idle_.wait_for(lock, patience, [this] { return spills_.empty() && writing_ == nullptr; });
    }
    stopping_ = true;
    drop_spills([](const Spill&) { return true; });
    to_write_.notify_one();
    to_read_.notify_one();
  }
  if (reader_.joinable()) {
    reader_.join();
  }
  if (writer_.joinable()) {
    writer_.join();
  }
  if (options_.keep == Keep::kNothing) {
    const std::lock_guard lock(mutex_);
    tree_.erase_all();
  }
  shelf_->remove_doomed();
}

bool DiskStore::writer_has_work() const {
  return stopping_ || !spills_.empty() || shelf_->any_doomed() ||
         std::ranges::any_of(farewells_, [&](const Farewell& one) {
           return open_loads_.empty() || *open_loads_.begin() >= one.before_load;
         });
}

// A file that a load has is doomed when the load ends.
void DiskStore::say_farewell(Lock& lock) {
  const auto ready = [&, first = open_loads_.empty() ? next_load_ : *open_loads_.begin()](
                         const Farewell& one) { return stopping_ || one.before_load <= first; };
  const auto waiting = std::ranges::partition(farewells_, ready);
  std::vector<Farewell> now(std::make_move_iterator(farewells_.begin()),
                            std::make_move_iterator(waiting.begin()));
  farewells_.erase(farewells_.begin(), waiting.begin());
  lock.unlock();
  shelf_->remove_doomed();
  if (!now.empty()) {
    shelf_->sync();
  }
  for (const Farewell& one : now) {
    one.then();
  }
  lock.lock();
}

void DiskStore::write_loop() {
  Lock lock(mutex_);
  for (;;) {
    to_write_.wait(lock, [this] { return writer_has_work(); });
    say_farewell(lock);
    if (stopping_) {
      if (farewells_.empty()) {
        return;
      }
      continue;
    }
    if (spills_.empty()) {
      continue;
    }
    Spill spill = std::move(spills_.front());
    spills_.pop_front();
    writing_ = &spill;
    lock.unlock();
    write(spill);
    lock.lock();
    writing_ = nullptr;
    if (spills_.empty()) {
      idle_.notify_all();
    }
  }
}

void DiskStore::write(Spill& spill) {
  // What it needs is not evicted to make room for it.
  std::vector<HeldPtr> path;
  {
    const std::lock_guard lock(mutex_);
    if (!wants_locked(spill.chain)) {
      return;  // stored meanwhile, or in vain
    }
    path = tree_.pages_of(spill.chain);
  }
  if (path.size() < spill.first) {
    drop(Drop::kGone);
    return;
  }
  for (std::size_t depth = path.size() + 1; depth <= spill.chain.size(); ++depth) {
    if (!write_part(spill, Part::kBlock, depth)) {
      return;
    }
    const std::lock_guard lock(mutex_);
    path = tree_.pages_of(spill.chain);
    if (path.size() < depth) {
      return;  // forgotten meanwhile
    }
  }
  write_part(spill, Part::kCheckpoint, spill.chain.size());
}

bool DiskStore::write_part(const Spill& spill, Part part, std::size_t depth) {
  const bool is_block = part == Part::kBlock;
  const PartSource& source = is_block ? spill.blocks[depth - 1 - spill.first] : spill.checkpoint;
  const PartHeader header{
      .part = part,
      .hash = spill.chain[depth - 1],
      .parent = depth == 1 ? std::nullopt : std::optional(spill.chain[depth - 2]),
      .depth = depth,
      .scope = spill.scope,
      .bytes = source.bytes.size()};
  const std::uint64_t bytes = part_file_bytes(header);
  if (!make_room(bytes)) {
    return drop(Drop::kNoRoom);
  }
  const std::filesystem::path path = shelf_->new_path(part, header.hash);
  Result<PartHeader> written = Error{Errc::kNotFound, "not in memory any more"};
  ++holds_;
  if (HeldPtr held = source.held.lock(); held != nullptr && !spill.dropped) {
    written = write_part_file(path, shelf_->id(), header, source.bytes, options_.at_write);
  }
  ++holds_;
  wake_();
  if (!written) {
    shelf_->release(bytes);
    if (written.error().code == Errc::kNotFound) {
      return drop(Drop::kGone);
    }
    warn(kWriteWarning, "cache part not stored", written.error());
    return drop(Drop::kFailed);
  }
  const auto file = std::make_shared<const PartShelf::File>(shelf_, path, *std::move(written));
  const std::lock_guard lock(mutex_);
  if (spill.dropped) {
    return false;  // with its file
  }
  if (is_block) {
    if (tree_.publish(spill.chain, depth - 1, file, spill.scope) != file) {
      return false;
    }
  } else {
    tree_.add_checkpoint(header.hash, file);
  }
  ++(is_block ? stats_.stored_blocks : stats_.stored_checkpoints);
  stats_.stored_bytes += bytes;
  return true;
}

bool DiskStore::make_room(std::uint64_t bytes) {
  for (;;) {
    shelf_->remove_doomed();
    const std::lock_guard lock(mutex_);
    if (shelf_->bytes() + bytes <= options_.max_bytes) {
      shelf_->reserve(bytes);
      return true;
    }
    if (!tree_.evict_useless_page() && !tree_.evict_checkpoint()) {
      return false;
    }
  }
}

bool DiskStore::drop(Drop reason) {
  const std::lock_guard lock(mutex_);
  ++stats_.dropped[static_cast<std::size_t>(reason)];
  return false;
}

void DiskStore::read_loop() {
  Lock lock(mutex_);
  for (;;) {
    to_read_.wait(lock, [this] { return stopping_ || !loads_.empty(); });
    if (loads_.empty()) {
      return;
    }
    const std::shared_ptr<DiskLoad> load = std::move(loads_.front());
    loads_.pop_front();
    lock.unlock();
    read(*load);
    lock.lock();
  }
}

void DiskStore::read(DiskLoad& load) {
  const Clock::TimePoint begin = options_.clock->now();
  std::uint64_t bytes = 0;
  bool whole = true;
  for (const DiskLoad::Item& item : load.items_) {
    whole = whole && !stopping_ && !load.given_up_ && read_item(item);
    bytes += item.target.size();
  }
  if (options_.at_read) {
    options_.at_read();
  }
  load.items_.clear();  // first: what was forgotten meanwhile goes with it
  load.memory_.reset();
  load.seconds_ = seconds_between(begin, options_.clock->now());
  {
    const std::lock_guard lock(mutex_);
    ++(whole ? stats_.loads : stats_.failed_loads);
    stats_.loaded_bytes += whole ? bytes : 0;
    open_loads_.erase(load.number_);
    to_write_.notify_one();
  }
  load.state_.store(whole ? DiskLoad::State::kDone : DiskLoad::State::kFailed,
                    std::memory_order_release);
  wake_();
}

bool DiskStore::read_item(const DiskLoad::Item& item) {
  const PartShelf::File& file = *item.file;
  const Status read = read_part_payload(file.path(), shelf_->id(), file.header(), item.target);
  if (read) {
    return true;
  }
  warn(kReadWarning, "cache part lost", read.error());
  const std::lock_guard lock(mutex_);
  ++stats_.damaged;
  if (file.header().part == Part::kBlock) {
    tree_.erase_below(file.header().hash);
  } else {
    tree_.drop_checkpoint(file.header().hash);
  }
  return false;
}

void DiskStore::warn(std::size_t kind, std::string_view event, const Error& error) {
  if (options_.log == nullptr) {
    return;
  }
  const Clock::TimePoint now = options_.clock->now();
  {
    const std::lock_guard lock(mutex_);
    if (warned_[kind] && now - *warned_[kind] < kQuietTime) {
      return;
    }
    warned_[kind] = now;
  }
  options_.log->warning(event, {{"directory", std::string_view(options_.directory.native())},
                                {"error", std::string_view(error.message)}});
}

}  // namespace daybreak::cache
