// SPDX-License-Identifier: Apache-2.0
#include "cache/prefix_tree.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

#include "cache/prefix_tree_testing.h"

namespace daybreak::cache {
namespace {

using testing::chain_of;
using testing::held;
using testing::StillClock;

class PrefixTreeTest : public ::testing::Test {
 protected:
  // Publishes the pages of `path`, a letter for each block, that are not there.
  void grow(const std::string& path, std::string_view scope = "") {
    const auto chain = chain_of(path);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      ASSERT_NE(tree_.publish(chain, i, held(), scope), nullptr);
    }
  }
  void checkpoint(const std::string& path) { tree_.add_checkpoint(chain_of(path).back(), held()); }
  // How many blocks a sequence of `path` can start from.
  std::size_t usable(const std::string& path) { return tree_.find(chain_of(path)).pages.size(); }
  // The same of one that starts.
  std::size_t started(const std::string& path) {
    tree_.use(chain_of(path));
    return usable(path);
  }
  bool known(const std::string& path) { return tree_.find(chain_of(path)).known == path.size(); }

  StillClock clock_;
  PrefixTree tree_{100, clock_};
};

TEST_F(PrefixTreeTest, ASequenceStartsAtTheDeepestCheckpointItShares) {
  grow("abcdef");
  EXPECT_EQ(tree_.find(chain_of("abcdef")).known, 6U);
  EXPECT_EQ(usable("abcdef"), 0U) << "pages alone are of no use";
  checkpoint("ab");
  checkpoint("abcd");
  EXPECT_EQ(usable("abcdef"), 4U);
  EXPECT_EQ(usable("abcxyz"), 2U);
  EXPECT_EQ(usable("abc"), 2U);
  EXPECT_EQ(usable("a"), 0U);
  EXPECT_EQ(usable("xbcd"), 0U);
  EXPECT_EQ(tree_.find(chain_of("abcxyz")).known, 3U);
}

TEST_F(PrefixTreeTest, GivesThePagesAndTheCheckpointThatWereAdded) {
  const auto chain = chain_of("ab");
  const HeldPtr first = held();
  const HeldPtr second = held();
  const HeldPtr state = held();
  EXPECT_EQ(tree_.publish(chain, 0, first, ""), first);
  EXPECT_EQ(tree_.publish(chain, 1, second, ""), second);
  tree_.add_checkpoint(chain[1], state);
  const PrefixTree::Match match = tree_.find(chain);
  EXPECT_EQ(match.pages, (std::vector<HeldPtr>{first, second}));
  EXPECT_EQ(match.checkpoint, state);
}

TEST_F(PrefixTreeTest, TheFirstPageOfABlockStays) {
  const auto chain = chain_of("a");
  const HeldPtr first = held();
  tree_.publish(chain, 0, first, "");
  EXPECT_EQ(tree_.publish(chain, 0, held(), ""), first);
  checkpoint("a");
  const HeldPtr state = tree_.find(chain).checkpoint;
  checkpoint("a");
  EXPECT_EQ(tree_.find(chain).checkpoint, state);
}

TEST_F(PrefixTreeTest, ABlockWithoutTheOneBeforeIsNotTaken) {
  EXPECT_EQ(tree_.publish(chain_of("ab"), 1, held(), ""), nullptr);
  EXPECT_EQ(tree_.stats().blocks, 0U);
  tree_.add_checkpoint(chain_of("ab")[1], held());
  EXPECT_EQ(tree_.stats().checkpoints, 0U);
}

TEST_F(PrefixTreeTest, PagesThatNothingCanStartFromGoFirstOldestFirst) {
  grow("ab");
  checkpoint("ab");
  grow("xy");
  grow("pq");
  tree_.use(chain_of("xy"));
  EXPECT_TRUE(known("pq"));  // a look is no use
  EXPECT_TRUE(tree_.evict_page());
  EXPECT_TRUE(tree_.evict_page());
  EXPECT_FALSE(known("p"));
  EXPECT_TRUE(known("xy"));
  EXPECT_TRUE(tree_.evict_page());
  EXPECT_EQ(tree_.find(chain_of("xy")).known, 1U) << "the leaf before what it hangs on";
  EXPECT_TRUE(tree_.evict_page());
  EXPECT_EQ(usable("ab"), 2U);
  EXPECT_TRUE(tree_.evict_page());
  EXPECT_EQ(usable("ab"), 0U);
  EXPECT_EQ(tree_.stats().checkpoints, 0U) << "it goes with its page";
  EXPECT_TRUE(tree_.evict_page());
  EXPECT_FALSE(tree_.evict_page());
  EXPECT_EQ(tree_.stats().blocks, 0U);
  EXPECT_EQ(tree_.stats().evicted_blocks, 6U);
  EXPECT_EQ(tree_.stats().evicted_checkpoints, 1U);
}

TEST_F(PrefixTreeTest, OfCheckpointsTheOneThatSavesLeastGoesFirst) {
  grow("abcdefgh");
  checkpoint("abcdefgh");  // saves 8 blocks
  grow("abxyz");
  checkpoint("abxyz");  // 5
  checkpoint("ab");     // 2
  EXPECT_TRUE(tree_.evict_checkpoint());
  EXPECT_EQ(usable("ab"), 0U);
  EXPECT_TRUE(tree_.evict_checkpoint());
  EXPECT_EQ(usable("abxyz"), 0U);
  EXPECT_EQ(usable("abcdefgh"), 8U);
}

TEST_F(PrefixTreeTest, ACheckpointSavesTheBlocksAfterTheOneAbove) {
  grow("abcdefgh");
  checkpoint("abcdefg");
  checkpoint("abcdefgh");  // saves 1 block
  grow("xy");
  checkpoint("xy");  // 2
  EXPECT_TRUE(tree_.evict_checkpoint());
  EXPECT_EQ(usable("abcdefgh"), 7U);
  EXPECT_TRUE(tree_.evict_checkpoint());
  EXPECT_EQ(usable("xy"), 0U);
}

TEST_F(PrefixTreeTest, ValueAgesByWhatGoesWithItsPageToo) {
  grow("abc");
  checkpoint("abc");  // 3, and never used again
  for (const char* path : {"1", "2", "3", "4"}) {
    grow(path);
    checkpoint(path);  // each worth 1 more than what went before it
    ASSERT_TRUE(tree_.evict_page());
  }
  EXPECT_EQ(usable("abc"), 0U);
}

TEST_F(PrefixTreeTest, ValueAges) {
  grow("abcdefgh");
  checkpoint("abcdefgh");  // 8, and never used again
  for (int i = 0; i < 9; ++i) {
    const std::string path = "x" + std::string(1, static_cast<char>('0' + i));
    grow(path);
    checkpoint(path);  // each worth 2 more than what went before it
    ASSERT_TRUE(tree_.evict_checkpoint());
  }
  EXPECT_EQ(usable("abcdefgh"), 0U);
}

TEST_F(PrefixTreeTest, AUseRenewsTheValue) {
  grow("abcdefgh");
  checkpoint("abcdefgh");
  for (int i = 0; i < 20; ++i) {
    const std::string path = "x" + std::string(1, static_cast<char>('0' + i));
    grow(path);
    checkpoint(path);
    ASSERT_TRUE(tree_.evict_checkpoint());
    ASSERT_EQ(started("abcdefgh"), 8U);
  }
}

TEST_F(PrefixTreeTest, WhatASequenceHasIsNotEvicted) {
  grow("ab");
  checkpoint("ab");
  grow("xy");
  {
    const PrefixTree::Match pinned = tree_.find(chain_of("ab"));
    EXPECT_TRUE(tree_.evict_page());
    EXPECT_TRUE(tree_.evict_page());
    EXPECT_FALSE(tree_.evict_page());
    EXPECT_FALSE(tree_.evict_checkpoint());
    EXPECT_EQ(usable("ab"), 2U);
  }
  EXPECT_TRUE(tree_.evict_checkpoint());
  EXPECT_TRUE(tree_.evict_page());
}

TEST_F(PrefixTreeTest, TakesNoMoreBlocksThanItsBound) {
  PrefixTree small(3, clock_);
  const auto abcd = chain_of("abcd");
  std::vector<HeldPtr> pinned;
  for (std::size_t i = 0; i < 3; ++i) {
    pinned.push_back(small.publish(abcd, i, held(), ""));
  }
  EXPECT_EQ(small.publish(abcd, 3, held(), ""), nullptr) << "all are in use";
  pinned.clear();
  EXPECT_EQ(small.publish(abcd, 3, held(), ""), nullptr) << "the one before went for it";
  EXPECT_NE(small.publish(abcd, 2, held(), ""), nullptr);
  EXPECT_EQ(small.stats().blocks, 3U);
}

TEST_F(PrefixTreeTest, OldBranchesGoAndWhatIsAboveUsedOnesStays) {
  grow("abc");
  grow("axy");
  clock_.forward(std::chrono::seconds(60));
  EXPECT_TRUE(known("abc"));
  tree_.use(chain_of("ax"));
  EXPECT_EQ(tree_.erase_old(std::chrono::seconds(61)), 0U);
  clock_.forward(std::chrono::seconds(1));
  EXPECT_EQ(tree_.erase_old(std::chrono::seconds(61)), 3U) << "b, c and y";
  EXPECT_TRUE(known("ax"));
}

TEST_F(PrefixTreeTest, AnOldBlockUnderANewOneStays) {
  grow("a");
  clock_.forward(std::chrono::seconds(60));
  tree_.publish(chain_of("ab"), 1, held(), "");
  EXPECT_EQ(tree_.erase_old(std::chrono::seconds(60)), 0U);
  EXPECT_TRUE(known("ab"));
}

TEST_F(PrefixTreeTest, AScopeGoesWhole) {
  grow("abc", "one");
  grow("xyz", "two");
  checkpoint("abc");
  std::vector<std::string> asked;
  const auto goes = [&](std::string_view scope) {
    asked.emplace_back(scope);
    return scope == "one";
  };
  EXPECT_EQ(tree_.erase_if(goes), 3U);
  EXPECT_EQ(asked.size(), 2U) << "once for each";
  EXPECT_FALSE(known("a"));
  EXPECT_TRUE(known("xyz"));
  EXPECT_EQ(tree_.stats().checkpoints, 0U);
  EXPECT_EQ(tree_.erase_if([](std::string_view) { return true; }), 3U);
  EXPECT_EQ(tree_.stats().blocks, 0U);
}

TEST_F(PrefixTreeTest, ABranchGoesWholeAndNoOther) {
  grow("abc");
  grow("abx");
  checkpoint("abx");
  grow("pq");
  tree_.erase_branch(chain_of("z").front());
  EXPECT_EQ(tree_.stats().blocks, 6U) << "of what is not there nothing goes";
  tree_.erase_branch(chain_of("a").front());
  EXPECT_EQ(tree_.stats().blocks, 2U);
  EXPECT_EQ(tree_.stats().checkpoints, 0U);
  EXPECT_TRUE(known("pq"));
}

TEST_F(PrefixTreeTest, APageIsIdleWhenNoRunningSequenceHasIt) {
  const auto chain = chain_of("ab");
  const HeldPtr first = held();
  tree_.hold(chain[0], first.get());
  EXPECT_EQ(tree_.idle_pages(), 0U);
  tree_.publish(chain, 0, first, "");
  EXPECT_EQ(tree_.idle_pages(), 0U) << "who made it has it";
  const HeldPtr second = held();
  tree_.publish(chain, 1, second, "");
  EXPECT_EQ(tree_.idle_pages(), 1U);
  tree_.hold(chain[0], first.get());
  tree_.release(chain[0], first.get());
  EXPECT_EQ(tree_.idle_pages(), 1U) << "another one has it";
  // What is forgotten and made again by another is another page.
  tree_.erase_branch(chain[0]);
  EXPECT_EQ(tree_.idle_pages(), 0U);
  tree_.publish(chain, 0, held(), "");
  EXPECT_EQ(tree_.idle_pages(), 1U);
  tree_.release(chain[0], first.get());
  EXPECT_EQ(tree_.idle_pages(), 1U);
  tree_.erase_branch(chain[0]);
  EXPECT_EQ(tree_.idle_pages(), 0U);
}

TEST_F(PrefixTreeTest, ASupersededCheckpointCanBeDropped) {
  grow("abc");
  checkpoint("ab");
  checkpoint("abc");
  tree_.drop_checkpoint(chain_of("ab").back());
  EXPECT_EQ(usable("abx"), 0U);
  EXPECT_EQ(usable("abc"), 3U);
  EXPECT_EQ(tree_.stats().checkpoints, 1U);
}

// In milliseconds: bounds of the buckets that have values, each with its count, and the sum.
std::string shown(const FixedHistogram<kBlockTimeBounds>& histogram) {
  std::string out;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] > 0) {
      const double bound = i < kBlockTimeBounds.size() ? kBlockTimeBounds[i] * 1000 : -1;
      out += std::to_string(static_cast<long>(bound)) + "x" + std::to_string(histogram.counts[i]) +
             " ";
    }
  }
  return out + "sum " + std::to_string(std::lround(histogram.sum * 1000));
}

