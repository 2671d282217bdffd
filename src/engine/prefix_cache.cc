// SPDX-License-Identifier: Apache-2.0
#include "engine/prefix_cache.h"

#include <algorithm>
#include <utility>

namespace daybreak::engine {
namespace {

using cache::kBlockTokens;

// Blocks of a prompt that a sequence can start from: the last id has to be fed.
std::size_t usable_blocks(std::size_t prompt_tokens) { return (prompt_tokens - 1) / kBlockTokens; }

}  // namespace

PrefixCache::PrefixCache(StepModel& model, const PrefixCacheOptions& options)
    : model_(model),
      options_(options),
      tree_(model.total_positions() / kBlockTokens, *options.clock, options.events) {
  if (options.disk != nullptr) {
    disk_.emplace(model, tree_, *options.disk, options.disk_min_tokens);
  }
}

void PrefixCache::name(PrefixTrail& trail, std::string_view scope,
                       std::span<const TokenId> prompt) const {
  if (trail.chain.empty()) {
    trail.scope = scope;
    trail.chain = options_.hasher.chain(scope, prompt);
  }
}

cache::PrefixTree::Match PrefixCache::find(const PrefixTrail& trail, std::size_t prompt_tokens) {
  return tree_.find(std::span(trail.chain).first(usable_blocks(prompt_tokens)));
}

void PrefixCache::hold(PrefixTrail& trail, std::vector<const void*> pages) {
  trail.held = std::move(pages);
  for (std::size_t i = 0; i < trail.held.size(); ++i) {
    tree_.hold(trail.chain[i], trail.held[i]);
  }
}

void PrefixCache::release(PrefixTrail& trail) {
  for (std::size_t i = 0; i < trail.held.size(); ++i) {
    tree_.release(trail.chain[i], trail.held[i]);
  }
  trail.held.clear();
}

void PrefixCache::start(PrefixTrail& trail, std::size_t known, std::size_t position,
                        std::size_t prompt_tokens) {
  tree_.use(std::span(trail.chain).first(usable_blocks(prompt_tokens)));
  std::vector<std::size_t>& stops = trail.stops;
  const std::size_t last = usable_blocks(prompt_tokens) * kBlockTokens;
  stops = {last, known * kBlockTokens};
  const std::size_t step = (options_.interval + kBlockTokens - 1) / kBlockTokens * kBlockTokens;
  for (std::size_t at = step; step > 0 && at < last; at += step) {
    stops.push_back(at);
  }
  std::ranges::sort(stops, std::greater());
  const auto repeated = std::ranges::unique(stops);
  stops.erase(repeated.begin(), repeated.end());
  std::erase_if(stops, [&](std::size_t at) { return at <= position || at > last; });
}

std::size_t PrefixCache::cut(const PrefixTrail& trail, std::size_t position, std::size_t count) {
  return trail.stops.empty() ? count : std::min(count, trail.stops.back() - position);
}

bool PrefixCache::advanced(PrefixTrail& trail, Sequence& sequence, bool reading,
                           const IdsFn& ids_of) {
  bool changed = publish(trail, sequence, ids_of);
  const std::size_t position = sequence.position();
  if (position % kBlockTokens == 0 && trail.published * kBlockTokens == position) {
    changed = mark(trail, sequence, reading) || changed;
  }
  while (!trail.stops.empty() && trail.stops.back() <= position) {
    trail.stops.pop_back();
  }
  return changed;
}

// Of the block that is published next.
void PrefixCache::hold_published(PrefixTrail& trail, const void* page) {
  const std::size_t index = trail.published;
  if (index == trail.held.size()) {
    trail.held.push_back(page);
  } else if (trail.held[index] == page) {
    return;
  } else {
    tree_.release(trail.chain[index], std::exchange(trail.held[index], page));
  }
  tree_.hold(trail.chain[index], page);
}

bool PrefixCache::publish(PrefixTrail& trail, Sequence& sequence, const IdsFn& ids_of) {
  bool freed = false;
  while (!trail.ended && (trail.published + 1) * kBlockTokens <= sequence.position()) {
    const std::size_t index = trail.published;
    std::vector<TokenId> ids;
    if (index == trail.chain.size() || tree_.wants_ids()) {
      ids = ids_of(index * kBlockTokens);
    }
    if (index == trail.chain.size()) {
      options_.hasher.append(trail.chain, trail.scope, ids);
    }
    if (trail.zero_retention) {
      ids.clear();  // so that nobody is told
    }
    cache::HeldPtr block = sequence.share_block(index);
    const cache::HeldPtr kept =
        tree_.publish(trail.chain, index, block, trail.scope, std::move(ids));
    if (kept == nullptr) {
      trail.ended = true;
      return freed;
    }
    if (kept != block) {
      block = nullptr;
      sequence.replace_block(index, kept);
      freed = true;
    }
    hold_published(trail, kept.get());
    ++trail.published;
  }
  return freed;
}

bool PrefixCache::mark(PrefixTrail& trail, const Sequence& sequence, bool reading) {
  const cache::BlockHash& at = trail.chain[trail.published - 1];
  if (!trail.stops.empty() && trail.stops.back() == sequence.position()) {
    const bool added = add_checkpoint(at, sequence);
    spill(trail, trail.published);
    return added;
  }
  if (reading || tree_.has_checkpoint(at)) {
    return false;
  }
  if (trail.moving) {  // first, so that the new one can have its memory
    tree_.drop_checkpoint(trail.chain[*trail.moving]);
  }
  trail.moving = trail.published - 1;
  return add_checkpoint(at, sequence);
}

bool PrefixCache::add_checkpoint(const cache::BlockHash& at, const Sequence& sequence) {
  if (tree_.has_checkpoint(at)) {
    return false;
  }
  Result<cache::HeldPtr> made = sequence.checkpoint();
  if (!made && tree_.evict_checkpoint()) {
    made = sequence.checkpoint();
  }
  if (made) {  // else there is one less to start from, and nothing is wrong
    tree_.add_checkpoint(at, *std::move(made));
  }
  return made.has_value();
}

void PrefixCache::spill(const PrefixTrail& trail, std::size_t blocks) {
  if (disk_ && !trail.zero_retention) {
    disk_->spill(std::span(trail.chain).first(blocks), trail.scope);
  }
}

void PrefixCache::finished(const PrefixTrail& trail) {
  if (trail.moving) {
    spill(trail, *trail.moving + 1);
  }
}

void PrefixCache::distrust(const PrefixTrail& trail) {
  if (!trail.chain.empty()) {
    tree_.erase_branch(trail.chain.front());
    if (disk_) {
      disk_->erase_branch(trail.chain.front());
    }
  }
}

std::size_t PrefixCache::erase_all() {
  if (disk_) {
    disk_->erase_all();
  }
  return tree_.erase_all();
}

std::size_t PrefixCache::erase_if(const std::function<bool(std::string_view scope)>& goes) {
  if (disk_) {
    disk_->erase_if(goes);
  }
  return tree_.erase_if(goes);
}

void PrefixCache::end() {
  if (disk_) {
    disk_->end();
  }
  tree_.erase_all();
}

std::span<const cache::BlockHash> PrefixCache::loadable(const PrefixTrail& trail,
                                                        std::size_t prompt_tokens,
                                                        std::size_t here) const {
  const auto chain = std::span(trail.chain).first(usable_blocks(prompt_tokens));
  return trail.zero_retention ? chain.first(0) : chain.first(disk_->usable(chain, here));
}

std::size_t PrefixCache::usable(const PrefixTrail& trail, std::size_t prompt_tokens) {
  return tree_.usable(std::span(trail.chain).first(usable_blocks(prompt_tokens)));
}

std::size_t PrefixCache::erase_old() {
  if (stats().blocks == 0 || options_.clock->now() < next_sweep_) {
    return 0;
  }
  const std::size_t erased = tree_.erase_old(options_.max_age);
  next_sweep_ = tree_.oldest_use().value_or(options_.clock->now()) + options_.max_age;
  return erased;
}

std::optional<Clock::TimePoint> PrefixCache::next_end() const {
  return stats().blocks == 0 ? std::nullopt : std::optional(next_sweep_);
}

}  // namespace daybreak::engine
