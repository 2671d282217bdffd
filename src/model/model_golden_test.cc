// SPDX-License-Identifier: Apache-2.0
// Whole models against the float64 reference in tools/reference, on our own checkpoints.

#include <gtest/gtest.h>

#include <string>

#include "model/model_golden_cases.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

void check(const std::string& name) {
  const std::filesystem::path golden =
      daybreak::testing::source_path("golden/model/" + name + ".json");
  const std::filesystem::path dir = daybreak::testing::source_path("testdata/checkpoints/" + name);
  ASSERT_TRUE(std::filesystem::exists(golden)) << golden;
  const double worst = testing::check_golden_cases(dir, testing::read_golden_cases(golden));
  ::testing::Test::RecordProperty("worst_relative_rms", std::to_string(worst));
}

TEST(ModelGolden, EveryK3SwitchOn) { check("k3-all-on"); }
TEST(ModelGolden, KimiLinear) { check("kimi-linear"); }
TEST(ModelGolden, OnlyKdaLayers) { check("all-kda-bf16"); }
TEST(ModelGolden, OnlyMlaLayers) { check("all-mla"); }
TEST(ModelGolden, OnlyDenseMlps) { check("dense-only"); }
TEST(ModelGolden, Fp8Experts) { check("fp8-experts"); }
TEST(ModelGolden, GroupedSigmoidRouting) { check("grouped-sigmoid"); }
TEST(ModelGolden, GroupedSoftmaxRouting) { check("grouped-softmax"); }
TEST(ModelGolden, SizesThatDivideNothing) { check("odd-sizes"); }
TEST(ModelGolden, PlainResidualsInF16) { check("plain-residual-f16"); }
TEST(ModelGolden, SoftplusAndLowRankGates) { check("softplus-low-rank"); }
TEST(ModelGolden, TiedEmbeddingsInTwoShards) { check("tied-two-shards"); }

// A golden nobody compares with proves nothing.
TEST(ModelGolden, EveryGoldenFileHasACase) {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(daybreak::testing::source_path("golden/model"))) {
    files += entry.path().extension() == ".json" ? 1 : 0;
  }
  EXPECT_EQ(files, 12u);
}

}  // namespace
}  // namespace daybreak::model
