// SPDX-License-Identifier: Apache-2.0
#include "access/pepper.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>
#include <vector>

#include "access/access_testing.h"

namespace daybreak::access {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  ::chmod(path.c_str(), 0600);
}

TEST(Pepper, IsMadeOnceForItsOwnerAlone) {
  const TemporaryDirectory dir;
  const auto path = dir / "pepper";
  EXPECT_EQ(load_pepper(path, MissingPepper::kRefuse).error().code, Errc::kNotFound);
  const auto made = load_pepper(path, MissingPepper::kCreate);
  ASSERT_TRUE(made) << made.error().message;
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  EXPECT_EQ(*load_pepper(path, MissingPepper::kRefuse), *made);
  EXPECT_EQ(*load_pepper(path, MissingPepper::kCreate), *made);
  // Nothing is left beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(Pepper, IsRefusedWhenOthersCanReadIt) {
  const TemporaryDirectory dir;
  const auto path = dir / "pepper";
  ASSERT_TRUE(load_pepper(path, MissingPepper::kCreate));
  for (const mode_t mode : {0640U, 0604U, 0620U, 0601U, 0777U}) {
    ::chmod(path.c_str(), mode);
    const auto found = load_pepper(path, MissingPepper::kCreate);
    ASSERT_FALSE(found) << mode;
    EXPECT_EQ(found.error().code, Errc::kPermission);
  }
  ::chmod(path.c_str(), 0400);
  EXPECT_TRUE(load_pepper(path, MissingPepper::kCreate));
}

TEST(Pepper, OfAnotherFormIsCorrupt) {
  const TemporaryDirectory dir;
  const auto path = dir / "pepper";
  for (const std::string& text : {std::string(), std::string(64, 'a'), std::string(63, 'a') + "\n",
                                  std::string(65, 'a') + "\n", std::string(64, 'A') + "\n",
                                  std::string(64, 'g') + "\n", std::string(64, 'a') + "\n\n"}) {
    write(path, text);
    const auto found = load_pepper(path, MissingPepper::kCreate);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, Errc::kCorrupt);
  }
  write(path, std::string(64, 'a') + "\n");
  EXPECT_EQ((*load_pepper(path, MissingPepper::kRefuse))[31], 0xaa);
  EXPECT_EQ(load_pepper(dir.path(), MissingPepper::kCreate).error().code, Errc::kPermission);
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(load_pepper(dir / "fifo", MissingPepper::kCreate).error().code, Errc::kPermission);
}

TEST(Pepper, OfTheFirstMakerIsEverybodys) {
  const TemporaryDirectory dir;
  const auto path = dir / "pepper";
  std::vector<Pepper> found(8);
  std::vector<std::thread> threads;
  for (Pepper& pepper : found) {
    threads.emplace_back([&] { pepper = *load_pepper(path, MissingPepper::kCreate); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Pepper& pepper : found) {
    EXPECT_EQ(pepper, found.front());
  }
}

}  // namespace
}  // namespace daybreak::access
