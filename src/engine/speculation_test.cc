// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/scripted_constraint.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

// Two ids: what was once is soon again, and a guess is right about half of the time.
constexpr FakeModelOptions kModel{
    .vocab_size = 2, .context_tokens = 500, .slots = 3, .total_positions = 3000, .max_guesses = 8};

GenerateRequest request(std::uint64_t which, std::size_t prompt_tokens = 12,
                        std::size_t max_tokens = 60) {
  GenerateRequest r;
  Rng rng(which);
  for (std::size_t i = 0; i < prompt_tokens; ++i) {
    r.prompt.push_back(rng.below(2));
  }
  r.max_tokens = max_tokens;
  r.sampling.seed = which;
  return r;
}

std::unique_ptr<Engine> start(FakeObserver& observer, const EngineOptions& options,
                              const FakeModelOptions& model = kModel) {
  Result<std::unique_ptr<Engine>> engine =
      Engine::start(std::make_unique<FakeModel>(model, observer), options);
  EXPECT_TRUE(engine) << (engine ? "" : engine.error().message);
  return *std::move(engine);
}

EngineOptions guessing(std::size_t most = 7, std::size_t min_match = 2) {
  EngineOptions options;
  options.speculation = {.method = SpeculationMethod::kNgram, .most = most, .min_match = min_match};
  return options;
}

Ids answer_of(Engine& engine, const GenerateRequest& r) {
  AnswerCollector answer;
  EXPECT_TRUE(engine.submit(r, answer.fn()));
  answer.wait();
  return answer.ids();
}

std::vector<GeneratedToken> tokens_of(Engine& engine, const GenerateRequest& r) {
  std::vector<GeneratedToken> tokens;
  AnswerCollector answer;
  EXPECT_TRUE(engine.submit(r, [&, tell = answer.fn()](const Update& update) {
    tokens.insert(tokens.end(), update.tokens.begin(), update.tokens.end());
    tell(update);
  }));
  answer.wait();
  return tokens;
}

Ids expected(const GenerateRequest& r) {
  FakeObserver observer;
  return answer_of(*start(observer, {}), r);
}

TEST(Speculation, AnswersAreTheSameInFewerSteps) {
  for (const std::size_t most : {1U, 2U, 3U, 7U, 8U}) {
    for (const std::size_t step_tokens : {1U, 2U, 5U, 512U}) {
      SCOPED_TRACE(::testing::Message() << most << " guesses, " << step_tokens << " ids a step");
      FakeObserver observer;
      EngineOptions options = guessing(most);
      options.step_tokens = step_tokens;
      const auto engine = start(observer, options);
      for (std::uint64_t i = 0; i < 5; ++i) {
        ASSERT_EQ(answer_of(*engine, request(i)), expected(request(i))) << i;
      }
      const Stats stats = engine->stats();
      EXPECT_EQ(stats.generated_tokens, 5 * 60U);
      EXPECT_EQ(stats.accepted_tokens,
                std::accumulate(stats.accepted_at.begin(), stats.accepted_at.end(), 0U));
      if (step_tokens == 1) {
        EXPECT_EQ(stats.drafts, 0U) << "no id is left to guess with";
      } else {
        EXPECT_GT(stats.accepted_tokens, 50U);
        EXPECT_LT(stats.accepted_tokens, stats.draft_tokens);
        EXPECT_EQ(stats.decode_tokens, 5 * 59U) << "guesses that were wrong count";
        EXPECT_LT(stats.steps, 5 * 61 - stats.accepted_tokens + 5 * 12);
      }
    }
  }
}

TEST(Speculation, NoGuessGoesPastTheEndOfTheAnswerOrOfWhatIsReserved) {
  FakeObserver observer;
  observer.before_step = [&](std::span<const StepChunk> chunks) {
    for (const StepChunk& chunk : chunks) {
      EXPECT_LE(chunk.sequence->position() + chunk.ids.size(), 12U + 20U - 1U);
    }
    return ok();
  };
  const auto engine = start(observer, guessing());
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_EQ(answer_of(*engine, request(i, 12, 20)), expected(request(i, 12, 20)));
  }
}

TEST(Speculation, StopIdsEndAnAnswerInTheMiddleOfAGuess) {
  const FakeModelOptions model{.vocab_size = 5,
                               .context_tokens = 500,
                               .slots = 3,
                               .total_positions = 3000,
                               .max_guesses = 8};
  std::size_t inside = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    GenerateRequest r = request(i, 30, 80);
    r.stop_ids = {3};
    r.min_tokens = i % 4;
    FakeObserver observer;
    FakeObserver plain;
    const auto engine = start(observer, guessing(5, 1), model);
    ASSERT_EQ(answer_of(*engine, r), answer_of(*start(plain, {}, model), r)) << i;
    const Stats stats = engine->stats();
    inside += stats.accepted_tokens > 0 && stats.finished_stop == 1;
    EXPECT_EQ(stats.running, 0U);
  }
  EXPECT_GT(inside, 3U);
}

