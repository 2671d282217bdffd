// SPDX-License-Identifier: Apache-2.0
#include "engine/prompt_logprobs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/model_runner.h"
#include "engine/session.h"
#include "testing/paths.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

// The same by its definition, in double precision with the library's functions.
PromptLogprob by_definition(std::span<const float> row, TokenId id, std::uint32_t count) {
  double sum = 0;
  for (const float logit : row) {
    sum += std::exp(static_cast<double>(logit));
  }
  std::vector<TokenId> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(
      order, [&](TokenId a, TokenId b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
  const auto logprob = [&](TokenId of) { return static_cast<float>(row[of] - std::log(sum)); };
  PromptLogprob out{.id = id, .logprob = logprob(id), .rank = 0, .top = {}};
  out.rank = static_cast<std::uint32_t>(std::ranges::find(order, id) - order.begin() + 1);
  for (std::uint32_t i = 0; i < count && i < order.size(); ++i) {
    out.top.push_back({order[i], logprob(order[i])});
  }
  return out;
}

void expect_near(const PromptLogprob& found, const PromptLogprob& expected) {
  EXPECT_EQ(found.id, expected.id);
  EXPECT_EQ(found.rank, expected.rank);
  EXPECT_NEAR(found.logprob, expected.logprob, 1e-5);
  ASSERT_EQ(found.top.size(), expected.top.size());
  for (std::size_t i = 0; i < found.top.size(); ++i) {
    EXPECT_EQ(found.top[i].id, expected.top[i].id);
    EXPECT_NEAR(found.top[i].logprob, expected.top[i].logprob, 1e-5);
  }
}

TEST(PromptLogprobs, AnIdIsRatedAsTheDefinitionSays) {
  Rng rng(3);
  std::vector<float> row(700);
  for (int round = 0; round < 50; ++round) {
    for (float& logit : row) {
      logit = static_cast<float>(rng.below(40)) * 0.25F - 5.0F;  // many ties
    }
    const TokenId id = rng.below(700);
    const std::uint32_t count = rng.below(21);
    const auto rated = rate_prompt_id(row, id, count, 1);
    ASSERT_TRUE(rated);
    expect_near(*rated, by_definition(row, id, count));
  }
}

TEST(PromptLogprobs, ARowThatIsNotFiniteIsAnError) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    std::vector<float> row(40, 1.0F);
    row[17] = bad;
    const auto rated = rate_prompt_id(row, 3, 2, 9);
    ASSERT_FALSE(rated);
    EXPECT_EQ(rated.error().code, Errc::kCorrupt);
    EXPECT_NE(rated.error().message.find("token id 17 at position 9"), std::string::npos);
  }
}

TEST(PromptLogprobs, RowsAreSharedEvenlyAndWholly) {
  using Counts = std::vector<std::size_t>;
  EXPECT_EQ(share_rows(Counts{}, 8), Counts{});
  EXPECT_EQ(share_rows(Counts{100}, 8), (Counts{8}));
  EXPECT_EQ(share_rows(Counts{100, 100, 100}, 8), (Counts{3, 3, 2}));
  EXPECT_EQ(share_rows(Counts{0, 2, 100}, 8), (Counts{0, 2, 6}));
  EXPECT_EQ(share_rows(Counts{9, 9, 9}, 2), (Counts{1, 1, 0}));
  Rng rng(5);
  for (int round = 0; round < 2000; ++round) {
    Counts wanted(rng.below(6));
    for (std::size_t& one : wanted) {
      one = rng.below(30);
    }
    const std::size_t rows = 1 + rng.below(64);
    const Counts share = share_rows(wanted, rows);
    std::size_t given = 0;
    std::size_t all = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_LE(share[i], wanted[i]);
      given += share[i];
      all += wanted[i];
    }
    EXPECT_EQ(given, std::min(all, rows));
  }
}

GenerateRequest request(std::uint64_t which, std::size_t vocab, std::size_t prompt_tokens,
                        std::size_t max_tokens) {
  GenerateRequest r;
  Rng rng(which);
  for (std::size_t i = 0; i < prompt_tokens; ++i) {
    r.prompt.push_back(rng.below(static_cast<std::uint32_t>(vocab)));
  }
  r.max_tokens = max_tokens;
  r.sampling.seed = which;
  r.prompt_logprobs = 3;
  return r;
}

