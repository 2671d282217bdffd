// SPDX-License-Identifier: Apache-2.0
// Whole models against Moonshot's released modelling code in float32, on checkpoints that switch
// each feature of the family.

#include "model/model.h"

#include <gtest/gtest.h>

#include "model/model_golden_cases.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

void check(const std::string& name) {
  const std::filesystem::path dir = daybreak::testing::shared_path("checkpoints/" + name);
  DAYBREAK_SHARED_OR_SKIP(dir);
  const double worst =
      testing::check_golden_cases(dir, testing::read_golden_cases(dir / "goldens.json"));
  ::testing::Test::RecordProperty("worst_relative_rms", std::to_string(worst));
}

TEST(ReleasedCode, AgreesOnTinyK3) { check("tiny-k3"); }
TEST(ReleasedCode, AgreesOnKimiLinear) { check("kimi-linear-like"); }
TEST(ReleasedCode, AgreesOnTheSoftplusGate) { check("softplus-gate"); }
TEST(ReleasedCode, AgreesOnPlainResidualsAndBf16Experts) { check("no-attnres-bf16-experts"); }
TEST(ReleasedCode, AgreesOnGroupedSoftmaxRouting) { check("grouped-softmax"); }
TEST(ReleasedCode, AgreesOnTiedEmbeddingsInTwoShards) { check("tied-two-shards"); }
TEST(ReleasedCode, AgreesOnADenseModel) { check("dense-plain"); }

}  // namespace
}  // namespace daybreak::model
