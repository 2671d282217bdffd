// SPDX-License-Identifier: Apache-2.0
// Whole models against Moonshot's released modelling code in float32, on checkpoints that switch
// each feature of the family.

#include "model/model.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "model/model_golden_cases.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

class ReleasedCode : public ::testing::Test {
 protected:
  static void check(const std::string& name) {
    const std::filesystem::path dir = daybreak::testing::shared_path("checkpoints/" + name);
    DAYBREAK_SHARED_OR_SKIP(dir);
    testing::check_golden_cases(dir, testing::read_golden_cases(dir / "goldens.json"), totals_);
  }
  static void TearDownTestSuite() {
    if (totals_.prompts > 0) {
      std::printf("PROOF model_rel_rms: %s\n", totals_.rms_figure().c_str());
      std::printf("PROOF model_greedy: %s\n", totals_.ids_figure().c_str());
    }
  }

 private:
  static inline testing::GoldenTotals totals_;
};

TEST_F(ReleasedCode, AgreesOnTinyK3) { check("tiny-k3"); }
TEST_F(ReleasedCode, AgreesOnKimiLinear) { check("kimi-linear-like"); }
TEST_F(ReleasedCode, AgreesOnTheSoftplusGate) { check("softplus-gate"); }
TEST_F(ReleasedCode, AgreesOnPlainResidualsAndBf16Experts) { check("no-attnres-bf16-experts"); }
TEST_F(ReleasedCode, AgreesOnGroupedSoftmaxRouting) { check("grouped-softmax"); }
TEST_F(ReleasedCode, AgreesOnTiedEmbeddingsInTwoShards) { check("tied-two-shards"); }
TEST_F(ReleasedCode, AgreesOnADenseModel) { check("dense-plain"); }

}  // namespace
}  // namespace daybreak::model