// What must be reported: every prefix in a sequence of its own, read whole, its last row alone.
std::vector<PromptLogprob> by_prefixes(StepModel& model, const GenerateRequest& r) {
  std::vector<PromptLogprob> out;
  std::vector<float> row(model.vocab_size());
  for (std::size_t length = 1; length < r.prompt.size(); ++length) {
    const auto sequence = *model.acquire(length);
    const std::span<const TokenId> prefix = std::span(r.prompt).first(length);
    EXPECT_TRUE(model.forward(std::vector<StepChunk>{{sequence.get(), prefix, row}}));
    out.push_back(*rate_prompt_id(row, r.prompt[length], *r.prompt_logprobs, length));
  }
  return out;
}

void expect_equal(const std::vector<PromptLogprob>& found,
                  const std::vector<PromptLogprob>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].id, expected[i].id) << i;
    EXPECT_EQ(found[i].logprob, expected[i].logprob) << i;  // the same bits
    EXPECT_EQ(found[i].rank, expected[i].rank) << i;
    EXPECT_EQ(found[i].top, expected[i].top) << i;
  }
}

// Requests 0, 2, 4 ask for the prompt's log-probabilities, the others do not: all answers are those
// of an engine that has nothing else to do.
template <class MakeModel>
void check_company(const MakeModel& make_model, std::size_t vocab) {
  std::array<GenerateRequest, 6> requests;
  std::array<std::vector<PromptLogprob>, 6> prompts;
  std::array<Ids, 6> answers;
  const auto reference = make_model();
  for (std::uint64_t i = 0; i < 6; ++i) {
    requests[i] = request(i, vocab, i == 0 ? 1 : 3 + 9 * i, i == 4 ? 0 : 4 + i);
    prompts[i] = i % 2 == 0 ? by_prefixes(*reference, requests[i]) : std::vector<PromptLogprob>();
    GenerateRequest plain = requests[i];
    plain.prompt_logprobs.reset();
    Session session(*reference);
    ASSERT_TRUE(session.generate(plain, {.on_token =
                                             [&](const GeneratedToken& token) {
                                               answers[i].push_back(token.id);
                                               return true;
                                             },
                                         .on_prompt = {},
                                         .on_prompt_logits = {}}));
    if (i % 2 == 1) {
      requests[i] = plain;
    }
  }
  for (const std::size_t step_tokens : {1U, 7U, 512U}) {
    for (const std::size_t prompt_rows : {1U, 5U, 64U}) {
      SCOPED_TRACE(std::to_string(step_tokens) + " ids, " + std::to_string(prompt_rows) + " rows");
      const auto engine =
          *Engine::start(make_model(), {.step_tokens = step_tokens, .prompt_rows = prompt_rows});
      std::array<AnswerCollector, 6> found;
      for (std::size_t i = 0; i < 6; ++i) {
        ASSERT_TRUE(engine->submit(requests[i], found[i].fn()));
      }
      for (std::size_t i = 0; i < 6; ++i) {
        SCOPED_TRACE(i);
        EXPECT_EQ(found[i].wait(), FinishReason::kLength);
        EXPECT_EQ(found[i].ids(), answers[i]);
        expect_equal(found[i].prompt(), prompts[i]);
      }
    }
  }
}

TEST(PromptLogprobs, AreThoseOfThePrefixesWhateverTheBudgetAndTheCompany) {
  FakeModel::Observer observer;
  check_company([&] { return std::make_unique<FakeModel>(FakeModelOptions{.slots = 4}, observer); },
                50);
}

TEST(PromptLogprobs, AreBitForBitThoseOfThePrefixesWithARealModel) {
  for (const char* name : {"k3-all-on", "kimi-linear", "odd-sizes"}) {
    SCOPED_TRACE(name);
    auto loaded =
        model::Model::load(testing::source_path(std::string("testdata/checkpoints/") + name));
    ASSERT_TRUE(loaded) << loaded.error().message;
    const std::shared_ptr<const model::Model> model = *std::move(loaded);
    check_company(
        [&] {
          return *ModelRunner::create(model,
                                      {.threads = 2, .max_sequences = 4, .max_positions = 512});
        },
        model->config().vocab_size);
  }
}

