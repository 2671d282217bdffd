// SPDX-License-Identifier: Apache-2.0
// Long prompts, as far as takes seconds; long_context_slow_test.cc goes to a million tokens.

#include "cli/long_context.h"

namespace daybreak::cli {
namespace {

TEST(LongContext, ATurnAfter32kTokensStartsFromThemAndHasTheBitsOfOneComputedWhole) {
  constexpr std::size_t kDepth = 32'768;
  constexpr std::size_t kBound = std::size_t{96} << 20U;
  const nlohmann::json reused = answer_of_turn(kDepth, kBound);
  const nlohmann::json whole = answer_computed_whole(kDepth);
  ASSERT_EQ(reused.at("choices")[0].at("logprobs").at("tokens").size(), 8U);
  EXPECT_EQ(reused.at("choices"), whole.at("choices"));  // log-probabilities included
}

}  // namespace
}  // namespace daybreak::cli
