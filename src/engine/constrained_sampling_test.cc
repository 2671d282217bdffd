// SPDX-License-Identifier: Apache-2.0
// What a constraint changes in an answer, and what it must not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/mask.h"
#include "engine/sampler.h"
#include "engine/scripted_constraint.h"
#include "engine/session.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;
using Row = std::vector<float>;

constexpr std::size_t kVocab = 75;  // not a multiple of 32
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Row random_row(Rng& rng, std::size_t size = kVocab) {
  Row row(size);
  for (float& logit : row) {
    logit = static_cast<float>(rng.below(4096)) / 256.0F - 8.0F;
  }
  return row;
}

Ids random_subset(Rng& rng, std::size_t size = kVocab) {
  Ids ids;
  const std::uint64_t in_eight = 1 + rng.below(7);
  for (TokenId id = 0; id < size; ++id) {
    if (rng.below(8) < in_eight) {
      ids.push_back(id);
    }
  }
  if (ids.empty()) {
    ids.push_back(static_cast<TokenId>(rng.below(static_cast<std::uint32_t>(size))));
  }
  return ids;
}

Ids complement(const Ids& ids, std::size_t size = kVocab) {
  Ids out;
  for (TokenId id = 0; id < size; ++id) {
    if (!std::ranges::binary_search(ids, id)) {
      out.push_back(id);
    }
  }
  return out;
}

GenerateRequest request(const SamplingParams& sampling = {}) {
  GenerateRequest r;
  r.prompt = {1, 2, 3};
  r.max_tokens = 1'000'000;
  r.sampling = sampling;
  return r;
}

// Greedy and sampled, every filter and penalty alone and together.
std::vector<SamplingParams> every_kind() {
  return {
      {.temperature = 0},
      {.temperature = 0, .repetition_penalty = 1.3F, .frequency_penalty = 0.5F},
      {},
      {.temperature = 0.3F},
      {.top_p = 0.7F},
      {.top_k = 5},
      {.min_p = 0.05F},
      {.typical_p = 0.6F},
      {.temperature = 1.5F, .top_p = 0.9F, .top_k = 20, .min_p = 0.01F, .typical_p = 0.9F},
      {.temperature = 0.8F, .repetition_penalty = 0.7F, .presence_penalty = -1.0F},
      {.logit_bias = {{4, 100.0F}, {70, -100.0F}}, .logprobs = 3},
  };
}

struct Draws {
  Ids ids;
  std::vector<float> logprobs;
  std::vector<std::vector<TokenLogprob>> top;
};

// 12 draws of one answer from random rows.
Draws draws(const GenerateRequest& r, std::uint64_t seed) {
  Rng rng(seed);
  Sampler sampler(r);
  SamplerScratch scratch;
  Draws out;
  for (int i = 0; i < 12; ++i) {
    Row row = random_row(rng);
    const Result<GeneratedToken> token = sampler.next(row, scratch);
    EXPECT_TRUE(token) << token.error().message;
    if (!token) {
      break;
    }
    out.ids.push_back(token->id);
    out.logprobs.push_back(token->logprob);
    out.top.push_back(token->top);
  }
  return out;
}

TEST(Mask, SetsExactlyTheForbiddenLogitsWhateverTheSize) {
  Rng rng(1);
  for (const std::size_t size : {1U, 2U, 31U, 32U, 33U, 63U, 64U, 65U, 75U, 1000U}) {
    for (int round = 0; round < 20; ++round) {
      const Ids allowed = random_subset(rng, size);
      Mask mask = mask_of(size, allowed);
      EXPECT_EQ(count_mask(mask, size), allowed.size());
      if (size % 32 != 0) {
        mask.back() |= ~0U << (size % 32);  // bits of no id
      }
      EXPECT_EQ(count_mask(mask, size), allowed.size());
      const Row before = random_row(rng, size);
      Row row = before;
      apply_mask(mask, row);
      for (TokenId id = 0; id < size; ++id) {
        const bool in = std::ranges::binary_search(allowed, id);
        EXPECT_EQ(in_mask(mask, id), in);
        EXPECT_EQ(row[id], in ? before[id] : -kInfinity) << id << " of " << size;
      }
    }
  }
}

TEST(ConstrainedSampling, AllowingEverythingChangesNothing) {
  for (SamplingParams params : every_kind()) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      params.seed = seed;
      const GenerateRequest free = request(params);
      GenerateRequest held = free;
      held.constraint = ScriptedConstraint::factory([](const Ids&) { return mask_of_all(kVocab); });
      EXPECT_EQ(draws(held, seed).ids, draws(free, seed).ids);
    }
  }
}

