// SPDX-License-Identifier: Apache-2.0
// What is there after a restart, whatever the process before died of.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "cache/disk_store.h"
#include "cache/disk_store_testing.h"

namespace daybreak::cache {
namespace {

using testing::Beginning;
using DiskRestart = testing::DiskStoreFixture;

TEST_F(DiskRestart, WhatWasKeptIsThereWithItsKey) {
  BlockHash named;
  {
    const auto store = open(options());
    named = store->hasher().chain("s", testing::ids_of("a")).front();
    put(*store, beginning("abc", "s"));
    put(*store, beginning("ab", "s"));
    put(*store, beginning("axy", "t"));
  }
  struct stat info{};
  ASSERT_EQ(::stat((directory_.path() / "prefix-cache" / "store").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  const auto store = open(options());
  EXPECT_EQ(store->hasher().chain("s", testing::ids_of("a")).front(), named);
  EXPECT_EQ(store->stats().blocks, 6U);
  EXPECT_EQ(store->stats().checkpoints, 3U);
  EXPECT_EQ(store->stats().damaged, 0U);
  EXPECT_TRUE(get(*store, beginning("abc", "s")));
  EXPECT_TRUE(get(*store, beginning("axy", "t")));
  store->erase_if([](std::string_view scope) { return scope == "s"; });
  EXPECT_EQ(store->stats().blocks, 3U) << "scopes are known again";
  put(*store, beginning("new"));
  EXPECT_TRUE(get(*store, beginning("new")));
}

TEST_F(DiskRestart, NothingIsKeptUnlessItShallBe) {
  DiskStoreOptions keeps_nothing = options();
  keeps_nothing.keep = Keep::kNothing;
  {
    const auto store = open(keeps_nothing);
    put(*store, beginning("abc"));
    EXPECT_EQ(directory_.files().size(), 4U);
    EXPECT_FALSE(std::filesystem::exists(directory_.path() / "prefix-cache" / "store"));
  }
  EXPECT_TRUE(directory_.files().empty()) << "at the end";
  {
    put(*open(options()), beginning("abc"));
  }
  EXPECT_EQ(directory_.files().size(), 4U);
  const auto store = open(keeps_nothing);
  EXPECT_TRUE(directory_.files().empty()) << "at the start";
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "prefix-cache" / "store"));
}

TEST_F(DiskRestart, OfAnotherModelNothingIsTaken) {
  {
    put(*open(options()), beginning("abc"));
  }
  DiskStoreOptions other = options();
  other.id = {1, 3};
  const auto store = open(other);
  EXPECT_EQ(store->stats().blocks, 0U);
  EXPECT_TRUE(directory_.files().empty());
  EXPECT_NE(logged().find("cache directory emptied"), std::string::npos) << logged();
}

TEST_F(DiskRestart, FilesOfAnotherModelAmongOursAreRefusedOneByOne) {
  testing::TemporaryDirectory elsewhere;
  DiskStoreOptions other = options();
  other.id = {1, 3};
  other.directory = elsewhere.path();
  {
    put(*open(other), beginning("ab"));
  }
  {
    put(*open(options()), beginning("xy"));
  }
  for (const auto& file : elsewhere.files()) {
    std::filesystem::copy(file, directory_.path() / "prefix-cache" / file.filename());
  }
  const auto store = open(options());
  EXPECT_EQ(store->known(beginning("ab").chain), 0U);
  EXPECT_EQ(store->stats().damaged, 3U);
  EXPECT_TRUE(get(*store, beginning("xy")));
}

TEST_F(DiskRestart, LessRoomThanBeforeIsKeptToFromTheStart) {
  {
    const auto store = open(options());
    put(*store, beginning("abc"));
    put(*store, beginning("xyz"));
  }
  DiskStoreOptions less = options();
  less.max_bytes = 4 * (kPartHeaderBytes + kBlockBytes) + kPartHeaderBytes + kCheckpointBytes;
  const auto store = open(less);
  EXPECT_EQ(store->stats().checkpoints, 1U);
  EXPECT_LE(store->stats().bytes, less.max_bytes);
  EXPECT_NE(get(*store, beginning("abc")), get(*store, beginning("xyz")));
}

TEST_F(DiskRestart, AKeyThatIsDamagedOrReadByOthersIsNotUsed) {
  {
    put(*open(options()), beginning("abc"));
  }
  const auto key = directory_.path() / "prefix-cache" / "store";
  std::filesystem::permissions(key, std::filesystem::perms{0640});
  const auto refused = DiskStore::open(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kPermission);
  std::filesystem::permissions(key, std::filesystem::perms{0600});
  std::filesystem::resize_file(key, 20);
  const auto store = open(options());
  EXPECT_EQ(store->stats().blocks, 0U);
  EXPECT_TRUE(directory_.files().empty());
}

TEST_F(DiskRestart, WhatHangsInTheAirGoesAndOtherFilesStay) {
  {
    put(*open(options()), beginning("abcd"));
  }
  const auto mine = directory_.path() / "prefix-cache" / "mine.block";
  std::ofstream(mine) << "of somebody else";
  const auto unfinished = directory_.files(".checkpoint").front().string() + ".new";
  std::ofstream(unfinished) << "half";
  // Without its second block the later ones are of no use.
  const Beginning abcd = beginning("abcd");
  const std::string second = fmt::format("{:016x}", abcd.chain[1].high);
  for (const auto& file : directory_.files(".block")) {
    if (file.filename().string().starts_with(second)) {
      std::filesystem::remove(file);
    }
  }
  const auto store = open(options());
  EXPECT_EQ(store->known(abcd.chain), 1U);
  EXPECT_TRUE(std::filesystem::exists(mine));
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  EXPECT_EQ(directory_.files().size(), 2U) << "one block, and what is not ours";
  put(*store, abcd);
  EXPECT_TRUE(get(*store, abcd));
}

TEST_F(DiskRestart, AFullDiskDropsWhatIsWrittenAndLeavesTheRest) {
  ::signal(SIGXFSZ, SIG_IGN);
  const auto store = open(options());
  put(*store, beginning("a"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit less = before;
  less.rlim_cur = kPartHeaderBytes + kBlockBytes + 3;  // a block fits, no checkpoint does
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
  put(*store, beginning("bc"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(store->stats().dropped[static_cast<std::size_t>(Drop::kFailed)], 1U);
  EXPECT_NE(logged().find("cache part not stored"), std::string::npos) << logged();
  EXPECT_EQ(store->usable(beginning("bc").chain), 0U);
  EXPECT_TRUE(get(*store, beginning("a")));
  put(*store, beginning("bc"));
  EXPECT_TRUE(get(*store, beginning("bc"))) << "once there is room";
}

// A child writes three beginnings and is killed at its n-th write point, for every n.
TEST_F(DiskRestart, KilledAtAnyMomentItLeavesAValidStore) {
  const std::vector<std::string> paths = {"abc", "abd", "x"};
  std::size_t died = 0;
  std::size_t kept = 0;
  for (int at = 1; at < 100; ++at) {
    testing::TemporaryDirectory own;
    DiskStoreOptions where = options();
    where.directory = own.path();
    where.log = nullptr;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int left = at;
      where.at_write = [&left](WritePoint) {
        if (--left == 0) {
          ::kill(::getpid(), SIGKILL);
        }
      };
      const auto store = *DiskStore::open(where);
      store->start([] {});
      for (const std::string& path : paths) {
        const Beginning one = beginning(path);
        (void)store->spill(one.spill(store->known(one.chain)));
        while (store->stats().queued > 0) {
          ::usleep(200);
        }
      }
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const auto store = open(where);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->stats().damaged, 0U) << at;
    for (const std::string& path : paths) {
      const Beginning one = beginning(path);
      const std::size_t usable = store->usable(one.chain);
      if (usable == one.chain.size()) {
        EXPECT_TRUE(get(*store, one)) << path << " at " << at;
        ++kept;
      }
    }
    for (const std::string& path : paths) {
      put(*store, beginning(path));
      EXPECT_TRUE(get(*store, beginning(path))) << path << " at " << at;
    }
    EXPECT_TRUE(own.files(".new").empty()) << at;
    if (WIFEXITED(status)) {
      EXPECT_EQ(store->stats().blocks, 5U);
      break;
    }
    ++died;
  }
  EXPECT_EQ(died, 8U * 5U) << "eight parts with five points each";
  EXPECT_GT(kept, 20U);
}

}  // namespace
}  // namespace daybreak::cache
