// SPDX-License-Identifier: Apache-2.0
#include "engine/disk_tier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace daybreak::engine {
namespace {

std::size_t blocks_for(std::size_t tokens) {
  return std::max<std::size_t>(1, (tokens + cache::kBlockTokens - 1) / cache::kBlockTokens);
}

}  // namespace

Result<std::unique_ptr<cache::DiskStore>> open_disk(const StepModel& model,
                                                    const DiskOptions& options,
                                                    const Clock& clock) {
  const auto sizes = model.part_sizes();
  if (model.checkpoints() == 0 || !sizes) {
    return Error{Errc::kInvalidArgument,
                 "cache_directory: expected state_checkpoints of 1 or more and prefix_reuse on, "
                 "found a cache that holds nothing"};
  }
  // Everything that the bytes depend on. Instruction sets, threads and steps give the same bits.
  const std::string depends =
      fmt::format("parts {} numerics exact state {:016x} block {} checkpoint {} model {}",
                  cache::kPartFileVersion, model.state_fingerprint(), sizes->block,
                  sizes->checkpoint, options.model_digest);
  return cache::DiskStore::open({.directory = options.directory,
                                 .max_bytes = options.max_bytes,
                                 .keep = options.keep,
                                 .id = cache::store_id_of(depends),
                                 .block_bytes = sizes->block,
                                 .checkpoint_bytes = sizes->checkpoint,
                                 .min_blocks = blocks_for(options.min_tokens),
                                 .clock = &clock,
                                 .log = options.log,
                                 .at_write = options.at_write,
                                 .at_read = options.at_read});
}

DiskTier::DiskTier(StepModel& model, cache::PrefixTree& tree, cache::DiskStore& store,
                   std::size_t min_tokens)
    : model_(model), tree_(tree), store_(store), min_blocks_(blocks_for(min_tokens)) {}

void DiskTier::spill(Chain chain, std::string_view scope) {
  if (chain.empty() || !store_.wants(chain)) {
    return;
  }
  cache::Spill spill;
  const cache::HeldPtr checkpoint = tree_.checkpoint_at(chain.back());
  const std::vector<cache::HeldPtr> pages = tree_.pages_of(chain);
  if (checkpoint == nullptr || pages.size() != chain.size()) {
    return;
  }
  spill.chain.assign(chain.begin(), chain.end());
  spill.scope = scope;
  spill.first = store_.known(chain);
  for (std::size_t i = spill.first; i < pages.size(); ++i) {
    spill.blocks.push_back({pages[i], model_.block_bytes(pages[i].get())});
  }
  spill.checkpoint = {checkpoint, model_.checkpoint_bytes(checkpoint.get())};
  store_.spill(std::move(spill));
}

std::size_t DiskTier::usable(Chain chain, std::size_t here) const {
  const std::size_t there = store_.usable(chain);
  return there >= here + min_blocks_ ? there : 0;
}

bool DiskTier::loading(const cache::BlockHash& last) const {
  return std::ranges::any_of(
      loads_, [&](const Load& load) { return load.wanted && load.chain.back() == last; });
}

Status DiskTier::begin(Chain chain, std::string_view scope, std::vector<TokenId> ids) {
  Load load{.chain = {chain.begin(), chain.end()},
            .scope = std::string(scope),
            .ids = std::move(ids),
            .pages = tree_.pages_of(chain),
            .checkpoint = nullptr,
            .reading = nullptr};
  cache::LoadTargets targets;
  auto memory = std::make_shared<std::vector<cache::HeldPtr>>();
  const std::size_t first = load.pages.size();
  while (load.pages.size() < chain.size()) {
    DAYBREAK_TRY(BlankPart blank, model_.blank_block());
    targets.blocks.push_back(blank.bytes);
    memory->push_back(blank.held);
    load.pages.push_back(std::move(blank.held));
  }
  Result<BlankPart> blank = model_.blank_checkpoint(chain.size() * cache::kBlockTokens);
  if (!blank && tree_.evict_checkpoint()) {
    blank = model_.blank_checkpoint(chain.size() * cache::kBlockTokens);
  }
  if (!blank) {
    return Error{Errc::kUnavailable, std::move(blank).error().message};
  }
  targets.checkpoint = blank->bytes;
  memory->push_back(blank->held);
  load.checkpoint = std::move(blank->held);
  targets.memory = std::move(memory);
  load.reading = store_.load(chain, first, std::move(targets));
  if (load.reading == nullptr) {
    return Error{Errc::kUnavailable, "not stored any more"};
  }
  loads_.push_back(std::move(load));
  return ok();
}

void DiskTier::publish(Load& load) {
  for (std::size_t i = 0; i < load.chain.size(); ++i) {
    std::vector<TokenId> ids;
    if (!load.ids.empty()) {
      const auto begin = load.ids.begin() + static_cast<std::ptrdiff_t>(i * cache::kBlockTokens);
      ids.assign(begin, begin + static_cast<std::ptrdiff_t>(cache::kBlockTokens));
    }
    if (tree_.publish(load.chain, i, load.pages[i], load.scope, std::move(ids)) == nullptr) {
      return;
    }
  }
  tree_.add_checkpoint(load.chain.back(), std::move(load.checkpoint));
}

std::vector<double> DiskTier::collect() {
  std::vector<double> seconds;
  for (Load& load : loads_) {
    const cache::DiskLoad::State state = load.reading->state();
    if (state == cache::DiskLoad::State::kWaiting) {
      continue;
    }
    seconds.push_back(load.reading->seconds());
    if (state == cache::DiskLoad::State::kDone && load.wanted) {
      publish(load);
    }
    load.reading = nullptr;
  }
  std::erase_if(loads_, [](const Load& load) { return load.reading == nullptr; });
  return seconds;
}

template <class Goes>
void DiskTier::give_up(const Goes& goes) {
  for (Load& load : loads_) {
    if (goes(load)) {
      load.wanted = false;
      load.reading->give_up();
    }
  }
}

void DiskTier::erase_all() {
  store_.erase_all();
  give_up([](const Load&) { return true; });
}

void DiskTier::erase_if(const std::function<bool(std::string_view scope)>& goes) {
  store_.erase_if(goes);
  give_up([&](const Load& load) { return goes(load.scope); });
}

void DiskTier::erase_branch(const cache::BlockHash& first) {
  store_.erase_branch(first);
  give_up([&](const Load& load) { return load.chain.front() == first; });
}

}  // namespace daybreak::engine
