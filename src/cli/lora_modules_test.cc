// SPDX-License-Identifier: Apache-2.0
#include "cli/lora_modules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/lora_adapter.h"
#include "testing/paths.h"

namespace daybreak::cli {
namespace {

class LoraModulesTest : public ::testing::Test {
 protected:
  LoraModulesTest() {
    loaded_.path = testing::source_path("testdata/checkpoints/k3-all-on");
    loaded_.model = *model::Model::load(loaded_.path);
  }
  Result<api::LoraOptions> open() { return open_adapters(config_, loaded_, {"k3"}, 7, log_); }
  std::string error() {
    const auto made = open();
    return made ? "none" : made.error().message;
  }
  static std::string adapter(const std::string& name) {
    return testing::source_path("testdata/lora/" + name).string();
  }

  Log log_{{.level = LogLevel::kOff}};
  LoadedModel loaded_;
  ServerConfig config_;
};

TEST_F(LoraModulesTest, LoadsWhatTheConfigurationNames) {
  config_.lora_modules = {"a=" + adapter("k3-patterns"), "b=" + adapter("k3-attention")};
  const auto made = open();
  ASSERT_TRUE(made) << made.error().message;
  const auto list = made->adapters->list();
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ((*list)[1].name, "b");
  EXPECT_EQ((*list)[1].path, adapter("k3-attention"));
  EXPECT_EQ((*list)[1].created, 7);
  EXPECT_EQ((*list)[0].adapter->name(), "a");
  EXPECT_NE((*list)[0].adapter->digest(), (*list)[1].adapter->digest());
  EXPECT_TRUE(made->directory.empty()) << "off unless it is on";
}

TEST_F(LoraModulesTest, WhatIsWrongIsNamed) {
  for (const std::string& module : {"a", "a=", "=x"}) {
    config_.lora_modules = {module};
    EXPECT_EQ(error(), "lora_modules: expected NAME=DIRECTORY, found '" + module + "'");
  }
  config_.lora_modules = {"k3=" + adapter("k3-patterns")};
  EXPECT_EQ(error(), "lora_modules: 'k3' is a name of the model itself");
  config_.lora_modules = {"a=" + adapter("k3-patterns"), "a=" + adapter("k3-patterns")};
  EXPECT_EQ(error(), "lora_modules: lora_name: the adapter 'a' is loaded already");
  config_.lora_modules = {"a=" + adapter("none")};
  EXPECT_TRUE(error().starts_with("lora_modules: lora adapter 'a': ")) << error();
  config_.lora_modules = {"a=" + adapter("kimi")};
  EXPECT_NE(error().find("adapter_model.safetensors: tensor '"), std::string::npos) << error();
}

TEST_F(LoraModulesTest, AtMostMaxLoras) {
  config_.lora_modules = {"a=" + adapter("k3-patterns"), "b=" + adapter("k3-attention")};
  config_.max_loras = 1;
  EXPECT_NE(error().find("expected at most 1 adapters in memory (max_loras)"), std::string::npos)
      << error();
}

TEST_F(LoraModulesTest, UpdatingNeedsADirectory) {
  config_.allow_runtime_lora_updating = "on";
  EXPECT_TRUE(error().starts_with("lora_dir: expected a directory")) << error();
  config_.lora_dir = "/nonexistent";
  EXPECT_TRUE(error().starts_with("lora_dir: expected a directory")) << error();
  config_.lora_dir = testing::source_path("testdata/lora").string();
  const auto made = open();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->directory, config_.lora_dir);
}

}  // namespace
}  // namespace daybreak::cli
