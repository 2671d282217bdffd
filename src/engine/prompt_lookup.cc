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

PromptLookup::PromptLookup(std::size_t min_match, std::size_t expected) : min_match_(min_match) {
  make_room(expected);
}

void PromptLookup::make_room(std::size_t ids) {
  ids_.reserve(ids);
  earlier_.reserve(ids + 1);
  latest_.assign(std::bit_ceil(std::max<std::size_t>(ids, 1)), 0);
  for (std::size_t end = 1; end <= ids_.size(); ++end) {
    insert(end);
  }
}

void PromptLookup::append(std::span<const TokenId> ids) {
  if (const std::size_t size = ids_.size() + ids.size(); size > latest_.size()) {
    make_room(size + size / 2);
  }
  for (const TokenId id : ids) {
    ids_.push_back(id);
    earlier_.resize(ids_.size() + 1);
    insert(ids_.size());
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
