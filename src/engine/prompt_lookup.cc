// SPDX-License-Identifier: Apache-2.0
#include "engine/prompt_lookup.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace daybreak::engine {
namespace {

// Places that propose() looks at: bounds its cost in text that repeats one thing over and over.
constexpr std::size_t kMaxPlaces = 16;

}  // namespace

void PromptLookup::append(std::span<const TokenId> ids) {
  const std::size_t before = ids_.size();
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  earlier_.resize(ids_.size() + 1);
  if (latest_.size() <= ids_.size()) {
    return grow();
  }
  for (std::size_t end = before + 1; end <= ids_.size(); ++end) {
    insert(end);
  }
}

void PromptLookup::grow() {
  latest_.assign(std::bit_ceil(2 * ids_.size()), 0);
  for (std::size_t end = 1; end <= ids_.size(); ++end) {
    insert(end);
  }
}

std::size_t PromptLookup::bucket(std::size_t end) const {
  std::uint64_t hash = 0;
  for (std::size_t i = end - min_match_; i < end; ++i) {
    hash = mix64(hash ^ ids_[i]);
  }
  return hash & (latest_.size() - 1);
}

void PromptLookup::insert(std::size_t end) {
  if (end < min_match_) {
    return;
  }
  std::uint32_t& latest = latest_[bucket(end)];
  earlier_[end] = latest;
  latest = static_cast<std::uint32_t>(end);
}

std::size_t PromptLookup::agreement(std::size_t a, std::size_t b) const {
  std::size_t count = 0;
  while (count < std::min({a, b, kMaxLookupIds}) && ids_[a - count - 1] == ids_[b - count - 1]) {
    ++count;
  }
  return count;
}

std::size_t PromptLookup::propose(std::span<TokenId> out) const {
  const std::size_t end = ids_.size();
  std::size_t best = 0;
  std::size_t agreed = min_match_ - 1;
  std::size_t place = earlier_.empty() ? 0 : earlier_[end];
  for (std::size_t seen = 0; place != 0 && seen < kMaxPlaces; ++seen, place = earlier_[place]) {
    if (const std::size_t count = agreement(place, end); count > agreed) {
      best = place;
      agreed = count;
    }
  }
  if (best == 0) {
    return 0;
  }
  // Past its end the sequence goes on as guessed: what repeats with a short period is guessed far.
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = best + i < end ? ids_[best + i] : out[best + i - end];
  }
  return out.size();
}

}  // namespace daybreak::engine
