// SPDX-License-Identifier: Apache-2.0
#pragma once

// PrefixCache: beginnings that sequences of one engine have in common, computed once. Every
// complete block of ids that a sequence has processed goes into the tree (cache/prefix_tree.h), and
// checkpoints where later sequences are likely to start:
//   - at the last block end before the end of the prompt, where the same conversation goes on;
//   - where a prompt leaves what the tree knew without a checkpoint there: a beginning that two
//     prompts share will be shared by a third;
//   - every `interval` tokens of a prompt;
//   - at the last block end of the answer so far, moving with it.
// A sequence that starts from the cache has the bits of one that does not. With a disk these
// checkpoints are stored there too (disk_tier.h); of those that move with an answer the last one.
// Used from the engine's thread only.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cache/block_hash.h"
#include "cache/prefix_tree.h"
#include "engine/disk_tier.h"
#include "engine/step_model.h"

namespace daybreak::engine {

inline constexpr std::size_t kCheckpointInterval = 8192;

struct PrefixCacheOptions {
  cache::BlockHasher hasher{cache::BlockHasher::Key{}};
  std::size_t interval =
      kCheckpointInterval;  // tokens of a prompt between checkpoints, in blocks; 0: none there
  std::chrono::seconds max_age{3600};     // of what nobody starts from
  const Clock* clock = &Clock::steady();  // outlives the cache
  cache::EventSink* events = nullptr;     // likewise; told of every change
  cache::DiskStore* disk = nullptr;       // likewise; null: nothing is on disk
  std::size_t disk_min_tokens = 0;        // see DiskOptions
};

// One sequence's part in the cache.
struct PrefixTrail {
  std::string scope;                    // see BlockHasher
  std::vector<cache::BlockHash> chain;  // of the prompt's blocks, then of the answer's
  std::size_t published = 0;            // blocks that are in the tree
  std::vector<const void*> held;        // pages of its first blocks, as the tree counts them
  std::vector<std::size_t> stops;       // positions where a checkpoint is to be made, the next last
  std::optional<std::size_t> moving;    // the block of the answer that has its moving checkpoint
  bool ended = false;                   // the tree takes no more of it
  bool zero_retention = false;          // it is in memory only, and nobody is told of it
};

class PrefixCache {
 public:
  // Without StepModel::checkpoints() it holds nothing. `model` outlives it.
  PrefixCache(StepModel& model, const PrefixCacheOptions& options);

  [[nodiscard]] bool enabled() const { return model_.checkpoints() > 0; }

  // Names the blocks of a prompt, unless that was done before.
  void name(PrefixTrail& trail, std::string_view scope, std::span<const TokenId> prompt) const;
  // Returns what a sequence with a prompt of that many ids can start from, of which at least one id
  // is left over; it is not evicted as long as it lives. REQUIRES: name().
  [[nodiscard]] cache::PrefixTree::Match find(const PrefixTrail& trail, std::size_t prompt_tokens);
  // Says that the sequence is to have these pages of its first blocks: nobody counts on them until
  // release().
  void hold(PrefixTrail& trail, std::vector<const void*> pages);
  void release(PrefixTrail& trail);
  // Says that the sequence has ended well: its moving checkpoint stays where it is.
  void finished(const PrefixTrail& trail);
  // Plans the checkpoints of a sequence that starts at `position`, of which find() knew `known`
  // blocks, and counts that as a use of them. REQUIRES: name().
  void start(PrefixTrail& trail, std::size_t known, std::size_t position,
             std::size_t prompt_tokens);

  // Returns how many of `count` ids to feed at `position`, so that the next checkpoint can be made.
  [[nodiscard]] static std::size_t cut(const PrefixTrail& trail, std::size_t position,
                                       std::size_t count);
  // Takes over what `sequence` has completed. `ids_of(first)` returns the kBlockTokens ids from
  // position `first` on; called for positions past the prompt's blocks only. Returns whether a
  // sequence that waits may need less now: there is a new checkpoint, or a block has become free.
  bool advanced(PrefixTrail& trail, Sequence& sequence, bool reading,
                const std::function<std::vector<TokenId>(std::size_t first)>& ids_of);

  // Forgets everything that begins as a sequence which has failed: nobody knows since when.
  void distrust(const PrefixTrail& trail);

  // Frees a block of which only the cache has hold; one that nothing can start from if
  // `only_useless`. Returns false if there is none.
  bool evict_block(bool only_useless) {
    return only_useless ? tree_.evict_useless_page() : tree_.evict_page();
  }

  std::size_t erase_old();
  // These forget what is on disk too.
  std::size_t erase_all();
  std::size_t erase_if(const std::function<bool(std::string_view scope)>& goes);
  // Forgets what is in memory, at the end.
  void end();

  // Null without a disk.
  [[nodiscard]] DiskTier* disk() { return disk_ ? &*disk_ : nullptr; }
  [[nodiscard]] const DiskTier* disk() const { return disk_ ? &*disk_ : nullptr; }
  // Returns the blocks that a sequence with a prompt of that many ids could start after if they
  // were loaded, when it can start `here`; empty: not enough more. REQUIRES: name(), disk().
  [[nodiscard]] std::span<const cache::BlockHash> loadable(const PrefixTrail& trail,
                                                           std::size_t prompt_tokens,
                                                           std::size_t here) const;
  // Returns how many of its blocks a sequence could start after now. REQUIRES: name().
  [[nodiscard]] std::size_t usable(const PrefixTrail& trail, std::size_t prompt_tokens);
  [[nodiscard]] std::vector<cache::HeldPtr> pages_of(std::span<const cache::BlockHash> chain) {
    return tree_.pages_of(chain);
  }
  [[nodiscard]] bool wants_ids() const { return tree_.wants_ids(); }
  [[nodiscard]] std::optional<Clock::TimePoint> next_end() const;
  // Returns how many blocks of the cache no running sequence has.
  [[nodiscard]] std::size_t idle_blocks() const { return tree_.idle_pages(); }
  [[nodiscard]] const cache::PrefixTree::Stats& stats() const { return tree_.stats(); }

 private:
  using IdsFn = std::function<std::vector<TokenId>(std::size_t first)>;
  // These return what advanced() does.
  bool publish(PrefixTrail& trail, Sequence& sequence, const IdsFn& ids_of);
  bool mark(PrefixTrail& trail, const Sequence& sequence, bool reading);
  bool add_checkpoint(const cache::BlockHash& at, const Sequence& sequence);
  void spill(const PrefixTrail& trail, std::size_t blocks);
  void hold_published(PrefixTrail& trail, const void* page);

  StepModel& model_;
  const PrefixCacheOptions options_;
  cache::PrefixTree tree_;
  std::optional<DiskTier> disk_;
  Clock::TimePoint next_sweep_{};  // nothing is too old before
};

}  // namespace daybreak::engine