// Stop ids below min_tokens are exactly "logits set to -inf", by code that knows no constraints.
TEST(ConstrainedSampling, EqualsTheDrawFromTheRowWithForbiddenLogitsAtMinusInfinity) {
  Rng rng(2);
  for (SamplingParams params : every_kind()) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      params.seed = seed;
      const Ids allowed = random_subset(rng);
      GenerateRequest expected = request(params);
      expected.stop_ids = complement(allowed);
      expected.min_tokens = 1000;
      GenerateRequest held = request(params);
      held.constraint =
          ScriptedConstraint::factory([&](const Ids&) { return mask_of(kVocab, allowed); });
      const Draws got = draws(held, seed);
      EXPECT_EQ(got.ids, draws(expected, seed).ids);
      for (const TokenId id : got.ids) {
        EXPECT_TRUE(std::ranges::binary_search(allowed, id)) << id;
      }
    }
  }
}

TEST(ConstrainedSampling, LogprobsStayThoseOfTheRawRow) {
  GenerateRequest held = request({.temperature = 0, .logprobs = 2});
  held.constraint = ScriptedConstraint::factory([](const Ids&) { return mask_of(kVocab, {7}); });
  Row row(kVocab, -30.0F);
  row[3] = 2.0F;
  row[4] = 1.0F;
  row[7] = 0.0F;
  double sum = 0;
  for (const float logit : row) {
    sum += std::exp(static_cast<double>(logit));
  }
  SamplerScratch scratch;
  Sampler sampler(held);
  const Result<GeneratedToken> token = sampler.next(row, scratch);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->id, 7U);
  EXPECT_NEAR(token->logprob, -std::log(sum), 1e-6);
  ASSERT_EQ(token->top.size(), 2U);
  EXPECT_EQ(token->top[0].id, 3U);
  EXPECT_EQ(token->top[1].id, 4U);
}

TEST(ConstrainedSampling, EachTokenSeesTheMaskAfterTheOneBefore) {
  GenerateRequest held = request();
  held.constraint = ScriptedConstraint::factory([](const Ids& accepted) {
    return mask_of(kVocab, {static_cast<TokenId>(5 + 7 * accepted.size() % 70)});
  });
  const Draws got = draws(held, 1);
  for (std::size_t i = 0; i < got.ids.size(); ++i) {
    EXPECT_EQ(got.ids[i], 5 + 7 * i % 70);
  }
}

TEST(ConstrainedSampling, AMaskOfStopIdsAloneBeatsMinTokens) {
  GenerateRequest held = request({.temperature = 0});
  held.stop_ids = {9, 70, 9};
  held.min_tokens = 100;
  held.constraint = ScriptedConstraint::factory([](const Ids& accepted) {
    return accepted.size() < 2 ? mask_of(kVocab, {9, 11}) : mask_of(kVocab, {9, 70});
  });
  const Draws got = draws(held, 1);
  ASSERT_EQ(got.ids.size(), 12U);
  EXPECT_EQ(got.ids[0], 11U);  // something else than a stop id is possible: min_tokens holds
  EXPECT_EQ(got.ids[1], 11U);
  EXPECT_TRUE(got.ids[2] == 9 || got.ids[2] == 70) << got.ids[2];
}

TEST(ConstrainedSampling, ABrokenConstraintIsAnErrorThatSaysSo) {
  const auto fails_with = [](const ConstraintFactory& constraint, const std::string& words) {
    GenerateRequest r = request();
    r.constraint = constraint;
    Sampler sampler(r);
    SamplerScratch scratch;
    Row row(kVocab, 1.0F);
    const Result<GeneratedToken> token = sampler.next(row, scratch);
    ASSERT_FALSE(token);
    EXPECT_EQ(token.error().code, Errc::kCorrupt);
    EXPECT_NE(token.error().message.find(words), std::string::npos) << token.error().message;
    EXPECT_TRUE(sampler.constraint_broken());
  };
  Mask beyond = mask_of(kVocab, {});
  beyond.back() = ~0U << (kVocab % 32);  // only ids that do not exist
  fails_with(ScriptedConstraint::factory([&](const Ids&) { return mask_of(kVocab, {}); }),
             "expected an id that may come next, found none at position 3");
  fails_with(ScriptedConstraint::factory([&](const Ids&) { return beyond; }), "found none");
  fails_with(ScriptedConstraint::factory([&](const Ids&) { return Mask(2, ~0U); }),
             "expected a mask of 3 words, found 2");
  fails_with([] { return std::make_unique<RefusingConstraint>(); }, "is in the mask and refused");
}

TEST(ConstrainedSampling, ANonFiniteRowIsNoFaultOfTheConstraint) {
  GenerateRequest r = request();
  r.constraint = ScriptedConstraint::factory([](const Ids&) { return mask_of(kVocab, {1}); });
  Sampler sampler(r);
  SamplerScratch scratch;
  Row row(kVocab, 1.0F);
  row[40] = kInfinity;  // forbidden, and still the model's fault
  const Result<GeneratedToken> token = sampler.next(row, scratch);
  ASSERT_FALSE(token);
  EXPECT_FALSE(sampler.constraint_broken());
}

TEST(ConstrainedSampling, PenaltiesThatOverflowEveryAllowedLogitAreNamed) {
  GenerateRequest r = request({.repetition_penalty = 10.0F});  // of id 1 of the prompt
  r.constraint = ScriptedConstraint::factory([](const Ids&) { return mask_of(kVocab, {1}); });
  Sampler sampler(r);
  SamplerScratch scratch;
  Row row(kVocab, -3e38F);
  const Result<GeneratedToken> token = sampler.next(row, scratch);
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, Errc::kInvalidArgument);
  EXPECT_NE(token.error().message.find("penalties"), std::string::npos) << token.error().message;
}

