// SPDX-License-Identifier: Apache-2.0
// Configs and checkpoints that we did not make.

#include <gtest/gtest.h>

#include <cstdio>

#include "model/model_size.h"
#include "model/tensor_catalog.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

TEST(ModelSizeShared, TheReleasedConfigsCountToThePublishedFigures) {
  const auto k3_path = daybreak::testing::shared_path("configs/kimi-k3.config.json");
  DAYBREAK_SHARED_OR_SKIP(k3_path);
  const auto k3 = load_config(k3_path);
  ASSERT_TRUE(k3) << k3.error().message;
  const ModelSize size = model_size(*k3, TensorNaming(*k3, nullptr), nullptr);
  EXPECT_EQ(size.total.parameters, 2'779'931'837'184u);
  EXPECT_EQ(size.active_parameters, 104'189'614'848u);
  EXPECT_EQ(size.total.bytes, 1'560'860'324'864u);
  EXPECT_EQ(size.total.tensors, 497'220u);
  std::printf("PROOF inspect_k3: %llu parameters, %llu active, %llu bytes, %llu tensors\n",
              static_cast<unsigned long long>(size.total.parameters),
              static_cast<unsigned long long>(size.active_parameters),
              static_cast<unsigned long long>(size.total.bytes),
              static_cast<unsigned long long>(size.total.tensors));

  const auto linear =
      load_config(daybreak::testing::shared_path("configs/kimi-linear-48b-a3b.config.json"));
  ASSERT_TRUE(linear) << linear.error().message;
  const ModelSize small = model_size(*linear, TensorNaming(*linear, nullptr), nullptr);
  EXPECT_EQ(small.total.parameters / 10'000'000, 4912u);
}

TEST(ModelSizeShared, EveryReferenceCheckpointIsExplainedByItsConfig) {
  for (const char* name :
       {"checkpoints/tiny-k3", "checkpoints/kimi-linear-like", "checkpoints/softplus-gate",
        "checkpoints/no-attnres-bf16-experts", "checkpoints/grouped-softmax",
        "checkpoints/tied-two-shards", "checkpoints/dense-plain", "vision/model"}) {
    const auto dir = daybreak::testing::shared_path(name);
    DAYBREAK_SHARED_OR_SKIP(dir);
    SCOPED_TRACE(name);
    const auto config = load_config(dir);
    ASSERT_TRUE(config) << config.error().message;
    const auto checkpoint = Checkpoint::open(dir);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    const auto verified = checkpoint->verify({});
    EXPECT_TRUE(verified) << verified.error().message;
    const TensorNaming naming(*config, &*checkpoint);
    const CatalogReport report = catalog_check(*config, naming, *checkpoint);
    EXPECT_TRUE(report.status()) << report.status().error().message;
    EXPECT_EQ(report.expected, checkpoint->tensor_count());
    EXPECT_EQ(report.ignored, 0u);
    EXPECT_EQ(model_size(*config, naming, &*checkpoint).total.bytes, checkpoint->data_bytes());
  }
}

}  // namespace
}  // namespace daybreak::model
