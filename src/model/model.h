// SPDX-License-Identifier: Apache-2.0
#pragma once

// Model: an opened checkpoint that turns token ids into logits. It is const: whatever belongs to a
// sequence is in its SequenceState, whatever belongs to a pass is in the Workspace, so any number
// of engines may share one Model.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/thread_team.h"
#include "base/token.h"
#include "model/checkpoint.h"
#include "model/config.h"
#include "model/state_pool.h"
#include "model/weights.h"
#include "model/weights_loader.h"
#include "model/workspace.h"

namespace daybreak::model {

struct LoadOptions {
  // Called as tensors are bound; may be empty.
  BindCallback on_bind;
  // If set, all pages are read before load() returns, and this is told how far it is.
  ReadCallback on_read;
};

// For which tokens of a chunk logits are wanted.
enum class LogitRows : std::uint8_t { kNone, kLast, kAll };

// Consecutive tokens of one sequence, to be appended to its state.
struct Chunk {
  SequenceState* state = nullptr;
  std::span<const TokenId> ids = {};  // at least one
  LogitRows rows = LogitRows::kLast;
  std::span<float> logits = {};  // out: [rows, vocab], rows 0, 1 or ids.size()
  // The last so many ids, not all, are guesses: see SequenceState::accept, which must be called
  // before the state is used again.
  std::size_t draft_ids = 0;
  // What the sequence is computed with beside the weights; null: nothing. The same one for all of a
  // sequence, which is the caller's to see to: the state does not know it.
  const LoraAdapter* adapter = nullptr;
  // Out: the logits are not finite (damaged weights), so neither they nor the state are of use.
  bool failed = false;
};

class Model {
 public:
  // Opens the checkpoint in `dir` and binds all of its tensors.
  // Errors: those of load_config, Checkpoint::open, bind_weights and refuse_left_over (a config
  // that is wrong in a switch leaves tensors over); kCancelled if on_read said so.
  [[nodiscard]] static Result<std::unique_ptr<Model>> load(const std::filesystem::path& dir,
                                                           const LoadOptions& options = {});

  // Only load() can name the first argument.
  class Key {
    friend class Model;
    Key() = default;
  };
  Model(Key key, ModelConfig config, Checkpoint checkpoint, ModelWeights weights);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] const ModelWeights& weights() const { return weights_; }
  [[nodiscard]] const Checkpoint& checkpoint() const { return checkpoint_; }

  // Differs between models of one shape with other weights (from a sample of them); pass it to
  // StatePoolOptions so that a saved state is not restored into the wrong model.
  [[nodiscard]] std::uint64_t weights_fingerprint() const { return weights_fingerprint_; }

  // Processes every chunk's ids and appends them to its state. The bits of a chunk's logits depend
  // on its sequence alone: not on the other chunks, how ids are cut into chunks, the workspace's
  // capacity, the team's size or the instruction set.
  //   REQUIRES: the workspace was made for this model's config and is not in use elsewhere.
  // Errors, with no state changed:
  //   kInvalidArgument  no chunk, no state, no ids, an id outside the vocabulary, one state twice,
  //                     a state or an adapter of another model, a logits span of the wrong size,
  //                     more guesses
  //                     than the state is prepared for or the workspace holds, or open ones
  //   kTooLarge, kResourceLimit  a sequence becomes too long; see SequenceState::reserve
  // Error after all chunks were processed:
  //   kCorrupt          logits are not finite; those chunks have `failed` set, the others are good
  // Thread-safe for different states, workspaces and teams.
  [[nodiscard]] Status forward(std::span<Chunk> chunks, Workspace& workspace,
                               ThreadTeam& team) const;

 private:
  ModelConfig config_;
  Checkpoint checkpoint_;  // keeps the mapping alive that weights_ views
  ModelWeights weights_;
  std::uint64_t weights_fingerprint_;
  StateLayout layout_;  // what a chunk's state must look like
};

}  // namespace daybreak::model