TEST_F(PrefixTreeTest, TellsHowLongBlocksStayedAndHowOftenTheyWereUsed) {
  using std::chrono::milliseconds;
  const BlockTimes& times = tree_.stats().times;
  grow("ab");
  clock_.forward(milliseconds(100));
  grow("abx");  // known blocks are not used by that
  EXPECT_EQ(shown(times.reuse_gap), "sum 0");
  clock_.forward(milliseconds(150));
  tree_.use(chain_of("ab"));  // 250 ms after their publication, both
  clock_.forward(milliseconds(40));
  tree_.use(chain_of("abq"));
  EXPECT_EQ(shown(times.reuse_gap), "50x2 500x2 sum 580");
  (void)tree_.find(chain_of("abx"));
  EXPECT_EQ(shown(times.reuse_gap), "50x2 500x2 sum 580") << "a look is no use";
  EXPECT_EQ(times.lifetime.total, 0U);
  clock_.forward(milliseconds(1'000));
  EXPECT_TRUE(tree_.evict_page());  // x: made at 100, never used again; now is 1290
  EXPECT_EQ(shown(times.lifetime), "2000x1 sum 1190");
  EXPECT_EQ(shown(times.idle_before_eviction), "2000x1 sum 1190");
  EXPECT_TRUE(tree_.evict_page());  // b: made at 0, used at 290
  EXPECT_EQ(shown(times.lifetime), "2000x2 sum 2480");
  EXPECT_EQ(shown(times.idle_before_eviction), "1000x1 2000x1 sum 2190");
  EXPECT_EQ(tree_.stats().evicted_blocks, 2U);
}

TEST_F(PrefixTreeTest, BlocksThatAreErasedOrTooOldWereNotEvicted) {
  grow("ab", "mine");
  grow("x");
  clock_.forward(std::chrono::seconds(200'000));
  tree_.use(chain_of("x"));
  EXPECT_EQ(shown(tree_.stats().times.reuse_gap), "-1x1 sum 200000000") << "above all bounds";
  tree_.erase_if([](std::string_view scope) { return scope == "mine"; });
  clock_.forward(std::chrono::seconds(10));
  EXPECT_EQ(tree_.erase_old(std::chrono::seconds(10)), 1U);
  grow("y");
  EXPECT_EQ(tree_.erase_all(), 1U);
  EXPECT_EQ(tree_.stats().times.lifetime.total, 0U);
  EXPECT_EQ(tree_.stats().times.idle_before_eviction.total, 0U);
}

}  // namespace
}  // namespace daybreak::cache