TEST(Speculation, PenaltiesAndLogprobsSeeTheTokensBeforeThemOnly) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    GenerateRequest r = request(i);
    r.sampling.frequency_penalty = 0.3F;
    r.sampling.presence_penalty = 0.2F;
    r.sampling.repetition_penalty = 1.1F;
    r.sampling.logprobs = 2;
    FakeObserver observer;
    const auto engine = start(observer, guessing(4));
    FakeObserver plain_observer;
    const auto plain = start(plain_observer, {});
    const std::vector<GeneratedToken> got = tokens_of(*engine, r);
    const std::vector<GeneratedToken> want = tokens_of(*plain, r);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t at = 0; at < got.size(); ++at) {
      ASSERT_EQ(got[at].id, want[at].id);
      ASSERT_EQ(got[at].logprob, want[at].logprob);
      ASSERT_EQ(got[at].top, want[at].top);
    }
    EXPECT_GT(engine->stats().accepted_tokens, 0U);
  }
}

TEST(Speculation, WithoutMemoryForGuessesTheAnswerComesWithoutThem) {
  FakeObserver observer;
  observer.before_guesses = [] { return false; };
  const auto engine = start(observer, guessing());
  EXPECT_EQ(answer_of(*engine, request(1)), expected(request(1)));
  EXPECT_EQ(engine->stats().drafts, 0U);
}

TEST(Speculation, NextToAPromptThatIsReadGuessesTakeAQuarterOfAStepAtMost) {
  FakeObserver observer;
  std::size_t most = 0;
  std::size_t together = 0;
  observer.before_step = [&](std::span<const StepChunk> chunks) {
    const bool reading = std::ranges::any_of(
        chunks, [](const StepChunk& chunk) { return chunk.guesses == 0 && chunk.ids.size() > 1; });
    std::size_t guesses = 0;
    std::size_t ids = 0;
    for (const StepChunk& chunk : chunks) {
      guesses += chunk.guesses;
      ids += chunk.ids.size();
    }
    EXPECT_LE(ids, 16U);
    if (reading) {
      most = std::max(most, guesses);
      together += guesses > 0;
    }
    return ok();
  };
  EngineOptions options = guessing();
  options.step_tokens = 16;
  const auto engine = start(observer, options);
  std::array<AnswerCollector, 12> answers;
  for (std::uint64_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(engine->submit(request(i, 30 + 10 * i, 40), answers[i].fn()));
  }
  for (std::uint64_t i = 0; i < answers.size(); ++i) {
    answers[i].wait();
    EXPECT_EQ(answers[i].ids(), expected(request(i, 30 + 10 * i, 40)));
  }
  EXPECT_GT(together, 0U);
  EXPECT_LE(most, 15U / 4);
}

// Cancelled at any moment, with guesses open: what is kept of the sequence is what a later request
// may go on from.
TEST(Speculation, WhatACancelledAnswerLeavesIsRightToGoOnFrom) {
  FakeModelOptions model = kModel;
  model.slots = 1;
  std::size_t reused = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    FakeObserver observer;
    const auto engine = start(observer, guessing(), model);
    GenerateRequest first = request(i, 20, 60);
    AnswerCollector answer;
    std::size_t left = 1 + i % 20;
    ASSERT_TRUE(engine->submit(first, [&, tell = answer.fn()](const Update& update) {
      tell(update);
      if (!update.tokens.empty() && --left == 0) {
        engine->cancel(RequestId{1});
      }
    }));
    answer.wait();
    GenerateRequest second = first;
    const Ids so_far = answer.ids();
    second.prompt.insert(second.prompt.end(), so_far.begin(), so_far.end());
    second.prompt.push_back(1);
    second.sampling.seed = i + 1;
    ASSERT_EQ(answer_of(*engine, second), expected(second)) << i;
    reused += engine->stats().prefix_hits > 20 ? 1 : 0;
  }
  EXPECT_GT(reused, 30U);
}

// What ends an answer in the middle of its guesses ends it as without them, after the same tokens.
TEST(Speculation, RowsThatAreNotFiniteAreTheSameFault) {
  std::size_t inside = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const auto spoil = [](const Sequence& /*sequence*/, std::span<float> row) {
      // Told by the row itself, which guesses do not change.
      if (std::bit_cast<std::uint32_t>(row[0]) / 64 % 23 == 0) {
        row[1] = std::numeric_limits<float>::quiet_NaN();
      }
    };
    FakeObserver observer;
    FakeObserver plain_observer;
    observer.edit_logits = spoil;
    plain_observer.edit_logits = spoil;
    const auto engine = start(observer, guessing());
    const auto plain = start(plain_observer, {});
    AnswerCollector got;
    AnswerCollector want;
    ASSERT_TRUE(engine->submit(request(i), got.fn()));
    ASSERT_TRUE(plain->submit(request(i), want.fn()));
    ASSERT_EQ(got.wait(), want.wait());
    ASSERT_EQ(got.ids(), want.ids());
    ASSERT_EQ(got.error(), want.error());
    inside += !got.error().empty() && engine->stats().accepted_tokens > 0;
    EXPECT_EQ(engine->stats().nonfinite_rows, plain->stats().nonfinite_rows);
  }
  EXPECT_GT(inside, 10U);
}

