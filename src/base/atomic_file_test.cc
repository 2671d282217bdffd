// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace daybreak {
namespace {

TEST(AtomicFile, ReplacesWholeOrNotAtAll) {
  const auto dir = std::filesystem::temp_directory_path() /
                   ("daybreak_atomic_file_" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  const std::string path = (dir / "a").string();
  EXPECT_EQ(read_whole_file(path, 10).error().code, Errc::kNotFound);
  ASSERT_TRUE(write_file_atomically(path, "one"));
  ASSERT_TRUE(write_file_atomically(path, "twoo"));
  EXPECT_EQ(*read_whole_file(path, 4), "twoo");
  EXPECT_EQ(read_whole_file(path, 3).error().code, Errc::kTooLarge);
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  // The new bytes have nowhere to go: the old ones stay.
  std::filesystem::create_directories(path + ".new");
  EXPECT_EQ(write_file_atomically(path, "x").error().code, Errc::kIo);
  EXPECT_EQ(*read_whole_file(path, 4), "twoo");
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace daybreak
