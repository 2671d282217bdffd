// SPDX-License-Identifier: Apache-2.0
#include "grammar/char_set.h"

#include <algorithm>
#include <utility>

namespace daybreak::grammar {
namespace {

constexpr CharRange kBeforeSurrogates = {0, 0xD7FF};
constexpr CharRange kAfterSurrogates = {0xE000, kMaxCodePoint};

// Appends `range` without its surrogates.
void append_scalars(CharRange range, std::vector<CharRange>& out) {
  for (const CharRange part : {kBeforeSurrogates, kAfterSurrogates}) {
    const CharRange cut = {std::max(range.low, part.low), std::min(range.high, part.high)};
    if (cut.low <= cut.high) {
      out.push_back(cut);
    }
  }
}

}  // namespace

CharSet::CharSet(std::vector<CharRange> ranges) {
  std::vector<CharRange> scalars;
  scalars.reserve(ranges.size() + 1);
  for (const CharRange range : ranges) {
    append_scalars(range, scalars);
  }
  std::ranges::sort(scalars, {}, &CharRange::low);
  for (const CharRange range : scalars) {
    if (!ranges_.empty() && range.low <= ranges_.back().high + 1) {
      ranges_.back().high = std::max(ranges_.back().high, range.high);
    } else {
      ranges_.push_back(range);
    }
  }
}

CharSet CharSet::all() { return CharSet({{0, kMaxCodePoint}}); }

bool CharSet::contains(std::uint32_t code_point) const {
  const auto after = std::ranges::upper_bound(ranges_, code_point, {}, &CharRange::low);
  return after != ranges_.begin() && code_point <= std::prev(after)->high;
}

CharSet CharSet::unite(const CharSet& other) const {
  std::vector<CharRange> both(ranges_);
  both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
  return CharSet(std::move(both));
}

CharSet CharSet::intersect(const CharSet& other) const {
  CharSet out;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const CharRange common = {std::max(a->low, b->low), std::min(a->high, b->high)};
    if (common.low <= common.high) {
      out.ranges_.push_back(common);
    }
    if (a->high < b->high) {
      ++a;
    } else {
      ++b;
    }
  }
  return out;
}

CharSet CharSet::complement() const {
  CharSet out;
  std::uint32_t low = 0;  // first code point not yet decided
  for (const CharRange range : ranges_) {
    if (low < range.low) {
      append_scalars({low, range.low - 1}, out.ranges_);
    }
    low = range.high + 1;
  }
  if (low <= kMaxCodePoint) {
    append_scalars({low, kMaxCodePoint}, out.ranges_);
  }
  return out;
}

}  // namespace daybreak::grammar
