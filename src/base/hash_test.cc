// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <string_view>

namespace daybreak {
namespace {

std::uint64_t fnv(std::string_view text, std::uint64_t state = kFnvOffset) {
  return fnv1a64(std::as_bytes(std::span(text)), state);
}

// Published FNV-1a vectors (Noll) and the first outputs of SplitMix64 for seed 0.
TEST(Hash, MatchesPublishedVectors) {
  EXPECT_EQ(fnv(""), 0xCBF29CE484222325ULL);
  EXPECT_EQ(fnv("a"), 0xAF63DC4C8601EC8CULL);
  EXPECT_EQ(fnv("foobar"), 0x85944171F73967E8ULL);
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15ULL), 0x6E789E6AA1B965F4ULL);
}

TEST(Hash, FnvContinuesFromAState) { EXPECT_EQ(fnv("bar", fnv("foo")), fnv("foobar")); }

TEST(Hash, MixChangesAboutHalfOfTheBitsForEveryInputBit) {
  for (int bit = 0; bit < 64; ++bit) {
    int changed = 0;
    for (std::uint64_t x = 0; x < 64; ++x) {
      changed += std::popcount(mix64(x) ^ mix64(x ^ (1ULL << bit)));
    }
    EXPECT_NEAR(changed, 64 * 32, 64 * 4) << "bit " << bit;
  }
}

}  // namespace
}  // namespace daybreak
