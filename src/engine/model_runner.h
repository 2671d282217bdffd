// SPDX-License-Identifier: Apache-2.0
#pragma once

// ModelRunner: the StepModel that drives model::Model. It owns what one stream of steps needs
// beside the weights: threads, activation memory and the pool of sequence states.

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "base/thread_team.h"
#include "engine/stats.h"
#include "engine/step_model.h"
#include "model/model.h"
#include "model/state_layout.h"
#include "model/state_pool.h"
#include "model/workspace.h"

namespace daybreak::engine {

inline constexpr std::size_t kMaxSequences = 1024;
inline constexpr std::size_t kMaxCheckpoints = 65'536;
inline constexpr std::size_t kMaxThreads = kMaxTeamThreads;

struct ModelRunnerOptions {
  std::size_t threads = 1;             // 1 to kMaxThreads, the calling one included
  std::size_t max_sequences = 8;       // 1 to kMaxSequences
  std::size_t max_positions = 65'536;  // over all sequences; 1 or more
  std::size_t max_checkpoints = 0;     // see StepModel::checkpoints(). 0 to kMaxCheckpoints
  // Ids that go through the layers together; bounds activation memory, changes no bit. 1 or more.
  std::size_t workspace_tokens = model::kDefaultWorkspaceTokens;
  std::size_t max_guesses = 0;  // see StepModel::max_guesses(). 0 to kMaxDraftTokens
  bool poison_freed = true;     // see StatePoolOptions
  // Sets up each new thread; pass kernels::set_float_environment.
  ThreadTeam::StartHook on_thread_start = nullptr;
};

class ModelRunner final : public StepModel {
 public:
  // The weights are shared with other runners of the same process.
  // Errors: kInvalidArgument naming the option, its range and the value.
  [[nodiscard]] static Result<std::unique_ptr<ModelRunner>> create(
      std::shared_ptr<const model::Model> model, const ModelRunnerOptions& options);

  std::size_t vocab_size() const override { return model_->config().vocab_size; }
  std::size_t context_tokens() const override { return pool_.max_sequence_positions(); }
  std::size_t slots() const override { return pool_.slots(); }
  std::size_t total_positions() const override { return pool_.total_positions(); }
  std::size_t free_positions() const override { return pool_.free_positions(); }
  std::size_t block_positions() const override { return model::kPagePositions; }
  Result<std::unique_ptr<Sequence>> acquire(std::size_t positions) override;
  std::size_t checkpoints() const override { return pool_.checkpoints(); }
  Result<std::unique_ptr<Sequence>> acquire_from(const Beginning& beginning,
                                                 std::size_t positions) override;
  std::optional<PartSizes> part_sizes() const override;
  std::uint64_t state_fingerprint() const override { return pool_.layout().fingerprint; }
  std::span<const std::byte> block_bytes(const void* block) const override;
  std::span<const std::byte> checkpoint_bytes(const void* checkpoint) const override;
  Result<BlankPart> blank_block() override;
  Result<BlankPart> blank_checkpoint(std::size_t position) override;
  std::size_t max_guesses() const override { return max_guesses_; }
  // A row of logits that is not finite is delivered as it is: the sampler refuses it, and the other
  // rows of the batch are good.
  Status forward(std::span<const StepChunk> chunks) override;

 private:
  ModelRunner(std::shared_ptr<const model::Model> model, const ModelRunnerOptions& options,
              std::unique_ptr<ThreadTeam> team);

  const std::shared_ptr<const model::Model> model_;
  model::StatePool pool_;
  model::Workspace workspace_;
  const std::unique_ptr<ThreadTeam> team_;
  const std::size_t max_guesses_;
};

}  // namespace daybreak::engine
