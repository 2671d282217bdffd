// SPDX-License-Identifier: Apache-2.0
#pragma once

// DiskTier: between the prefix cache in memory and its store on disk. Checkpoints that are worth it
// are stored soon after they were made, with the blocks before them, so that nothing that needs
// their memory later waits for the disk. What a request wants from the disk is read straight into
// blocks of the model, which enter the tree when all of it is there and checked.
// Used from the engine's thread only, which it never has wait for the disk.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/token.h"
#include "cache/disk_store.h"
#include "cache/prefix_tree.h"
#include "engine/step_model.h"

namespace daybreak::engine {

// Loads that have memory at the same time: one that is read and the next.
inline constexpr std::size_t kMaxLoads = 2;
// What is queued at the end and to be kept is written for so long.
inline constexpr std::chrono::seconds kDiskPatience{10};

struct DiskOptions {
  std::filesystem::path directory = {};
  std::uint64_t max_bytes = 0;
  cache::Keep keep = cache::Keep::kNothing;
  // Tokens that a checkpoint must save from being computed to be stored, or loaded; in blocks.
  std::size_t min_tokens = 0;
  std::string model_digest = {};            // of the weights, beside StepModel::state_fingerprint()
  Log* log = nullptr;                       // outlives the engine; null: nowhere
  cache::WritePointFn at_write = nullptr;   // see DiskStoreOptions
  std::function<void()> at_read = nullptr;  // likewise
};

// Errors: as DiskStore::open; kInvalidArgument (the model shares nothing, or not as bytes).
[[nodiscard]] Result<std::unique_ptr<cache::DiskStore>> open_disk(const StepModel& model,
                                                                  const DiskOptions& options,
                                                                  const Clock& clock);

class DiskTier {
 public:
  using Chain = std::span<const cache::BlockHash>;

  // All outlive it.
  DiskTier(StepModel& model, cache::PrefixTree& tree, cache::DiskStore& store,
           std::size_t min_tokens);

  // Has the checkpoint at the end of the chain stored, if it is worth it and there is one.
  void spill(Chain chain, std::string_view scope);

  // Returns after how many blocks a sequence could start if they were loaded; 0: no more than
  // `here`, or not enough more.
  [[nodiscard]] std::size_t usable(Chain chain, std::size_t here) const;

  [[nodiscard]] bool full() const { return loads_.size() >= kMaxLoads; }
  // Whether what ends with this block is on its way.
  [[nodiscard]] bool loading(const cache::BlockHash& last) const;
  // Begins to load the chain and the checkpoint at its end; `ids` are of its blocks if the tree
  // wants them. Errors: kResourceLimit (too few positions), kUnavailable (no checkpoint is free,
  // or it is not stored any more). REQUIRES: !full().
  Status begin(Chain chain, std::string_view scope, std::vector<TokenId> ids);
  // Puts what has come into the tree. Returns the seconds of each load that has ended, also badly.
  [[nodiscard]] std::vector<double> collect();
  // Whether memory comes back when a load has ended or a part is not held for writing any more;
  // `holds_before`: holds() before that memory was looked for.
  [[nodiscard]] bool in_motion(std::uint64_t holds_before) const {
    return !loads_.empty() || holds_before % 2 != 0 || store_.holds() != holds_before;
  }
  [[nodiscard]] std::uint64_t holds() const { return store_.holds(); }

  // Forget what is stored and what is on its way.
  void erase_all();
  void erase_if(const std::function<bool(std::string_view scope)>& goes);
  void erase_branch(const cache::BlockHash& first);
  void when_gone(std::function<void()> then) { store_.when_gone(std::move(then)); }
  // Gives back the memory of what is on its way. The store has ended.
  void end() { loads_.clear(); }

 private:
  struct Load {
    std::vector<cache::BlockHash> chain;
    std::string scope;
    std::vector<TokenId> ids;
    std::vector<cache::HeldPtr> pages;  // of all of the chain
    cache::HeldPtr checkpoint;
    std::shared_ptr<cache::DiskLoad> reading;
    bool wanted = true;
  };
  void publish(Load& load);
  template <class Goes>
  void give_up(const Goes& goes);

  StepModel& model_;
  cache::PrefixTree& tree_;
  cache::DiskStore& store_;
  const std::size_t min_blocks_;
  std::vector<Load> loads_;
};

}  // namespace daybreak::engine
