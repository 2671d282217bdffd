// SPDX-License-Identifier: Apache-2.0
#pragma once

// PrefixTree: the beginnings of sequences that are kept for others. Every block of ids is a node
// under the block before it and has the page of its latents; some have a checkpoint of everything
// else a sequence remembers there. A sequence can start at the deepest checkpoint among the blocks
// its prompt shares with the tree: attention alone cannot go on without the recurrent state.
//
// What goes first, when memory is needed: pages that nothing can start from, used longest ago; then
// those of the checkpoint that is worth least. A checkpoint is worth the blocks that would have to
// be computed again without it, counted from the last time anything was evicted (GreedyDual-Size;
// Cao, Irani 1997). What a running sequence has is not evicted: nothing would be freed.
// Not thread-safe.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "cache/block_hash.h"
#include "cache/block_times.h"
#include "cache/event_sink.h"

namespace daybreak::cache {

// A page or a checkpoint; what its bytes mean is its maker's affair. Freed with the last reference.
using HeldPtr = std::shared_ptr<const void>;

class PrefixTree {
 public:
  // At most `max_blocks` nodes; `clock` outlives the tree, and so does `events`, which is told of
  // every change, if not null.
  PrefixTree(std::size_t max_blocks, const Clock& clock, EventSink* events = nullptr)
      : max_blocks_(max_blocks), clock_(clock), events_(events) {}
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  struct Match {
    std::size_t known = 0;       // blocks of the chain that are in the tree
    std::vector<HeldPtr> pages;  // of the blocks up to the checkpoint
    HeldPtr checkpoint;          // at the end of the last of them; null: there is none
  };
  // Returns what a sequence with the blocks `chain` can start from. What it holds is not evicted as
  // long as it lives.
  [[nodiscard]] Match find(std::span<const BlockHash> chain);
  // Returns the pages of the blocks of the chain that are in the tree, up to the first that is not.
  [[nodiscard]] std::vector<HeldPtr> pages_of(std::span<const BlockHash> chain);
  // Returns how many blocks of the chain lie before the deepest checkpoint among them.
  [[nodiscard]] std::size_t usable(std::span<const BlockHash> chain) {
    return usable_of(path_of(chain));
  }
  // Says that a sequence with these blocks has started: what find() would give has been used, and
  // the blocks after it that are known.
  void use(std::span<const BlockHash> chain);

  // Adds the page of block `index`, whose bytes are complete. Returns the page the tree has for
  // this block now: `page`, or the one it had, with the same bits; null if it takes no more blocks,
  // or the block before is not in it. `scope` is what erase_if() asks about; `ids` of the block are
  // kept for events if it wants_ids(); else they need not be given. Nobody is told of a block
  // without ids and of its checkpoint.
  HeldPtr publish(std::span<const BlockHash> chain, std::size_t index, HeldPtr page,
                  std::string_view scope, std::vector<TokenId> ids = {});
  [[nodiscard]] bool wants_ids() const { return events_ != nullptr; }

  [[nodiscard]] bool has_checkpoint(const BlockHash& at) const;
  [[nodiscard]] HeldPtr checkpoint_at(const BlockHash& at);  // null: none
  // Adds a checkpoint at the end of block `at`. Does nothing if that is unknown or has one.
  void add_checkpoint(const BlockHash& at, HeldPtr checkpoint);
  // Takes a checkpoint away that a later one of the same sequence makes worthless.
  void drop_checkpoint(const BlockHash& at);

  // Forgets the page that is worth least, and the checkpoint at its end. Returns false if there is
  // none to be freed.
  bool evict_page() { return evict_leaf(false); }
  // The same of pages that nothing can start from.
  bool evict_useless_page() { return evict_leaf(true); }
  // Forgets the checkpoint that is worth least; false: none.
  bool evict_checkpoint();

