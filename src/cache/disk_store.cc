// SPDX-License-Identifier: Apache-2.0
// The index: what is stored, what is asked for, what is forgotten. Nothing here waits for the disk.
#include "cache/disk_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace daybreak::cache {

Result<std::unique_ptr<DiskStore>> DiskStore::open(const DiskStoreOptions& options) {
  const std::uint64_t least =
      options.block_bytes + options.checkpoint_bytes + 2 * std::uint64_t{kPartHeaderBytes};
  if (options.max_bytes < least) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("{}: expected room for {} bytes, one block and one checkpoint, found "
                             "{}",
                             options.directory.string(), least, options.max_bytes)};
  }
  DAYBREAK_TRY(std::shared_ptr<PartShelf> shelf,
               PartShelf::open(options.directory, options.keep, options.id, options.log));
  std::unique_ptr<DiskStore> store(new DiskStore(options, std::move(shelf)));
  store->take_over();
  return store;
}

DiskStore::DiskStore(const DiskStoreOptions& options, std::shared_ptr<PartShelf> shelf)
    : options_(options), shelf_(std::move(shelf)), tree_(kMaxParts, *options.clock) {}

DiskStore::~DiskStore() { stop(std::chrono::milliseconds(0)); }

void DiskStore::take_over() {
  std::size_t damaged = 0;
  using Files = std::unordered_map<BlockHash, PartShelf::FilePtr, BlockHashHash>;
  Files blocks;
  Files checkpoints;
  std::unordered_map<BlockHash, std::vector<BlockHash>, BlockHashHash> after;
  std::vector<BlockHash> firsts;
  for (PartShelf::FilePtr& file : PartShelf::take_left(shelf_, damaged)) {
    const PartHeader& header = file->header();
    const bool is_block = header.part == Part::kBlock;
    if (header.bytes != (is_block ? options_.block_bytes : options_.checkpoint_bytes)) {
      ++damaged;
      continue;
    }
    if (!(is_block ? blocks : checkpoints).try_emplace(header.hash, file).second) {
      continue;  // stored twice; one goes
    }
    if (is_block) {
      (header.parent ? after[*header.parent] : firsts).push_back(header.hash);
    }
  }
  // Depth first, so that one chain serves all. What hangs in the air is not reached, and goes.
  struct Visit {
    BlockHash hash;
    std::size_t depth = 0;  // blocks before it
  };
  std::vector<Visit> open;
  for (const BlockHash& hash : firsts) {
    open.push_back({hash, 0});
  }
  std::vector<BlockHash> chain;
  while (!open.empty()) {
    const Visit visit = open.back();
    open.pop_back();
    chain.resize(visit.depth);
    chain.push_back(visit.hash);
    const PartShelf::FilePtr& file = blocks.at(visit.hash);
    if (file->header().depth != chain.size() ||
        tree_.publish(chain, visit.depth, file, file->header().scope) == nullptr) {
      continue;
    }
    const auto checkpoint = checkpoints.find(visit.hash);
    if (checkpoint != checkpoints.end() && checkpoint->second->header().depth == chain.size() &&
        checkpoint->second->header().scope == file->header().scope) {
      tree_.add_checkpoint(visit.hash, checkpoint->second);
    }
    for (const BlockHash& next : after[visit.hash]) {
      open.push_back({next, chain.size()});
    }
  }
  stats_.damaged = damaged;
  blocks.clear();
  checkpoints.clear();
  shelf_->remove_doomed();
  while (shelf_->bytes() > options_.max_bytes &&  // which may have been more before
         (tree_.evict_useless_page() || tree_.evict_checkpoint())) {
    shelf_->remove_doomed();
  }
  if (options_.log != nullptr) {
    options_.log->info("cache directory",
                       {{"directory", std::string_view(options_.directory.native())},
                        {"blocks", static_cast<std::int64_t>(tree_.stats().blocks)},
                        {"checkpoints", static_cast<std::int64_t>(tree_.stats().checkpoints)},
                        {"bytes", static_cast<std::int64_t>(shelf_->bytes())},
                        {"damaged", static_cast<std::int64_t>(damaged)}});
  }
}

std::size_t DiskStore::known(std::span<const BlockHash> chain) const {
  const std::lock_guard lock(mutex_);
  return tree_.pages_of(chain).size();
}

