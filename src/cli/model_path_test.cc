// SPDX-License-Identifier: Apache-2.0
#include "cli/model_path.h"

#include <gtest/gtest.h>

#include "model/safetensors_builder.h"

namespace daybreak::cli {
namespace {

using model::TemporaryDirectory;

TEST(ModelPath, IsShownWithoutDetours) {
  const TemporaryDirectory dir;
  std::filesystem::create_directories(dir.path() / "a/b");
  const auto path = resolve_model((dir.path() / "a/b/../../a/./b").string());
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(path->string(), (dir.path() / "a/b").string());
}

TEST(ModelPath, ADetourThroughALinkStaysWhatItMeans) {
  const TemporaryDirectory dir;
  std::filesystem::create_directories(dir.path() / "far/away");
  std::filesystem::create_directories(dir.path() / "far/model");
  std::filesystem::create_directories(dir.path() / "model");
  std::filesystem::create_directory_symlink(dir.path() / "far/away", dir.path() / "link");
  const auto path = resolve_model((dir.path() / "link/../model").string());
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(std::filesystem::equivalent(*path, dir.path() / "far/model"));
}

TEST(ModelPath, WhatIsNotThereIsNamed) {
  const auto path = resolve_model("/nonexistent/model");
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().message, "model '/nonexistent/model': no such directory");
}

}  // namespace
}  // namespace daybreak::cli
