// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_model_run.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include "model/weights_traffic.h"

namespace daybreak::cli {
namespace {

using model::Chunk;
using model::LogitRows;

class Bench {
 public:
  Bench(const model::Model& model, BenchMode mode, const BenchShape& shape, ThreadTeam& team)
      : model_(model),
        mode_(mode),
        shape_(shape),
        vocab_(model.config().vocab_size),
        pool_(model.config(),
              {.slots = shape.batch, .max_positions = shape.batch * positions_of_one(shape)}),
        // Room for a decode step of the whole batch.
        workspace_(model.config(),
                   {.tokens = std::max(model::kDefaultWorkspaceTokens, shape.batch)}),
        team_(team),
        logits_(shape.batch * vocab_) {}

  // Fills the states to `depth` and keeps copies to start every repeat from.
  Status prepare() {
    for (std::size_t i = 0; i < shape_.batch; ++i) {
      DAYBREAK_TRY(auto state, pool_.acquire(shape_.depth + shape_.tokens));
      ids_.push_back(make_ids(i));
      if (shape_.depth > 0) {
        std::array chunks = {Chunk{.state = state.get(),
                                   .ids = std::span(ids_[i]).first(shape_.depth),
                                   .rows = LogitRows::kNone}};
        DAYBREAK_CHECK_OK(model_.forward(chunks, workspace_, team_));
      }
      starts_.push_back(state->save());
      states_.push_back(std::move(state));
    }
    chunks_.resize(shape_.batch);
    return ok();
  }

  // Returns the seconds of one repeat.
  Result<double> repeat() {
    for (std::size_t i = 0; i < shape_.batch; ++i) {
      DAYBREAK_CHECK_OK(states_[i]->restore(starts_[i]));
    }
    const auto start = std::chrono::steady_clock::now();
    if (mode_ == BenchMode::kPrefill) {
      DAYBREAK_CHECK_OK(step(shape_.depth, shape_.tokens));
    } else {
      for (std::size_t t = 0; t < shape_.tokens; ++t) {
        DAYBREAK_CHECK_OK(step(shape_.depth + t, 1));
      }
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  [[nodiscard]] model::StepCounters counters() const { return workspace_.counters(); }

 private:
  static std::size_t positions_of_one(const BenchShape& shape) {
    return model::pages_for(shape.depth + shape.tokens) * model::kPagePositions;
  }

  // Ids that vary, so that a batch does not route every token to the same experts.
  [[nodiscard]] std::vector<TokenId> make_ids(std::size_t sequence) const {
    std::vector<TokenId> ids(shape_.depth + shape_.tokens);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<TokenId>(((i + 37 * sequence) * 7919 + 13) % vocab_);
    }
    return ids;
  }

  // Appends ids [first, first + count) to every sequence.
  Status step(std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < shape_.batch; ++i) {
      chunks_[i] = {.state = states_[i].get(),
                    .ids = std::span(ids_[i]).subspan(first, count),
                    .rows = LogitRows::kLast,
                    .logits = std::span(logits_).subspan(i * vocab_, vocab_)};
    }
    return model_.forward(chunks_, workspace_, team_);
  }

  const model::Model& model_;
  const BenchMode mode_;
  const BenchShape shape_;
  const std::size_t vocab_;
  model::StatePool pool_;
  model::Workspace workspace_;
  ThreadTeam& team_;
  std::vector<float> logits_;  // [batch, vocab]
  std::vector<std::vector<TokenId>> ids_;
  std::vector<std::vector<std::byte>> starts_;
  std::vector<std::unique_ptr<model::SequenceState>> states_;
  std::vector<Chunk> chunks_;
};

void count_traffic(const model::Model& model, const model::StepCounters& before,
                   const model::StepCounters& after, BenchResult& result) {
  const auto traffic = model::WeightTraffic::of(model.config(), model.weights());
  const std::uint64_t tokens = after.tokens - before.tokens;
  const std::uint64_t bytes = (after.steps - before.steps) * traffic.dense_bytes +
                              (after.logit_steps - before.logit_steps) * traffic.head_bytes +
                              (after.experts_read - before.experts_read) * traffic.expert_bytes;
  result.bytes_per_token = bytes / tokens;
  result.macs_per_token =
      traffic.token_macs + (after.logit_rows - before.logit_rows) * traffic.head_macs / tokens;
}

}  // namespace

Result<BenchResult> run_model_bench(const model::Model& model, BenchMode mode,
                                    const BenchShape& shape, ThreadTeam& team) {
  Bench bench(model, mode, shape, team);
  DAYBREAK_CHECK_OK(bench.prepare());
  // The first run pages the weights in.
  DAYBREAK_TRY([[maybe_unused]] const double warm_up, bench.repeat());
  BenchResult result;
  const model::StepCounters before = bench.counters();
  for (std::size_t i = 0; i < shape.repeat; ++i) {
    DAYBREAK_TRY(const double seconds, bench.repeat());
    result.tok_s.push_back(static_cast<double>(shape.batch * shape.tokens) / seconds);
  }
  std::ranges::sort(result.tok_s);
  count_traffic(model, before, bench.counters(), result);
  return result;
}

}  // namespace daybreak::cli
