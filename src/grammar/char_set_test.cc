// SPDX-License-Identifier: Apache-2.0
#include "grammar/char_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace daybreak::grammar {
namespace {

using Ranges = std::vector<CharRange>;

Ranges ranges(const CharSet& set) { return {set.ranges().begin(), set.ranges().end()}; }

TEST(CharSet, SortsAndJoinsRanges) {
  EXPECT_EQ(ranges(CharSet({{10, 12}, {1, 3}, {4, 5}, {11, 20}, {30, 30}})),
            (Ranges{{1, 5}, {10, 20}, {30, 30}}));
  EXPECT_EQ(ranges(CharSet({{1, 20}, {5, 6}})), (Ranges{{1, 20}}));
  EXPECT_TRUE(CharSet(Ranges{}).empty());
}

TEST(CharSet, HasNoSurrogates) {
  EXPECT_EQ(ranges(CharSet::all()), (Ranges{{0, 0xD7FF}, {0xE000, 0x10FFFF}}));
  EXPECT_EQ(ranges(CharSet({{0xD7FF, 0xE000}})), (Ranges{{0xD7FF, 0xD7FF}, {0xE000, 0xE000}}));
  EXPECT_TRUE(CharSet({{0xD800, 0xDFFF}}).empty());
  EXPECT_EQ(CharSet({{0xD800, 0xDFFF}}).complement(), CharSet::all());
  EXPECT_TRUE(CharSet::all().complement().empty());
  EXPECT_EQ(CharSet().complement(), CharSet::all());
}

// Against a plain array of bits over the first 40 code points and those around the surrogates.
TEST(CharSet, OperationsAgreeWithMembership) {
  const auto code_at = [](std::uint32_t i) { return i < 40 ? i : 0xD7F0 + (i - 40) * 64; };
  Rng rng(1);
  const auto random_set = [&] {
    Ranges out;
    for (std::uint32_t i = rng.below(5); i > 0; --i) {
      const std::uint32_t a = code_at(rng.below(80));
      const std::uint32_t b = code_at(rng.below(80));
      out.push_back({std::min(a, b), std::max(a, b)});
    }
    return CharSet(out);
  };
  for (int round = 0; round < 2000; ++round) {
    const CharSet a = random_set();
    const CharSet b = random_set();
    for (std::uint32_t i = 0; i < 80; ++i) {
      const std::uint32_t code = code_at(i);
      const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
      ASSERT_EQ(a.unite(b).contains(code), a.contains(code) || b.contains(code));
      ASSERT_EQ(a.intersect(b).contains(code), a.contains(code) && b.contains(code));
      ASSERT_EQ(a.complement().contains(code), !surrogate && !a.contains(code));
    }
    ASSERT_EQ(a.complement().complement(), a);
    ASSERT_EQ(a.unite(b).complement(), a.complement().intersect(b.complement()));
  }
}

}  // namespace
}  // namespace daybreak::grammar
