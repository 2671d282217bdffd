// SPDX-License-Identifier: Apache-2.0
#include "engine/model_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "cache/block_hash.h"
#include "model/shared_state.h"
#include "model/state_layout.h"

namespace daybreak::engine {
namespace {

static_assert(model::kPagePositions == cache::kBlockTokens, "a block of hashes is one page");

class ModelSequence final : public Sequence {
 public:
  ModelSequence(std::unique_ptr<model::SequenceState> state, std::size_t max_guesses)
      : state_(std::move(state)), max_guesses_(max_guesses) {}

  std::size_t position() const override { return state_->position(); }
  Status reserve(std::size_t positions) override { return state_->guarantee(positions); }
  std::size_t held_positions() const override { return state_->held_positions(); }
  std::vector<std::byte> save() const override { return state_->save(); }
  Status restore(std::span<const std::byte> bytes) override { return state_->restore(bytes); }

  cache::HeldPtr share_block(std::size_t index) override {
    return state_->share(index, index + 1).front();
  }
  void replace_block(std::size_t index, cache::HeldPtr block) override {
    state_->replace_shared(index, std::static_pointer_cast<const model::SharedPage>(block));
  }
  std::vector<const void*> shared_blocks() const override {
    std::vector<const void*> blocks;
    for (const model::SharedPagePtr& page : state_->shared()) {
      blocks.push_back(page.get());
    }
    return blocks;
  }
  Result<cache::HeldPtr> checkpoint() const override {
    DAYBREAK_TRY(cache::HeldPtr made, state_->checkpoint());
    return made;
  }

  Status prepare_guesses() override { return state_->prepare_drafts(max_guesses_); }
  void accept(std::size_t count) override { state_->accept(count); }

  [[nodiscard]] model::SequenceState& state() { return *state_; }

 private:
  std::unique_ptr<model::SequenceState> state_;
  const std::size_t max_guesses_;
};

Status check_option(const char* name, std::size_t value, std::size_t max) {
  if (value >= 1 && value <= max) {
    return ok();
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("{}: expected 1 to {}, found {}", name, max, value)};
}

model::StatePoolOptions pool_options(const model::Model& model, const ModelRunnerOptions& options) {
  return {.slots = options.max_sequences,
          .checkpoints = options.max_checkpoints,
          .max_positions = options.max_positions,
          .poison_freed = options.poison_freed,
          .weights_fingerprint = model.weights_fingerprint()};
}

model::LogitRows rows_wanted(const StepChunk& chunk, std::size_t vocab_size) {
  if (chunk.logits.empty()) {
    return model::LogitRows::kNone;
  }
  return chunk.logits.size() == vocab_size ? model::LogitRows::kLast : model::LogitRows::kAll;
}

}  // namespace

Result<std::unique_ptr<ModelRunner>> ModelRunner::create(std::shared_ptr<const model::Model> model,
                                                         const ModelRunnerOptions& options) {
  constexpr std::size_t kMaxPositions = std::numeric_limits<std::uint32_t>::max();
  DAYBREAK_CHECK_OK(check_option("threads", options.threads, kMaxThreads));
  DAYBREAK_CHECK_OK(check_option("max_sequences", options.max_sequences, kMaxSequences));
  DAYBREAK_CHECK_OK(check_option("max_positions", options.max_positions, kMaxPositions));
  if (options.max_checkpoints > kMaxCheckpoints) {
    return Error{Errc::kInvalidArgument, fmt::format("max_checkpoints: expected 0 to {}, found {}",
                                                     kMaxCheckpoints, options.max_checkpoints)};
  }
  DAYBREAK_CHECK_OK(check_option("workspace_tokens", options.workspace_tokens, 65'536));
  const std::size_t most = std::min(kMaxDraftTokens, options.workspace_tokens - 1);
  if (options.max_guesses > most) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("max_guesses: expected 0 to {}, found {}", most, options.max_guesses)};
  }
  DAYBREAK_TRY(auto team, ThreadTeam::start(options.threads, options.on_thread_start));
  return std::unique_ptr<ModelRunner>(new ModelRunner(std::move(model), options, std::move(team)));
}

ModelRunner::ModelRunner(std::shared_ptr<const model::Model> model,
                         const ModelRunnerOptions& options, std::unique_ptr<ThreadTeam> team)
    : model_(std::move(model)),
      pool_(model_->config(), pool_options(*model_, options)),
      workspace_(model_->config(), {.tokens = options.workspace_tokens}),
      team_(std::move(team)),
      max_guesses_(options.max_guesses) {}

Result<std::unique_ptr<Sequence>> ModelRunner::acquire(std::size_t positions) {
  DAYBREAK_TRY(std::unique_ptr<model::SequenceState> state, pool_.acquire(positions));
  return std::unique_ptr<Sequence>(std::make_unique<ModelSequence>(std::move(state), max_guesses_));
}

Result<std::unique_ptr<Sequence>> ModelRunner::acquire_from(const Beginning& beginning,
                                                            std::size_t positions) {
  std::vector<model::SharedPagePtr> pages;
  pages.reserve(beginning.blocks.size());
  for (const cache::HeldPtr& block : beginning.blocks) {
    pages.push_back(std::static_pointer_cast<const model::SharedPage>(block));
  }
  const auto& checkpoint = *static_cast<const model::StateCheckpoint*>(beginning.checkpoint.get());
  DAYBREAK_TRY(std::unique_ptr<model::SequenceState> state,
               pool_.acquire_from(checkpoint, pages, positions));
  return std::unique_ptr<Sequence>(std::make_unique<ModelSequence>(std::move(state), max_guesses_));
}

std::optional<PartSizes> ModelRunner::part_sizes() const {
  return PartSizes{.block = pool_.layout().page_floats() * sizeof(float),
                   .checkpoint = pool_.layout().slot_floats() * sizeof(float)};
}

std::span<const std::byte> ModelRunner::block_bytes(const void* block) const {
  return std::as_bytes(static_cast<const model::SharedPage*>(block)->floats());
}

std::span<const std::byte> ModelRunner::checkpoint_bytes(const void* checkpoint) const {
  return std::as_bytes(static_cast<const model::StateCheckpoint*>(checkpoint)->floats());
}

Result<BlankPart> ModelRunner::blank_block() {
  DAYBREAK_TRY(model::Blank<model::SharedPage> blank, pool_.blank_page());
  return BlankPart{std::move(blank.shared), std::as_writable_bytes(blank.floats)};
}

Result<BlankPart> ModelRunner::blank_checkpoint(std::size_t position) {
  DAYBREAK_TRY(model::Blank<model::StateCheckpoint> blank, pool_.blank_checkpoint(position));
  return BlankPart{std::move(blank.shared), std::as_writable_bytes(blank.floats)};
}

Status ModelRunner::forward(std::span<const StepChunk> chunks) {
  std::vector<model::Chunk> work;
  work.reserve(chunks.size());
  for (const StepChunk& chunk : chunks) {
    work.push_back({.state = &static_cast<ModelSequence&>(*chunk.sequence).state(),
                    .ids = chunk.ids,
                    .rows = rows_wanted(chunk, vocab_size()),
                    .logits = chunk.logits,
                    .draft_ids = chunk.guesses,
                    .adapter = chunk.adapter});
  }
  Status status = model_->forward(work, workspace_, *team_);
  if (!status && status.error().code == Errc::kCorrupt) {
    return ok();
  }
  return status;
}

}  // namespace daybreak::engine
