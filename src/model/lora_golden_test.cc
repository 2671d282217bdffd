// SPDX-License-Identifier: Apache-2.0
// Models with adapters against the float64 reference, which merges them into the weights.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "model/model_golden_cases.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

class LoraGolden : public ::testing::Test {
 protected:
  static void check(const std::string& name, const std::string& checkpoint) {
    const auto golden = daybreak::testing::source_path("golden/lora/" + name + ".json");
    ASSERT_TRUE(std::filesystem::exists(golden)) << golden;
    testing::check_golden_cases(
        daybreak::testing::source_path("testdata/checkpoints/" + checkpoint),
        testing::read_golden_cases(golden), totals_,
        daybreak::testing::source_path("testdata/lora/" + name));
  }
  static void TearDownTestSuite() {
    if (totals_.prompts > 0) {
      std::printf("PROOF golden_lora: %s\n", totals_.rms_figure().c_str());
    }
  }

 private:
  static inline testing::GoldenTotals totals_;
};

TEST_F(LoraGolden, EveryModuleWithRanksAndAlphasByPattern) { check("k3-patterns", "k3-all-on"); }
TEST_F(LoraGolden, TheLargestRankOnSomeOfAttention) { check("k3-attention", "k3-all-on"); }
TEST_F(LoraGolden, LowRankGatesAndRankStabilisedScale) {
  check("low-rank-rslora", "softplus-low-rank");
}
TEST_F(LoraGolden, KimiLinearInF16) { check("kimi", "kimi-linear"); }
TEST_F(LoraGolden, RankOneOfSizesThatDivideNothing) { check("odd", "odd-sizes"); }

}  // namespace
}  // namespace daybreak::model
