// SPDX-License-Identifier: Apache-2.0
#pragma once

// EventMirror: what somebody knows of a prefix cache who hears its events and nothing else. Test
// code only.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/event_sink.h"

namespace daybreak::cache::testing {

class EventMirror final : public EventSink {
 public:
  void stored(const StoredPart& what) override {
    EXPECT_EQ(what.ids.size(), kBlockTokens);
    const std::vector<TokenId> ids(what.ids.begin(), what.ids.end());
    if (what.part == Part::kCheckpoint) {
      EXPECT_TRUE(blocks_.contains(what.hash)) << "a checkpoint at the end of no block";
      EXPECT_TRUE(checkpoints_.insert(what.hash).second) << "a second checkpoint";
      EXPECT_EQ(blocks_[what.hash].ids, ids);
      return;
    }
    EXPECT_TRUE(!what.parent || blocks_.contains(*what.parent)) << "after no block";
    EXPECT_TRUE(blocks_.emplace(what.hash, Block{what.parent, ids, std::string(what.scope)}).second)
        << "a block twice";
  }
  void removed(Part part, const BlockHash& hash, std::string_view scope) override {
    if (part == Part::kCheckpoint) {
      EXPECT_EQ(checkpoints_.erase(hash), 1U);
      return;
    }
    EXPECT_FALSE(checkpoints_.contains(hash)) << "a checkpoint is left in the air";
    EXPECT_EQ(blocks_.contains(hash) ? blocks_[hash].scope : "?", scope);
    EXPECT_EQ(blocks_.erase(hash), 1U);
  }
  void cleared() override {
    blocks_.clear();
    checkpoints_.clear();
    ++clears;
  }
  void flush() override { ++flushes; }

  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  [[nodiscard]] std::size_t checkpoints() const { return checkpoints_.size(); }
  // Returns how many of the ids a sequence of that scope can start from, known by their ids alone.
  [[nodiscard]] std::size_t usable(const std::vector<TokenId>& ids, std::string_view scope) const {
    std::optional<BlockHash> at;
    std::size_t usable = 0;
    for (std::size_t end = kBlockTokens; end < ids.size(); end += kBlockTokens) {
      const auto next = std::ranges::find_if(blocks_, [&](const auto& entry) {
        const Block& block = entry.second;
        return block.parent == at && block.scope == scope &&
               std::equal(block.ids.begin(), block.ids.end(),
                          ids.begin() + static_cast<std::ptrdiff_t>(end - kBlockTokens));
      });
      if (next == blocks_.end()) {
        break;
      }
      at = next->first;
      usable = checkpoints_.contains(next->first) ? end : usable;
    }
    return usable;
  }

  std::size_t clears = 0;
  std::size_t flushes = 0;

 private:
  struct Block {
    std::optional<BlockHash> parent;
    std::vector<TokenId> ids;
    std::string scope;
  };
  std::map<BlockHash, Block> blocks_;
  std::set<BlockHash> checkpoints_;
};

}  // namespace daybreak::cache::testing