TEST(Speculation, ABrokenConstraintIsTheSameFault) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    GenerateRequest r = request(i);
    r.constraint = ScriptedConstraint::factory([i](const Ids& accepted) {
      return accepted.size() < 10 + i ? mask_of_all(2) : mask_of(2, {});
    });
    FakeObserver observer;
    FakeObserver plain_observer;
    const auto engine = start(observer, guessing());
    const auto plain = start(plain_observer, {});
    AnswerCollector got;
    AnswerCollector want;
    ASSERT_TRUE(engine->submit(r, got.fn()));
    ASSERT_TRUE(plain->submit(r, want.fn()));
    ASSERT_EQ(got.wait(), FinishReason::kError);
    ASSERT_EQ(want.wait(), FinishReason::kError);
    ASSERT_EQ(got.ids(), want.ids());
    ASSERT_EQ(got.error(), want.error());
    EXPECT_GT(engine->stats().accepted_tokens, 0U);
  }
}

TEST(Speculation, AnswersOfOneTokenOrNoneAndRatedPromptsMakeNoGuess) {
  for (const std::size_t max_tokens : {0U, 1U}) {
    GenerateRequest r = request(1, 30, max_tokens);
    if (max_tokens == 0) {
      r.prompt_logprobs = 0;
    }
    FakeObserver observer;
    const auto engine = start(observer, guessing());
    EXPECT_EQ(answer_of(*engine, r).size(), max_tokens);
    EXPECT_EQ(engine->stats().drafts, 0U);
  }
  GenerateRequest rated = request(2);
  rated.prompt_logprobs = 1;
  FakeObserver observer;
  const auto engine = start(observer, guessing());
  EXPECT_EQ(answer_of(*engine, rated), expected(rated));
  EXPECT_GT(engine->stats().accepted_tokens, 0U);
}

TEST(Speculation, MemoryForGuessesIsTakenWithTheFirstGuess) {
  FakeObserver observer;
  std::size_t prepared = 0;
  observer.before_guesses = [&] { return ++prepared > 0; };
  FakeModelOptions model = kModel;
  model.vocab_size = 5000;  // nothing repeats
  const auto engine = start(observer, guessing(), model);
  GenerateRequest r = request(1, 3, 30);
  answer_of(*engine, r);
  EXPECT_EQ(engine->stats().drafts, 0U);
  EXPECT_EQ(prepared, 0U);
}

// A turn that goes on from the last complete block of the answer, and not from all of it.
TEST(Speculation, ThePrefixCacheGetsTheSameCheckpointsOfAnAnswer) {
  FakeModelOptions model = kModel;
  model.checkpoints = 8;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const GenerateRequest first = request(i, 20, 200);
    const Ids answer = expected(first);
    GenerateRequest second = first;
    const std::size_t in_blocks = (20 + 199) / 64 * 64;
    second.prompt.insert(second.prompt.end(), answer.begin(),
                         answer.begin() + static_cast<std::ptrdiff_t>(in_blocks - 20));
    second.prompt.push_back(1 - answer[in_blocks - 20]);
    FakeObserver observer;
    const auto engine = start(observer, guessing(), model);
    answer_of(*engine, first);
    ASSERT_EQ(answer_of(*engine, second), expected(second)) << i;
    EXPECT_EQ(engine->stats().prefix_hits, in_blocks) << i;
  }
}

TEST(Speculation, OptionsOutsideTheirRangeAreRefused) {
  FakeObserver observer;
  const auto refused = [&](const EngineOptions& options, const FakeModelOptions& model) {
    const auto engine = Engine::start(std::make_unique<FakeModel>(model, observer), options);
    return engine ? "" : engine.error().message;
  };
  FakeModelOptions without = kModel;
  without.max_guesses = 0;
  EXPECT_EQ(refused(guessing(), without), "speculation: the model takes no guesses");
  EXPECT_EQ(refused(guessing(9), kModel), "speculation.most: expected 1 to 8, found 9");
  EXPECT_EQ(refused(guessing(0), kModel), "speculation.most: expected 1 to 8, found 0");
  EXPECT_EQ(refused(guessing(8, 17), kModel), "speculation.min_match: expected 1 to 16, found 17");
}

}  // namespace
}  // namespace daybreak::engine