constexpr std::size_t kFakeVocab = 50;

GenerateRequest engine_request(std::uint64_t seed) {
  GenerateRequest r;
  r.prompt = {1, static_cast<TokenId>(seed), 3, 4, 5};
  r.max_tokens = 30;
  r.stop_ids = {0};
  r.sampling.seed = seed;
  return r;
}

// "10 to 19 alternate with 20 to 29, six times; then the end."
ConstraintFactory alternation() {
  return ScriptedConstraint::factory([](const Ids& accepted) {
    Ids allowed;
    for (TokenId id = 0; id < 10 && accepted.size() < 6; ++id) {
      allowed.push_back(id + (accepted.size() % 2 == 0 ? 10 : 20));
    }
    return mask_of(kFakeVocab, allowed.empty() ? Ids{0} : allowed);
  });
}

TEST(ConstrainedEngine, ConstrainedAndFreeAnswersDoNotDisturbEachOther) {
  FakeModel::Observer observer;
  const auto engine =
      *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer), {.step_tokens = 4});
  AnswerCollector answers[8];
  for (std::uint64_t i = 0; i < 8; ++i) {
    GenerateRequest r = engine_request(i);
    if (i % 2 == 0) {
      r.constraint = alternation();
    }
    ASSERT_TRUE(engine->submit(std::move(r), answers[i].fn()));
  }
  for (std::uint64_t i = 0; i < 8; ++i) {
    const FinishReason reason = answers[i].wait();
    if (i % 2 == 0) {
      EXPECT_EQ(reason, FinishReason::kStop);
      ASSERT_EQ(answers[i].ids().size(), 7U);
      for (std::size_t k = 0; k < 6; ++k) {
        EXPECT_EQ(answers[i].ids()[k] / 10, k % 2 == 0 ? 1U : 2U);
      }
    }
    // The same, alone and through a Session.
    FakeModel::Observer other;
    FakeModel model({}, other);
    Session session(model);
    GenerateRequest r = engine_request(i);
    if (i % 2 == 0) {
      r.constraint = alternation();
    }
    Ids ids;
    SessionCallbacks callbacks;
    callbacks.on_token = [&](const GeneratedToken& token) {
      ids.push_back(token.id);
      return true;
    };
    const auto answer = session.generate(r, callbacks);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->finish, reason);
    EXPECT_EQ(ids, answers[i].ids());
  }
}

TEST(ConstrainedEngine, LengthCutsAConstrainedAnswerAndSaysSo) {
  FakeModel::Observer observer;
  const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer), {});
  AnswerCollector answer;
  GenerateRequest r = engine_request(1);
  r.max_tokens = 6;
  r.constraint = alternation();
  ASSERT_TRUE(engine->submit(std::move(r), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kLength);
}

TEST(ConstrainedEngine, ABrokenConstraintEndsItsRequestAndNoOther) {
  FakeModel::Observer observer;
  const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer), {});
  AnswerCollector good;
  AnswerCollector refused;
  AnswerCollector stuck;
  GenerateRequest r = engine_request(1);
  r.constraint = alternation();
  ASSERT_TRUE(engine->submit(r, good.fn()));
  r.constraint = [] { return std::make_unique<RefusingConstraint>(); };
  ASSERT_TRUE(engine->submit(r, refused.fn()));
  r.constraint = ScriptedConstraint::factory([](const Ids& accepted) {
    return accepted.size() < 3 ? mask_of_all(kFakeVocab) : mask_of(kFakeVocab, {});
  });
  r.stop_ids = {};
  ASSERT_TRUE(engine->submit(r, stuck.fn()));
  EXPECT_EQ(good.wait(), FinishReason::kStop);
  EXPECT_EQ(refused.wait(), FinishReason::kError);
  EXPECT_EQ(stuck.wait(), FinishReason::kError);
  EXPECT_EQ(stuck.ids().size(), 3U);
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.broken_constraints, 2U);
  EXPECT_EQ(stats.nonfinite_rows, 0U);
}

TEST(ConstrainedEngine, OneConstraintIsMadeForEachAnswerThatStarts) {
  FakeModel::Observer observer;
  const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer), {});
  std::atomic<int> made{0};
  GenerateRequest r = engine_request(1);
  r.constraint = [&made, inner = alternation()] {
    ++made;
    return inner();
  };
  AnswerCollector answers[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    r.sampling.choice = i;
    ASSERT_TRUE(engine->submit(r, answers[i].fn()));
  }
  for (AnswerCollector& answer : answers) {
    EXPECT_EQ(answer.wait(), FinishReason::kStop);
    EXPECT_EQ(answer.ids().size(), 7U);
  }
  EXPECT_EQ(made, 3);
}

}  // namespace
}  // namespace daybreak::engine