TEST(PromptLogprobs, OneStepComputesAtMostTheRowsItMay) {
  FakeModel::Observer observer;
  std::atomic<std::size_t> most = 0;
  observer.before_step = [&](std::span<const StepChunk> chunks) {
    std::size_t rows = 0;
    for (const StepChunk& chunk : chunks) {
      rows += chunk.logits.size() > 50 ? chunk.logits.size() / 50 : 0;
    }
    most = std::max(most.load(), rows);
    return ok();
  };
  const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer),
                                     {.step_tokens = 100, .prompt_rows = 6});
  std::array<AnswerCollector, 3> answers;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(engine->submit(request(i, 50, 90, 0), answers[i].fn()));
  }
  for (AnswerCollector& answer : answers) {
    answer.wait();
    EXPECT_EQ(answer.prompt().size(), 89U);
  }
  EXPECT_EQ(most, 6U);
}

TEST(PromptLogprobs, WhoHasNoRowInAStepDoesNotWaitForAMask) {
  FakeModel::Observer observer;
  const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer),
                                     {.step_tokens = 100, .prompt_rows = 1, .timeline_steps = 100});
  std::array<AnswerCollector, 3> answers;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(engine->submit(request(i, 50, 20, 0), answers[i].fn()));
  }
  for (AnswerCollector& answer : answers) {
    answer.wait();
  }
  EXPECT_EQ(engine->stats().mask_waits, 0U);
  std::size_t sat_out = 0;
  for (const StepRecord& step : engine->steps()) {
    EXPECT_EQ(step.sat_out, step.running - step.feeds.size());
    sat_out += step.sat_out;
  }
  EXPECT_GT(sat_out, 0U) << "nobody went without a row: this tests nothing";
}

TEST(PromptLogprobs, ABadRowEndsItsOwnRequestAlone) {
  FakeModel::Observer observer;
  observer.edit_logits = [](const Sequence& sequence, std::span<float> row) {
    if (sequence.position() == 5) {
      row[3] = std::numeric_limits<float>::quiet_NaN();
    }
  };
  const auto engine =
      *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer), EngineOptions{});
  AnswerCollector bad;
  AnswerCollector good;
  GenerateRequest other = request(2, 50, 10, 3);
  other.prompt_logprobs.reset();  // no row of position 5 is looked at
  ASSERT_TRUE(engine->submit(request(1, 50, 10, 3), bad.fn()));
  ASSERT_TRUE(engine->submit(other, good.fn()));
  EXPECT_EQ(bad.wait(), FinishReason::kError);
  EXPECT_NE(bad.error().find("token id 3 at position 5"), std::string::npos) << bad.error();
  EXPECT_EQ(good.wait(), FinishReason::kLength);
  EXPECT_EQ(engine->stats().nonfinite_rows, 1U);
  EXPECT_EQ(observer.alive, 1U) << "the good one's, which is kept";
}

TEST(PromptLogprobs, NothingIsGeneratedWithMaxTokensZero) {
  FakeModel::Observer observer;
  const auto engine =
      *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{.context_tokens = 10}, observer),
                     EngineOptions{});
  GenerateRequest plain = request(1, 50, 10, 0);  // all of the context
  plain.prompt_logprobs.reset();
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(plain, answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kLength);
  EXPECT_TRUE(answer.ids().empty());
  EXPECT_TRUE(answer.prompt().empty());
  EXPECT_EQ(answer.usage().prompt_tokens, 10U);
  const auto too_long = engine->submit(request(1, 50, 11, 0), [](const Update&) {});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, Errc::kTooLarge);
  GenerateRequest too_many = request(1, 50, 5, 0);
  too_many.prompt_logprobs = kMaxTopLogprobs + 1;
  ASSERT_FALSE(engine->submit(too_many, [](const Update&) {}));
  FakeModel kept({}, observer);
  Session session(kept);
  const auto unsupported = session.generate(request(1, 50, 5, 0), {});
  ASSERT_FALSE(unsupported);
  EXPECT_EQ(unsupported.error().code, Errc::kUnsupported);
}

}  // namespace
}  // namespace daybreak::engine
