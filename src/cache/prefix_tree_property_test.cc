// SPDX-License-Identifier: Apache-2.0
// Random uses of the tree beside a plain list of what must be in it.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "cache/event_mirror.h"
#include "cache/prefix_tree_testing.h"

namespace daybreak::cache {
namespace {

using testing::chain_of;
using testing::held;
using testing::StillClock;

// Everything that was ever added and has not been seen to go, by the letters of its path.
struct Plain {
  struct Entry {
    std::weak_ptr<const void> page;
    std::weak_ptr<const void> checkpoint;
  };
  std::map<std::string, Entry> entries;

  [[nodiscard]] bool has_page(const std::string& path) const {
    const auto at = entries.find(path);
    return at != entries.end() && !at->second.page.expired();
  }
  [[nodiscard]] bool has_checkpoint(const std::string& path) const {
    const auto at = entries.find(path);
    return at != entries.end() && !at->second.checkpoint.expired();
  }
};

class RandomUse {
 public:
  explicit RandomUse(unsigned seed) : rng_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      switch (below(11)) {
        case 0:
        case 1:
        case 2:
          add(random_path());
          break;
        case 3:
        case 4:
          find(random_path());
          break;
        case 5:
          tree_.evict_page();
          break;
        case 6:
          tree_.evict_checkpoint();
          break;
        // Unpinned first: what is pinned lives on, though the tree forgets it.
        case 7:
          pins_.clear();
          tree_.drop_checkpoint(chain_of(random_path()).back());
          break;
        case 8:
          pins_.clear();
          tree_.erase_branch(chain_of(random_path()).front());
          break;
        case 9:
          if (below(8) == 0) {
            pins_.clear();
            tree_.erase_all();
          }
          break;
        default:
          pins_.clear();
      }
      check_counts();
    }
    while (tree_.evict_page()) {
    }
    pins_.clear();
    while (tree_.evict_page()) {
    }
    EXPECT_EQ(tree_.stats().blocks, 0U);
    EXPECT_EQ(tree_.stats().checkpoints, 0U);
    for (const auto& [path, entry] : plain_.entries) {
      EXPECT_TRUE(entry.page.expired() && entry.checkpoint.expired()) << path << " leaks";
    }
  }

 private:
  std::size_t below(std::size_t n) { return rng_() % n; }

  std::string random_path() {
    std::string path;
    for (std::size_t length = 1 + below(7); path.size() < length;) {
      path += static_cast<char>('a' + below(2));
    }
    return path;
  }

  // Publishes what is missing, and perhaps a checkpoint.
  void add(const std::string& path) {
    const auto chain = chain_of(path);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const std::string here = path.substr(0, i + 1);
      const HeldPtr page = held();
      const HeldPtr kept =
          tree_.publish(chain, i, page, "", testing::ids_of(std::string_view(&path[i], 1)));
      if (kept == nullptr) {
        return;
      }
      EXPECT_EQ(kept != page, plain_.has_page(here)) << here;
      plain_.entries[here].page = kept;
      pins_.push_back(kept);
    }
    if (below(2) == 0 && !tree_.has_checkpoint(chain.back())) {
      const HeldPtr state = held();
      tree_.add_checkpoint(chain.back(), state);
      plain_.entries[path].checkpoint = state;
    }
    pins_.clear();
  }

  void find(const std::string& path) {
    const auto chain = chain_of(path);
    PrefixTree::Match match = tree_.find(chain);
    if (below(2) == 0) {
      tree_.use(chain);
    }
    std::size_t known = 0;
    std::size_t usable = 0;
    while (known < path.size() && plain_.has_page(path.substr(0, known + 1))) {
      ++known;
      usable = plain_.has_checkpoint(path.substr(0, known)) ? known : usable;
    }
    ASSERT_EQ(match.known, known) << path;
    ASSERT_EQ(match.pages.size(), usable) << path;
    for (std::size_t i = 0; i < usable; ++i) {
      EXPECT_EQ(match.pages[i], plain_.entries[path.substr(0, i + 1)].page.lock());
      pins_.push_back(match.pages[i]);
    }
    if (usable > 0) {
      EXPECT_EQ(match.checkpoint, plain_.entries[path.substr(0, usable)].checkpoint.lock());
      pins_.push_back(match.checkpoint);
    }
  }

  void check_counts() {
    std::size_t pages = 0;
    std::size_t checkpoints = 0;
    for (const auto& [path, entry] : plain_.entries) {
      pages += plain_.has_page(path) ? 1 : 0;
      checkpoints += plain_.has_checkpoint(path) ? 1 : 0;
      EXPECT_TRUE(!plain_.has_page(path) || path.size() == 1 ||
                  plain_.has_page(path.substr(0, path.size() - 1)))
          << path << " hangs in the air";
    }
    EXPECT_EQ(tree_.stats().blocks, pages);
    EXPECT_EQ(tree_.stats().checkpoints, checkpoints);
    EXPECT_LE(pages, kMaxBlocks);
    check_mirror();
  }

  // Who hears the events knows what find() knows.
  void check_mirror() {
    EXPECT_EQ(mirror_.blocks(), tree_.stats().blocks);
    EXPECT_EQ(mirror_.checkpoints(), tree_.stats().checkpoints);
    const std::string path = random_path();
    std::vector<TokenId> ids = testing::ids_of(path);
    ids.push_back(0);
    EXPECT_EQ(mirror_.usable(ids, ""), tree_.find(chain_of(path)).pages.size() * kBlockTokens);
  }

  static constexpr std::size_t kMaxBlocks = 24;
  std::mt19937 rng_;
  StillClock clock_;
  testing::EventMirror mirror_;
  PrefixTree tree_{kMaxBlocks, clock_, &mirror_};
  Plain plain_;
  std::vector<HeldPtr> pins_;
};

TEST(PrefixTreeProperty, HoldsExactlyWhatWasAddedAndNotEvicted) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomUse(seed).run(400);
  }
}

}  // namespace
}  // namespace daybreak::cache
