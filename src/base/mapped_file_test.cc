// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace daybreak {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ =
        std::filesystem::path(::testing::TempDir()) / ("mapped_file_" + std::to_string(::getpid()));
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return dir_ / name;
  }
  std::filesystem::path dir_;
};

TEST_F(MappedFileTest, GivesTheBytesOfTheFileAndSurvivesMoves) {
  auto file = MappedFile::open(write("a", "hello"));
  ASSERT_TRUE(file);
  MappedFile first = *std::move(file);
  const MappedFile second = std::move(first);
  ASSERT_EQ(second.bytes().size(), 5u);
  EXPECT_EQ(second.bytes()[4], std::byte{'o'});
  second.advise(MappedFile::Access::kSequential);
  second.will_need(0, 100);
  second.will_need(5, 1);
}

TEST_F(MappedFileTest, AnEmptyFileIsEmptyBytes) {
  const auto file = MappedFile::open(write("empty", ""));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->bytes().empty());
  file->advise(MappedFile::Access::kRandom);
  file->will_need(0, 1);
}

TEST_F(MappedFileTest, MissingFilesAndNonFilesAreNamed) {
  const auto missing = MappedFile::open(dir_ / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::kNotFound);
  EXPECT_NE(missing.error().message.find("/none: cannot open: No such file"), std::string::npos);

  const auto directory = MappedFile::open(dir_);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().message, dir_.string() + ": not a regular file");

  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  const auto pipe = MappedFile::open(dir_ / "pipe");  // must not wait for a writer
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().code, Errc::kIo);
}

TEST_F(MappedFileTest, ASmallFileIsReadUpToItsBound) {
  const auto path = write("small", std::string(10, 'x'));
  const auto text = read_small_file(path, 10);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, std::string(10, 'x'));
  const auto refused = read_small_file(path, 9);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak
