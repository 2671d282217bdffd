// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "cache/disk_store_testing.h"

namespace daybreak::cache {
namespace {

using testing::Beginning;
using DiskStoreTest = testing::DiskStoreFixture;

constexpr std::size_t kBlockFile = kPartHeaderBytes + 24;
constexpr std::size_t kCheckpointFile = kPartHeaderBytes + 40;

TEST_F(DiskStoreTest, GivesBackWhatItTook) {
  const auto store = open(options());
  const Beginning abc = beginning("abc");
  const Beginning abd = beginning("abd");
  put(*store, abc);
  EXPECT_EQ(store->usable(abc.chain), 3U);
  EXPECT_EQ(store->known(abd.chain), 2U);
  EXPECT_EQ(store->usable(abd.chain), 0U) << "no checkpoint is there";
  EXPECT_TRUE(get(*store, abc));
  EXPECT_TRUE(get(*store, abc, 2)) << "only what is not in memory";
  put(*store, abd);
  EXPECT_TRUE(get(*store, abd));
  const DiskStats stats = store->stats();
  EXPECT_EQ(stats.blocks, 4U);
  EXPECT_EQ(stats.checkpoints, 2U);
  EXPECT_EQ(stats.stored_blocks, 4U) << "those in common once";
  EXPECT_EQ(stats.bytes, 4 * kBlockFile + 2 * kCheckpointFile);
  EXPECT_EQ(stats.stored_bytes, stats.bytes);
  EXPECT_EQ(stats.loads, 3U);
  EXPECT_EQ(directory_.files().size(), 6U);
}

TEST_F(DiskStoreTest, TakesWhatSavesEnoughOnly) {
  DiskStoreOptions some = options();
  some.min_blocks = 2;
  const auto store = open(some);
  EXPECT_FALSE(store->wants(beginning("a").chain));
  EXPECT_TRUE(store->wants(beginning("ab").chain));
  put(*store, beginning("ab"));
  EXPECT_FALSE(store->wants(beginning("ab").chain)) << "is there";
  EXPECT_FALSE(store->wants(beginning("abc").chain)) << "one block more";
  EXPECT_TRUE(store->wants(beginning("abcd").chain));
  EXPECT_FALSE(store->wants({}));
}

TEST_F(DiskStoreTest, SaltsShareNothing) {
  const auto store = open(options());
  put(*store, beginning("ab", "one"));
  EXPECT_EQ(store->known(beginning("ab", "two").chain), 0U);
  put(*store, beginning("ab", "two"));
  EXPECT_EQ(store->stats().blocks, 4U);
  store->erase_if([](std::string_view scope) { return scope == "one"; });
  EXPECT_EQ(store->known(beginning("ab", "one").chain), 0U);
  EXPECT_TRUE(get(*store, beginning("ab", "two")));
}

TEST_F(DiskStoreTest, WhatHasGoneFromMemoryIsNotStored) {
  const auto store = open(options());
  Beginning abc = beginning("abc");
  Spill spill = abc.spill(0);
  abc.blocks[1] = nullptr;
  ASSERT_TRUE(store->spill(std::move(spill)));
  settle(*store);
  EXPECT_EQ(store->usable(abc.chain), 0U);
  EXPECT_EQ(store->stats().dropped[static_cast<std::size_t>(Drop::kGone)], 1U);
  put(*store, beginning("abc"));
  EXPECT_TRUE(get(*store, beginning("abc"))) << "later it is";
}

TEST_F(DiskStoreTest, StaysWithinItsBytesWhateverIsStored) {
  DiskStoreOptions small = options();
  small.max_bytes = 4 * kBlockFile + 2 * kCheckpointFile;
  std::uint64_t most = 0;
  small.at_write = [&](WritePoint) {
    std::uint64_t sum = 0;
    for (const auto& file : directory_.files()) {
      std::error_code error;
      const auto size = std::filesystem::file_size(file, error);
      sum += error ? 0 : size;
    }
    most = std::max(most, sum);
  };
  const auto store = open(small);
  for (char a = 'a'; a < 'k'; ++a) {
    const Beginning one = beginning(std::string(1, a) + "xy");
    put(*store, one);
    EXPECT_TRUE(get(*store, one)) << "the newest is there";
    EXPECT_LE(store->stats().bytes, small.max_bytes);
  }
  put(*store, beginning("vwxyzz"));
  EXPECT_FALSE(get(*store, beginning("vwxyzz"))) << "can never fit";
  EXPECT_GT(most, 3 * kBlockFile);
  EXPECT_LE(most, small.max_bytes) << "with what is being written";
  EXPECT_GT(store->stats().evicted_checkpoints, 7U);
  EXPECT_GT(store->stats().evicted_blocks, 15U);
}

TEST_F(DiskStoreTest, TheCheckpointThatSavesLeastGoesFirst) {
  DiskStoreOptions small = options();
  small.max_bytes = 6 * kBlockFile + 2 * kCheckpointFile;
  const auto store = open(small);
  put(*store, beginning("abcd"));
  put(*store, beginning("x"));
  put(*store, beginning("y"));
  EXPECT_EQ(store->usable(beginning("abcd").chain), 4U);
  EXPECT_EQ(store->usable(beginning("x").chain), 0U);
  EXPECT_EQ(store->usable(beginning("y").chain), 1U);
}

TEST_F(DiskStoreTest, WhatIsMissingOrDamagedIsDroppedAndTheRestStays) {
  const auto store = open(options());
  put(*store, beginning("ab"));
  put(*store, beginning("abcd"));
  for (const auto& file : directory_.files(".checkpoint")) {
    if (std::filesystem::file_size(file) == kCheckpointFile) {
      std::filesystem::resize_file(file, kCheckpointFile - 1);
    }
  }
  EXPECT_FALSE(get(*store, beginning("abcd")));
  EXPECT_EQ(store->usable(beginning("abcd").chain), 2U) << "not yet looked at";
  EXPECT_FALSE(get(*store, beginning("ab")));
  EXPECT_EQ(store->usable(beginning("abcd").chain), 0U);
  EXPECT_EQ(store->known(beginning("abcd").chain), 4U);
  put(*store, beginning("abcd"));
  EXPECT_TRUE(get(*store, beginning("abcd"))) << "stored again";
  for (const auto& file : directory_.files(".block")) {
    std::filesystem::remove(file);
  }
  EXPECT_FALSE(get(*store, beginning("abcd")));
  EXPECT_EQ(store->known(beginning("abcd").chain), 0U);
  EXPECT_EQ(store->stats().damaged, 3U);
  EXPECT_EQ(store->stats().failed_loads, 3U);
  EXPECT_NE(logged().find("cache part lost"), std::string::npos) << logged();
}

TEST_F(DiskStoreTest, FilesThatChangedPlacesAreRefused) {
  const auto store = open(options());
  put(*store, beginning("a"));
  put(*store, beginning("b"));
  const auto files = directory_.files(".checkpoint");
  ASSERT_EQ(files.size(), 2U);
  const auto aside = directory_.path() / "aside";
  std::filesystem::rename(files[0], aside);
  std::filesystem::rename(files[1], files[0]);
  std::filesystem::rename(aside, files[1]);
  EXPECT_FALSE(get(*store, beginning("a")));
  EXPECT_FALSE(get(*store, beginning("b")));
}

TEST_F(DiskStoreTest, WhatIsForgottenIsGoneFromTheDirectoryToo) {
  const auto store = open(options());
  put(*store, beginning("ab", "one"));
  put(*store, beginning("ab", "two"));
  put(*store, beginning("xy", "two"));
  const auto wait_gone = [&] {
    std::promise<void> gone;
    store->when_gone([&] { gone.set_value(); });
    gone.get_future().wait();
  };
  store->erase_if([](std::string_view scope) { return scope == "one"; });
  wait_gone();
  EXPECT_EQ(directory_.files().size(), 6U);
  store->erase_branch(beginning("xy", "two").chain.front());
  wait_gone();
  EXPECT_EQ(directory_.files().size(), 3U);
  EXPECT_EQ(store->known(beginning("ab", "two").chain), 2U);
  store->erase_all();
  wait_gone();
  EXPECT_TRUE(directory_.files().empty());
  EXPECT_EQ(store->stats().bytes, 0U);
}

// The writer stands still in the middle of the first part, and of no other.
class DiskStoreHeld : public testing::DiskStoreFixture {
 protected:
  DiskStoreOptions held() {
    DiskStoreOptions out = options();
    out.at_write = [this](WritePoint at) {
      if (at == WritePoint::kHalf && first_) {
        first_ = false;
        reached_.set_value();
        go_on_.get_future().wait();
      }
    };
    return out;
  }
  bool first_ = true;
  std::promise<void> reached_;
  std::promise<void> go_on_;
};

TEST_F(DiskStoreHeld, AFullQueueDropsAndNobodyWaits) {
  const auto store = open(held());
  const Beginning a = beginning("a");
  ASSERT_TRUE(store->spill(a.spill(0)));
  reached_.get_future().wait();
  EXPECT_EQ(store->holds() % 2, 1U);
  std::vector<Beginning> queued;
  for (std::size_t i = 0; i < kMaxQueuedSpills + 3; ++i) {
    queued.push_back(beginning("q" + std::string(1, static_cast<char>('A' + i))));
    EXPECT_EQ(store->spill(queued.back().spill(0)), i < kMaxQueuedSpills) << i;
  }
  EXPECT_FALSE(store->wants(queued.front().chain)) << "is queued";
  go_on_.set_value();
  settle(*store);
  EXPECT_EQ(store->stats().dropped[static_cast<std::size_t>(Drop::kQueueFull)], 3U);
  EXPECT_EQ(store->stats().checkpoints, 1 + kMaxQueuedSpills);
  EXPECT_EQ(store->holds() % 2, 0U);
}

TEST_F(DiskStoreHeld, WhatIsForgottenWhileItIsWrittenIsNeverThere) {
  const auto store = open(held());
  const Beginning a = beginning("ab", "one");
  const Beginning b = beginning("cd", "one");
  const Beginning c = beginning("ef", "two");
  ASSERT_TRUE(store->spill(a.spill(0)));
  ASSERT_TRUE(store->spill(b.spill(0)));
  ASSERT_TRUE(store->spill(c.spill(0)));
  reached_.get_future().wait();
  store->erase_if([](std::string_view scope) { return scope == "one"; });
  std::promise<void> gone;
  store->when_gone([&] { gone.set_value(); });
  go_on_.set_value();
  gone.get_future().wait();
  settle(*store);
  EXPECT_EQ(store->known(a.chain), 0U);
  EXPECT_EQ(store->known(b.chain), 0U);
  EXPECT_TRUE(get(*store, c));
  EXPECT_EQ(directory_.files().size(), 3U);
}

TEST_F(DiskStoreTest, RefusesADirectoryThatIsInUseOrOpenToOthers) {
  const auto store = open(options());
  const auto second = DiskStore::open(options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kUnavailable);
  testing::TemporaryDirectory other;
  std::filesystem::create_directory(other.path() / "prefix-cache");
  std::filesystem::permissions(other.path() / "prefix-cache", std::filesystem::perms{0750});
  DiskStoreOptions open_to_others = options();
  open_to_others.directory = other.path();
  const auto third = DiskStore::open(open_to_others);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Errc::kPermission);
  DiskStoreOptions tiny = options();
  tiny.max_bytes = kBlockFile + kCheckpointFile - 1;
  const auto fourth = DiskStore::open(tiny);
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace daybreak::cache
