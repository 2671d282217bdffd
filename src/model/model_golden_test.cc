// SPDX-License-Identifier: Apache-2.0
// Whole models against the float64 reference in tools/reference, on our own checkpoints.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "model/model_golden_cases.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

class ModelGolden : public ::testing::Test {
 protected:
  static void check(const std::string& name) {
    const std::filesystem::path golden =
        daybreak::testing::source_path("golden/model/" + name + ".json");
    const std::filesystem::path dir =
        daybreak::testing::source_path("testdata/checkpoints/" + name);
    ASSERT_TRUE(std::filesystem::exists(golden)) << golden;
    testing::check_golden_cases(dir, testing::read_golden_cases(golden), totals_);
  }
  static void TearDownTestSuite() {
    if (totals_.prompts > 0) {
      std::printf("PROOF golden_own: %s\n", totals_.rms_figure().c_str());
    }
  }

 private:
  static inline testing::GoldenTotals totals_;
};

TEST_F(ModelGolden, EveryK3SwitchOn) { check("k3-all-on"); }
TEST_F(ModelGolden, KimiLinear) { check("kimi-linear"); }
TEST_F(ModelGolden, OnlyKdaLayers) { check("all-kda-bf16"); }
TEST_F(ModelGolden, OnlyMlaLayers) { check("all-mla"); }
TEST_F(ModelGolden, OnlyDenseMlps) { check("dense-only"); }
TEST_F(ModelGolden, Fp8Experts) { check("fp8-experts"); }
TEST_F(ModelGolden, GroupedSigmoidRouting) { check("grouped-sigmoid"); }
TEST_F(ModelGolden, GroupedSoftmaxRouting) { check("grouped-softmax"); }
TEST_F(ModelGolden, SizesThatDivideNothing) { check("odd-sizes"); }
TEST_F(ModelGolden, PlainResidualsInF16) { check("plain-residual-f16"); }
TEST_F(ModelGolden, SoftplusAndLowRankGates) { check("softplus-low-rank"); }
TEST_F(ModelGolden, TiedEmbeddingsInTwoShards) { check("tied-two-shards"); }

// A golden nobody compares with proves nothing.
TEST_F(ModelGolden, EveryGoldenFileHasACase) {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(daybreak::testing::source_path("golden/model"))) {
    files += entry.path().extension() == ".json" ? 1 : 0;
  }
  EXPECT_EQ(files, 12u);
}

}  // namespace
}  // namespace daybreak::model
