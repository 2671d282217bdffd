// SPDX-License-Identifier: Apache-2.0
#include "cli/disk_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace daybreak::cli {
namespace {

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() {
    std::string name = (std::filesystem::temp_directory_path() / "daybreak-model-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    std::ofstream(directory_ / "config.json") << "{}";
    std::ofstream(directory_ / "a.safetensors") << "aaa";
  }
  ~DiskCacheTest() override { std::filesystem::remove_all(directory_); }
  std::string digest() {
    const auto out = model_digest(directory_);
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : std::string();
  }

  std::filesystem::path directory_;
};

TEST_F(DiskCacheTest, AnyChangeOfAModelIsAnotherModel) {
  const std::string before = digest();
  EXPECT_EQ(digest(), before);
  const auto weights = directory_ / "a.safetensors";
  const auto time = std::filesystem::last_write_time(weights);
  std::ofstream(weights) << "aab";  // the same size
  std::filesystem::last_write_time(weights, time + std::chrono::nanoseconds(1000));
  const std::string later = digest();
  EXPECT_NE(later, before);
  std::filesystem::last_write_time(weights, time);
  EXPECT_EQ(digest(), before);
  std::ofstream(weights) << "aaaa";
  std::filesystem::last_write_time(weights, time);
  EXPECT_NE(digest(), before);
  std::ofstream(weights) << "aaa";
  std::filesystem::last_write_time(weights, time);
  std::filesystem::rename(weights, directory_ / "b.safetensors");
  EXPECT_NE(digest(), before);
  EXPECT_FALSE(model_digest(directory_ / "none"));
}

TEST_F(DiskCacheTest, SettingsReachTheEngine) {
  Log log({.level = LogLevel::kOff});
  const LoadedModel loaded{.path = directory_, .model = nullptr};
  ServerConfig config;
  EXPECT_FALSE(disk_options(config, loaded, log)->has_value()) << "off by default";
  config.cache_directory = "/cache";
  config.cache_disk_mb = 3;
  config.cache_min_tokens = 77;
  auto options = disk_options(config, loaded, log);
  ASSERT_TRUE(options && options->has_value());
  EXPECT_EQ((*options)->directory, "/cache");
  EXPECT_EQ((*options)->max_bytes, 3U << 20U);
  EXPECT_EQ((*options)->min_tokens, 77U);
  EXPECT_EQ((*options)->keep, cache::Keep::kNothing);
  EXPECT_EQ((*options)->model_digest, digest());
  config.cache_keep = "on";
  EXPECT_EQ((*disk_options(config, loaded, log))->keep, cache::Keep::kParts);
}

}  // namespace
}  // namespace daybreak::cli
