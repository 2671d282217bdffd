// SPDX-License-Identifier: Apache-2.0
#include "cli/session_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "testing/paths.h"

namespace daybreak::cli {
namespace {

class SessionFile : public ::testing::Test {
 protected:
  SessionFile()
      : path_(std::filesystem::temp_directory_path() /
              ("daybreak_session_" + std::to_string(::getpid()))) {}
  ~SessionFile() override { std::filesystem::remove(path_); }

  void overwrite(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  const std::filesystem::path path_;
  const SavedSession saved_ = {.conversation = R"({"messages":[]})",
                               .ids = {1, 2, 70'000},
                               .state = {std::byte{9}, std::byte{0}, std::byte{255}}};
};

TEST_F(SessionFile, GivesBackWhatWasWritten) {
  ASSERT_TRUE(write_session(path_, saved_));
  const auto read = read_session(path_);
  ASSERT_TRUE(read && read->has_value());
  EXPECT_EQ((*read)->conversation, saved_.conversation);
  EXPECT_EQ((*read)->ids, saved_.ids);
  EXPECT_EQ((*read)->state, saved_.state);
  ASSERT_TRUE(write_session(path_, {}));  // replaces it
  EXPECT_TRUE((*read_session(path_))->ids.empty());
}

TEST_F(SessionFile, AMissingFileIsNoSession) {
  const auto read = read_session(path_);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->has_value());
}

TEST_F(SessionFile, EveryTruncationExtensionAndFlippedBitIsFound) {
  ASSERT_TRUE(write_session(path_, saved_));
  const std::string bytes = testing::read_file(path_);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    overwrite(bytes.substr(0, length));
    EXPECT_FALSE(read_session(path_)) << length;
  }
  overwrite(bytes + "x");
  EXPECT_FALSE(read_session(path_));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    overwrite(damaged);
    EXPECT_FALSE(read_session(path_)) << bit;
  }
}

TEST_F(SessionFile, SizesInTheHeaderAreBounded) {
  ASSERT_TRUE(write_session(path_, saved_));
  std::string bytes = testing::read_file(path_);
  for (const std::size_t field : {16U, 24U, 32U}) {
    std::string huge = bytes;
    huge[field + 7] = '\x7F';
    overwrite(huge);
    const auto read = read_session(path_);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::kTooLarge) << read.error().message;
  }
  SavedSession large;
  large.conversation.assign(kMaxConversationBytes + 1, ' ');
  EXPECT_EQ(write_session(path_, large).error().code, Errc::kTooLarge);
  large.conversation.pop_back();
  EXPECT_TRUE(write_session(path_, large));
}

TEST_F(SessionFile, OnlyTheOwnerMayReadIt) {
  overwrite("x");
  std::filesystem::permissions(path_, std::filesystem::perms::all);
  ASSERT_TRUE(write_session(path_, saved_));
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(SessionFile, WhetherItCanBeWrittenIsKnownWithoutTouchingIt) {
  EXPECT_TRUE(check_session_writable(path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
  overwrite("x");
  EXPECT_TRUE(check_session_writable(path_));
  EXPECT_EQ(testing::read_file(path_), "x");
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
  for (const char* bad : {"/nonexistent/session", "/proc/session", "/tmp"}) {
    const Status status = check_session_writable(bad);
    ASSERT_FALSE(status) << bad;
    EXPECT_NE(status.error().message.find(bad), std::string::npos);
  }
}

TEST_F(SessionFile, ADirectoryThatDoesNotExistIsNamed) {
  const Status status = write_session("/nonexistent/session", saved_);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("/nonexistent/session"), std::string::npos);
}

}  // namespace
}  // namespace daybreak::cli