std::size_t DiskStore::usable(std::span<const BlockHash> chain) const {
  const std::lock_guard lock(mutex_);
  return tree_.usable(chain);
}

bool DiskStore::wants_locked(std::span<const BlockHash> chain) const {
  const std::uint64_t bytes = chain.size() * (options_.block_bytes + kPartHeaderBytes) +
                              options_.checkpoint_bytes + kPartHeaderBytes;
  return !chain.empty() && bytes <= options_.max_bytes &&
         chain.size() - tree_.usable(chain) >= options_.min_blocks;
}

bool DiskStore::wants(std::span<const BlockHash> chain) const {
  const std::lock_guard lock(mutex_);
  return wants_locked(chain) && std::ranges::none_of(spills_, [&](const Spill& queued) {
           return queued.chain.back() == chain.back();
         });
}

bool DiskStore::spill(Spill spill) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || spills_.size() >= kMaxQueuedSpills || spill.scope.size() > kMaxScopeBytes) {
    ++stats_.dropped[static_cast<std::size_t>(Drop::kQueueFull)];
    return false;
  }
  spills_.push_back(std::move(spill));
  to_write_.notify_one();
  return true;
}

std::shared_ptr<DiskLoad> DiskStore::load(std::span<const BlockHash> chain, std::size_t first,
                                          LoadTargets targets) {
  const std::lock_guard lock(mutex_);
  if (stopping_) {
    return nullptr;
  }
  const PrefixTree::Match match = tree_.find(chain);
  if (chain.empty() || match.pages.size() != chain.size() ||
      targets.blocks.size() != chain.size() - first) {
    return nullptr;
  }
  auto load = std::make_shared<DiskLoad>();
  const auto add = [&](const HeldPtr& held, std::span<std::byte> target) {
    load->items_.push_back({std::static_pointer_cast<const PartShelf::File>(held), target});
  };
  for (std::size_t i = first; i < chain.size(); ++i) {
    add(match.pages[i], targets.blocks[i - first]);
  }
  add(match.checkpoint, targets.checkpoint);
  for (const DiskLoad::Item& item : load->items_) {
    if (item.file->header().bytes != item.target.size()) {
      return nullptr;
    }
  }
  tree_.use(chain);
  load->memory_ = std::move(targets.memory);
  load->number_ = next_load_++;
  open_loads_.insert(load->number_);
  loads_.push_back(load);
  to_read_.notify_one();
  return load;
}

void DiskStore::drop_spills(const std::function<bool(const Spill&)>& goes) {
  std::deque<Spill> kept;
  for (Spill& spill : spills_) {
    if (!goes(spill)) {
      kept.push_back(std::move(spill));
    }
  }
  spills_.swap(kept);
  if (writing_ != nullptr && goes(*writing_)) {
    writing_->dropped = true;
  }
  to_write_.notify_one();  // for the files
}

void DiskStore::erase_all() {
  const std::lock_guard lock(mutex_);
  tree_.erase_all();
  drop_spills([](const Spill&) { return true; });
}

void DiskStore::erase_if(const std::function<bool(std::string_view scope)>& goes) {
  const std::lock_guard lock(mutex_);
  tree_.erase_if(goes);
  drop_spills([&](const Spill& spill) { return goes(spill.scope); });
}

void DiskStore::erase_branch(const BlockHash& first) {
  const std::lock_guard lock(mutex_);
  tree_.erase_branch(first);
  drop_spills([&](const Spill& spill) { return spill.chain.front() == first; });
}

void DiskStore::when_gone(std::function<void()> then) {
  {
    const std::lock_guard lock(mutex_);
    if (writer_.joinable() && !stopping_) {
      farewells_.push_back({next_load_, std::move(then)});
      to_write_.notify_one();
      return;
    }
  }
  then();
}

DiskStats DiskStore::stats() const {
  const std::lock_guard lock(mutex_);
  DiskStats stats = stats_;
  stats.bytes = shelf_->bytes();
  stats.max_bytes = options_.max_bytes;
  stats.blocks = tree_.stats().blocks;
  stats.checkpoints = tree_.stats().checkpoints;
  stats.evicted_blocks = tree_.stats().evicted_blocks;
  stats.evicted_checkpoints = tree_.stats().evicted_checkpoints;
  stats.queued = spills_.size() + (writing_ == nullptr ? 0 : 1);
  return stats;
}

}  // namespace daybreak::cache