  // Forgets all that begins with block `first`, which is the first of a sequence.
  void erase_branch(const BlockHash& first);
  // Forgets block `at`, what follows it, and nothing else.
  void erase_below(const BlockHash& at);
  // Forgets what has not been used for `age`. Returns how many blocks that were.
  std::size_t erase_old(std::chrono::seconds age);
  // Forgets everything. Returns how many blocks that were.
  std::size_t erase_all();
  // Forgets all blocks of the scopes of which goes(scope). Returns how many.
  std::size_t erase_if(const std::function<bool(std::string_view scope)>& goes);

  // When what has not been used for longest was; nothing: the tree is empty.
  [[nodiscard]] std::optional<Clock::TimePoint> oldest_use() const;

  // Counts a running sequence that has `page` for the block `at`, be it the tree's or not, until
  // release() of the same.
  void hold(const BlockHash& at, const void* page);
  void release(const BlockHash& at, const void* page);
  // Pages that no running sequence has.
  [[nodiscard]] std::size_t idle_pages() const { return nodes_.size() - busy_nodes_; }

  struct Stats {
    std::uint64_t finds = 0;
    std::size_t blocks = 0;
    std::size_t checkpoints = 0;
    std::uint64_t evicted_blocks = 0;
    std::uint64_t evicted_checkpoints = 0;
    BlockTimes times;
  };
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  struct Node;
  using Nodes = std::unordered_map<BlockHash, Node, BlockHashHash>;
  // The order of going: by value, then by age.
  struct Rank {
    bool has_checkpoint = false;
    std::uint64_t value = 0;
    Node* node = nullptr;
    bool operator<(const Rank& other) const;
  };
  struct Node {
    BlockHash hash;
    Node* parent = nullptr;
    const Node* first = nullptr;  // of its branch; its depth is 1
    std::size_t depth = 0;        // blocks up to and with this one
    std::size_t children = 0;
    HeldPtr page;
    HeldPtr checkpoint;
    std::uint64_t number = 0;  // of its making
    std::uint64_t used = 0;    // number of the use
    std::uint64_t value = 0;   // of the checkpoint
    Clock::TimePoint made_at{};
    Clock::TimePoint used_at{};
    std::string_view scope;    // in scopes_
    std::vector<TokenId> ids;  // for events
  };
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  [[nodiscard]] static Rank as_leaf(Node& node);
  [[nodiscard]] static Rank as_checkpoint(Node& node) { return {true, node.value, &node}; }
  [[nodiscard]] Node* node_of(const BlockHash& hash);
  // The nodes of the chain that are there, up to the first that is not.
  [[nodiscard]] std::vector<Node*> path_of(std::span<const BlockHash> chain);
  // How many of them a sequence can start from.
  [[nodiscard]] static std::size_t usable_of(std::span<Node* const> path);
  [[nodiscard]] bool has_page(const BlockHash& at, const void* page) const;
  [[nodiscard]] std::size_t blocks_to_compute(const Node& node) const;
  // Runs `change` while the node is out of the orders, which it changes its place in.
  template <class Change>
  void reorder(Node& node, const Change& change);
  [[nodiscard]] bool tells_of(const Node& node) const {
    return events_ != nullptr && !node.ids.empty();
  }
  void tell_stored(Part part, const Node& node) const;
  void tell_removed(Part part, const Node& node) const;
  bool evict_leaf(bool only_useless);
  void forget(Node& leaf);
  template <class Goes>
  std::size_t erase_branches(const Goes& goes);

  const std::size_t max_blocks_;
  const Clock& clock_;
  EventSink* events_;
  Nodes nodes_;
  std::set<Rank> leaves_;
  std::set<Rank> checkpoints_;
  std::unordered_map<std::string, std::size_t, StringHash, std::equal_to<>>
      scopes_;                                            // blocks of each
  std::unordered_map<const void*, std::size_t> holders_;  // of pages: running sequences
  std::size_t busy_nodes_ = 0;                            // with a page that has a holder
  std::uint64_t next_ = 1;
  std::uint64_t floor_ = 0;  // the value of the checkpoint evicted last
  Stats stats_;
};

}  // namespace daybreak::cache
