// SPDX-License-Identifier: Apache-2.0
#pragma once

// CharSet: a set of Unicode scalar values (U+0000 to U+10FFFF without the surrogates), as sorted,
// disjoint, non-adjacent ranges. All operations are linear in the number of ranges.

#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::grammar {

inline constexpr std::uint32_t kMaxCodePoint = 0x10FFFF;

struct CharRange {
  std::uint32_t low = 0;
  std::uint32_t high = 0;  // included
  friend bool operator==(const CharRange&, const CharRange&) = default;
};

class CharSet {
 public:
  CharSet() = default;
  // The ranges may overlap and stand in any order; surrogates are dropped.
  explicit CharSet(std::vector<CharRange> ranges);
  static CharSet all();
  static CharSet of(std::uint32_t code_point) { return CharSet({{code_point, code_point}}); }

  [[nodiscard]] std::span<const CharRange> ranges() const { return ranges_; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(std::uint32_t code_point) const;
  [[nodiscard]] CharSet unite(const CharSet& other) const;
  [[nodiscard]] CharSet intersect(const CharSet& other) const;
  [[nodiscard]] CharSet complement() const;

  friend bool operator==(const CharSet&, const CharSet&) = default;

 private:
  std::vector<CharRange> ranges_;
};

}  // namespace daybreak::grammar
