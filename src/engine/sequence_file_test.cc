// SPDX-License-Identifier: Apache-2.0
#include "engine/sequence_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "testing/paths.h"

namespace daybreak::engine {
namespace {

constexpr SequenceFileKind kKind{"DAYBREAK-TEST-1\n", "sequence", "a test"};

class SequenceFile : public ::testing::Test {
 protected:
  SequenceFile()
      : path_(std::filesystem::temp_directory_path() /
              ("daybreak_sequence_" + std::to_string(::getpid()))) {}
  ~SequenceFile() override { std::filesystem::remove(path_); }

  void overwrite(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  const std::filesystem::path path_;
  const SavedSequence saved_ = {.text = R"({"messages":[]})",
                                .ids = {1, 2, 70'000},
                                .state = {std::byte{9}, std::byte{0}, std::byte{255}}};
};

TEST_F(SequenceFile, GivesBackWhatWasWritten) {
  ASSERT_TRUE(write_sequence_file(kKind, path_, saved_));
  const auto read = read_sequence_file(kKind, path_);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text, saved_.text);
  EXPECT_EQ(read->ids, saved_.ids);
  EXPECT_EQ(read->state, saved_.state);
  ASSERT_TRUE(write_sequence_file(kKind, path_, {}));  // replaces it
  EXPECT_TRUE(read_sequence_file(kKind, path_)->ids.empty());
}

TEST_F(SequenceFile, AMissingFileAndOneOfAnotherKindAreToldApart) {
  EXPECT_EQ(read_sequence_file(kKind, path_).error().code, Errc::kNotFound);
  constexpr SequenceFileKind kOther{"DAYBREAK-OTHER-1", "other", "another test"};
  ASSERT_TRUE(write_sequence_file(kOther, path_, saved_));
  const auto read = read_sequence_file(kKind, path_);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "sequence " + path_.string() + ": this is not a sequence of a test");
}

TEST_F(SequenceFile, EveryTruncationExtensionAndFlippedBitIsFound) {
  ASSERT_TRUE(write_sequence_file(kKind, path_, saved_));
  const std::string bytes = testing::read_file(path_);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    overwrite(bytes.substr(0, length));
    EXPECT_FALSE(read_sequence_file(kKind, path_)) << length;
  }
  overwrite(bytes + "x");
  EXPECT_FALSE(read_sequence_file(kKind, path_));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    overwrite(damaged);
    EXPECT_FALSE(read_sequence_file(kKind, path_)) << bit;
  }
}

TEST_F(SequenceFile, SizesInTheHeaderAreBounded) {
  ASSERT_TRUE(write_sequence_file(kKind, path_, saved_));
  std::string bytes = testing::read_file(path_);
  for (const std::size_t field : {16U, 24U, 32U}) {
    std::string huge = bytes;
    huge[field + 7] = '\x7F';
    overwrite(huge);
    const auto read = read_sequence_file(kKind, path_);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::kTooLarge) << read.error().message;
  }
  SavedSequence large;
  large.text.assign(kMaxSequenceText + 1, ' ');
  EXPECT_EQ(write_sequence_file(kKind, path_, large).error().code, Errc::kTooLarge);
  large.text.pop_back();
  EXPECT_TRUE(write_sequence_file(kKind, path_, large));
}

TEST_F(SequenceFile, OnlyTheOwnerMayReadIt) {
  overwrite("x");
  std::filesystem::permissions(path_, std::filesystem::perms::all);
  ASSERT_TRUE(write_sequence_file(kKind, path_, saved_));
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(SequenceFile, WhetherItCanBeWrittenIsKnownWithoutTouchingIt) {
  EXPECT_TRUE(check_sequence_writable(kKind, path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
  overwrite("x");
  EXPECT_TRUE(check_sequence_writable(kKind, path_));
  EXPECT_EQ(testing::read_file(path_), "x");
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
  for (const char* bad : {"/nonexistent/session", "/proc/session", "/tmp"}) {
    const Status status = check_sequence_writable(kKind, bad);
    ASSERT_FALSE(status) << bad;
    EXPECT_NE(status.error().message.find(bad), std::string::npos);
  }
}

TEST_F(SequenceFile, ADirectoryThatDoesNotExistIsNamed) {
  const Status status = write_sequence_file(kKind, "/nonexistent/session", saved_);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("/nonexistent/session"), std::string::npos);
}

}  // namespace
}  // namespace daybreak::engine
