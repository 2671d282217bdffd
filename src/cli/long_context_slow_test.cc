// SPDX-License-Identifier: Apache-2.0
// K3's whole context through the API. Work grows with the square of the depth: a million tokens
// take half an hour of one core that has nothing else to do.

#include "cli/long_context.h"

namespace daybreak::cli {
namespace {

TEST(LongContext, ATurnAfter128kTokensHasTheBitsOfOneComputedWhole) {
  constexpr std::size_t kDepth = 131'072;
  constexpr std::size_t kBound = std::size_t{128} << 20U;
  const nlohmann::json reused = answer_of_turn(kDepth, kBound);
  EXPECT_EQ(reused.at("choices"), answer_computed_whole(kDepth).at("choices"));
}

TEST(LongContext, ATurnAfterAMillionTokensStartsFromThem) {
  constexpr std::size_t kDepth = 1'048'576;
  constexpr std::size_t kBound = std::size_t{256} << 20U;
  const nlohmann::json reused = answer_of_turn(kDepth, kBound);
  EXPECT_EQ(reused.at("choices")[0].at("logprobs").at("tokens").size(), 8U);
}

}  // namespace
}  // namespace daybreak::cli
