// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_speculation_run.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/rng.h"
#include "engine/engine.h"
#include "engine/model_runner.h"
#include "kernels/float_environment.h"

namespace daybreak::cli {
namespace {

using Ids = std::vector<TokenId>;

// A model whose rows draw the id at the next position of a text.
class TextModel final : public engine::StepModel {
 public:
  TextModel(std::unique_ptr<engine::StepModel> model, std::shared_ptr<const Ids> text)
      : model_(std::move(model)), text_(std::move(text)) {}

  std::size_t vocab_size() const override { return model_->vocab_size(); }
  std::size_t context_tokens() const override { return model_->context_tokens(); }
  std::size_t slots() const override { return model_->slots(); }
  std::size_t total_positions() const override { return model_->total_positions(); }
  std::size_t free_positions() const override { return model_->free_positions(); }
  std::size_t block_positions() const override { return model_->block_positions(); }
  std::size_t max_guesses() const override { return model_->max_guesses(); }
  Result<std::unique_ptr<engine::Sequence>> acquire(std::size_t positions) override {
    return model_->acquire(positions);
  }
  Result<std::unique_ptr<engine::Sequence>> acquire_from(const engine::Beginning& beginning,
                                                         std::size_t positions) override {
    return model_->acquire_from(beginning, positions);
  }

  Status forward(std::span<const engine::StepChunk> chunks) override {
    DAYBREAK_CHECK_OK(model_->forward(chunks));
    for (const engine::StepChunk& chunk : chunks) {
      const std::size_t end = chunk.sequence->position() + chunk.guesses;
      const std::size_t rows = chunk.logits.size() / vocab_size();
      for (std::size_t row = 0; row < rows; ++row) {
        const std::span<float> logits = chunk.logits.subspan(row * vocab_size(), vocab_size());
        const std::size_t next = end - rows + 1 + row;
        if (next < text_->size()) {
          logits[(*text_)[next]] = 1e6F;
        }
      }
    }
    return ok();
  }

 private:
  const std::unique_ptr<engine::StepModel> model_;
  const std::shared_ptr<const Ids> text_;
};

// The prompt, and the answer behind it.
Ids text_of(SpeculationText kind, const SpeculationShape& shape, std::size_t vocab) {
  constexpr std::size_t kChangedOneIn = 20;
  Rng rng(1);
  Ids ids;
  while (ids.size() < shape.prompt + shape.tokens) {
    const std::size_t at = ids.size();
    const bool again =
        kind == SpeculationText::kRepetitive && at >= shape.prompt && at % kChangedOneIn != 0;
    const bool mislead = kind == SpeculationText::kMisleading && at % 4 != 3;
    ids.push_back(again     ? ids[at - shape.prompt]
                  : mislead ? static_cast<TokenId>(at % 4)
                            : rng.below(static_cast<std::uint32_t>(vocab)));
  }
  return ids;
}

class TextRun {
 public:
  TextRun(const std::shared_ptr<const model::Model>& model, std::shared_ptr<const Ids> text,
          const SpeculationShape& shape)
      : model_(model), text_(std::move(text)), shape_(shape) {}

  Status start(const engine::SpeculationOptions& speculation) {
    const bool guesses = speculation.method != engine::SpeculationMethod::kNone;
    DAYBREAK_TRY(auto runner, engine::ModelRunner::create(
                                  model_, {.threads = shape_.threads,
                                           .max_sequences = 1,
                                           .max_positions = text_->size(),
                                           .max_guesses = guesses ? speculation.most : 0,
                                           .on_thread_start = kernels::set_float_environment}));
    DAYBREAK_TRY(engine_,
                 engine::Engine::start(
                     std::make_unique<TextModel>(std::move(runner), text_),
                     {.prefix_reuse = engine::PrefixReuse::kOff, .speculation = speculation}));
    return ok();
  }

  // Returns the tokens per second of one answer, after the first.
  Result<double> answer() {
    engine::GenerateRequest request;
    request.prompt.assign(text_->begin(),
                          text_->begin() + static_cast<std::ptrdiff_t>(shape_.prompt));
    request.max_tokens = shape_.tokens;
    request.sampling.temperature = 0.0F;
    std::promise<Result<double>> told;
    Ids ids;
    const auto update = [&](const engine::Update& u) {
      for (const engine::GeneratedToken& token : u.tokens) {
        ids.push_back(token.id);
      }
      if (u.error != nullptr) {
        told.set_value(*u.error);
      } else if (u.finish) {
        told.set_value(static_cast<double>(shape_.tokens - 1) /
                       seconds_between(*u.times.first_token, *u.times.finished));
      }
    };
    DAYBREAK_TRY([[maybe_unused]] const auto id, engine_->submit(std::move(request), update));
    DAYBREAK_TRY(const double speed, told.get_future().get());
    if (!std::equal(ids.begin(), ids.end(),
                    text_->begin() + static_cast<std::ptrdiff_t>(shape_.prompt))) {
      return Error{Errc::kCorrupt, "the answer is not the text it was to be"};
    }
    return speed;
  }

  [[nodiscard]] engine::Stats stats() const { return engine_->stats(); }

 private:
  std::shared_ptr<const model::Model> model_;
  std::shared_ptr<const Ids> text_;
  SpeculationShape shape_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace

Result<SpeculationResult> run_speculation_bench(const std::shared_ptr<const model::Model>& model,
                                                SpeculationText text,
                                                const SpeculationShape& shape) {
  const auto ids = std::make_shared<const Ids>(text_of(text, shape, model->config().vocab_size));
  TextRun plain(model, ids, shape);
  TextRun guessing(model, ids, shape);
  DAYBREAK_CHECK_OK(plain.start({}));
  DAYBREAK_CHECK_OK(guessing.start(shape.speculation));
  SpeculationResult result;
  for (std::size_t i = 0; i < shape.repeat; ++i) {
    DAYBREAK_TRY(const double without, plain.answer());
    DAYBREAK_TRY(const double with, guessing.answer());
    result.plain_tok_s.push_back(without);
    result.guessing_tok_s.push_back(with);
  }
  std::ranges::sort(result.plain_tok_s);
  std::ranges::sort(result.guessing_tok_s);
  const engine::Stats stats = guessing.stats();
  result.drafts = stats.drafts;
  result.draft_tokens = stats.draft_tokens;
  result.accepted_tokens = stats.accepted_tokens;
  return result;
}

}  // namespace daybreak::cli
