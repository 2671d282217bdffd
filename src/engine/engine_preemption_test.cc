// SPDX-License-Identifier: Apache-2.0
// Answers that outgrow the memory: who goes on, who waits again, and that nobody's answer changes.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/latch_constraint.h"
#include "engine/step_gate.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

GenerateRequest request(std::uint64_t which, std::size_t prompt_tokens, std::size_t max_tokens) {
  GenerateRequest r;
  Rng rng(which);
  for (std::size_t i = 0; i < prompt_tokens; ++i) {
    r.prompt.push_back(rng.below(50));
  }
  r.max_tokens = max_tokens;
  r.sampling.seed = which;
  r.sampling.frequency_penalty = 0.5F;  // what was drawn before counts
  return r;
}

std::unique_ptr<Engine> start(FakeModel::Observer& observer, std::size_t positions,
                              std::size_t checkpoints = 0, PrefixReuse reuse = PrefixReuse::kOn) {
  const FakeModelOptions model{.context_tokens = 400,
                               .slots = 4,
                               .total_positions = positions,
                               .checkpoints = checkpoints,
                               .max_guesses = 4};
  return *Engine::start(std::make_unique<FakeModel>(model, observer),
                        {.step_tokens = 40,
                         .answer_reserve = 8,
                         .prefix_reuse = reuse,
                         .speculation = {.method = checkpoints % 2 == 1 ? SpeculationMethod::kNgram
                                                                        : SpeculationMethod::kNone,
                                         .most = 4,
                                         .min_match = 1}});
}

// The answer of an engine that has memory for everything.
Ids alone(const GenerateRequest& r) {
  FakeModel::Observer observer;
  const auto engine = start(observer, 4000);
  AnswerCollector answer;
  EXPECT_TRUE(engine->submit(r, answer.fn()));
  answer.wait();
  EXPECT_EQ(engine->stats().preemptions, 0U);
  return answer.ids();
}

TEST(EnginePreemption, AnswersThatOutgrowTheMemoryAreWhatTheyAreAlone) {
  for (const std::size_t checkpoints : {0U, 2U, 3U}) {
    for (const PrefixReuse reuse : {PrefixReuse::kOff, PrefixReuse::kOn}) {
      SCOPED_TRACE(checkpoints);
      FakeModel::Observer observer;
      const auto engine = start(observer, 400, checkpoints, reuse);
      AnswerCollector answers[6];
      for (std::uint64_t i = 0; i < 6; ++i) {
        ASSERT_TRUE(engine->submit(request(i, 10 + 15 * i, 200 + 10 * i), answers[i].fn()));
      }
      for (std::uint64_t i = 0; i < 6; ++i) {
        EXPECT_EQ(answers[i].wait(), FinishReason::kLength);
        const GenerateRequest r = request(i, 10 + 15 * i, 200 + 10 * i);
        EXPECT_EQ(answers[i].ids(), alone(r));
        EXPECT_EQ(answers[i].usage().prompt_tokens, r.prompt.size());
        EXPECT_EQ(answers[i].usage().completion_tokens, r.max_tokens);
        EXPECT_EQ(answers[i].usage().cached_tokens, 0U);  // its own work is no hit
      }
      const Stats stats = engine->stats();
      EXPECT_GT(stats.preemptions, 1U);
      EXPECT_EQ(stats.running, 0U);
      EXPECT_EQ(stats.queued, 0U);
      EXPECT_EQ(stats.positions_reserved, 0U);
      EXPECT_EQ(stats.finished_length, 6U);
      EXPECT_EQ(stats.prefix_hits, 0U);
    }
  }
}

TEST(EnginePreemption, WhoCameFirstIsNeverPreempted) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, 64, 0, PrefixReuse::kOff);
  AnswerCollector first;
  AnswerCollector second;
  ASSERT_TRUE(engine->submit(request(1, 10, 50), first.fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(request(2, 10, 50), second.fn()));
  gate.open_for_good();
  EXPECT_EQ(first.wait(), FinishReason::kLength);
  EXPECT_EQ(second.wait(), FinishReason::kLength);
  EXPECT_GT(second.times().finished, first.times().finished);
  EXPECT_EQ(engine->stats().preemptions, 1U);
  // Only the second one was computed twice.
  const Stats stats = engine->stats();
  EXPECT_GT(stats.prefill_tokens, 20U);
}

TEST(EnginePreemption, ThoseOfLowPriorityGoFirst) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, 64, 0, PrefixReuse::kOff);
  AnswerCollector low;
  AnswerCollector high;
  GenerateRequest important = request(2, 10, 50);
  important.priority = 5;
  ASSERT_TRUE(engine->submit(request(1, 10, 50), low.fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(important, high.fn()));
  gate.open_for_good();
  EXPECT_EQ(high.wait(), FinishReason::kLength);
  EXPECT_EQ(low.wait(), FinishReason::kLength);
  EXPECT_GT(low.times().finished, high.times().finished);
  EXPECT_EQ(engine->stats().preemptions, 1U);
  EXPECT_EQ(low.ids(), alone(request(1, 10, 50)));
}

// Two that fill the memory, the second of which has been preempted when this returns.
struct Preempted {
  explicit Preempted(GenerateRequest second_request) : gate(observer) {
    engine = start(observer, 64, 0, PrefixReuse::kOff);
    EXPECT_TRUE(engine->submit(request(1, 10, 50), first.fn()));
    gate.wait_entered();
    second_id = *engine->submit(std::move(second_request), second.fn());
    while (engine->stats().preemptions == 0) {
      gate.open();
      gate.wait_entered();
    }
    EXPECT_EQ(engine->stats().running, 1U);
    EXPECT_EQ(engine->stats().queued, 1U);
  }
  FakeModel::Observer observer;
  StepGate gate;
  AnswerCollector first;
  AnswerCollector second;
  std::unique_ptr<Engine> engine;
  RequestId second_id{};
};

TEST(EnginePreemption, APreemptedRequestCanBeCancelled) {
  Preempted two(request(2, 10, 50));
  two.engine->cancel(two.second_id);
  two.gate.open_for_good();
  EXPECT_EQ(two.second.wait(), FinishReason::kCancelled);
  EXPECT_GT(two.second.ids().size(), 0U);
  EXPECT_EQ(two.first.wait(), FinishReason::kLength);
  EXPECT_EQ(two.first.ids(), alone(request(1, 10, 50)));
}

TEST(EnginePreemption, APreemptedAnswerThatIsCompleteCountsAsStopped) {
  Preempted two(request(2, 10, 50));
  two.engine->complete(two.second_id);
  two.gate.open_for_good();
  EXPECT_EQ(two.second.wait(), FinishReason::kStop);
  EXPECT_EQ(two.first.wait(), FinishReason::kLength);
}

TEST(EnginePreemption, APreemptedRequestKeepsItsPlaceInAFullQueue) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const FakeModelOptions model{.slots = 4, .total_positions = 64};
  const auto engine =
      *Engine::start(std::make_unique<FakeModel>(model, observer),
                     {.max_queue = 1, .answer_reserve = 8, .prefix_reuse = PrefixReuse::kOff});
  AnswerCollector first;
  AnswerCollector second;
  AnswerCollector third;
  GenerateRequest yielding = request(2, 10, 50);
  yielding.yields_place = true;
  ASSERT_TRUE(engine->submit(request(1, 10, 50), first.fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(yielding, second.fn()));
  while (engine->stats().preemptions == 0) {
    gate.open();
    gate.wait_entered();
  }
  GenerateRequest taking = request(3, 10, 5);
  taking.priority = kMaxPriority;
  taking.may_displace = true;
  EXPECT_FALSE(engine->submit(taking, third.fn()));  // the queue is full of one that has started
  gate.open_for_good();
  EXPECT_EQ(first.wait(), FinishReason::kLength);
  EXPECT_EQ(second.wait(), FinishReason::kLength);
  EXPECT_EQ(second.ids(), alone(request(2, 10, 50)));
}

// Never the same id twice in a row.
Mask unlike_the_last(const Ids& accepted) {
  Mask mask = mask_of_all(50);
  if (!accepted.empty()) {
    mask[accepted.back() / 32] &= ~(std::uint32_t{1} << (accepted.back() % 32));
  }
  return mask;
}

TEST(EnginePreemption, ConstrainedAnswersGoOnUnderTheirConstraint) {
  std::atomic<std::size_t> masks = 0;
  const auto constrained = [&](std::uint64_t which) {
    GenerateRequest r = request(which, 10, 50);
    r.constraint = ScriptedConstraint::factory([&](const Ids& accepted) {
      ++masks;
      return unlike_the_last(accepted);
    });
    return r;
  };
  FakeModel::Observer observer;
  const auto engine = start(observer, 100, 0, PrefixReuse::kOff);
  AnswerCollector answers[4];
  for (std::uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(engine->submit(constrained(i), answers[i].fn()));
  }
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answers[i].wait(), FinishReason::kLength);
  }
  EXPECT_GT(engine->stats().preemptions, 0U);
  EXPECT_EQ(masks, 4 * 50U);  // one for each token, however often it was preempted
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answers[i].ids(), alone(constrained(i)));
  }
}

TEST(EnginePreemption, WhoWaitsForItsMaskIsNotPreempted) {
  Latch latch;
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, 64, 0, PrefixReuse::kOff);
  AnswerCollector first;
  AnswerCollector second;
  GenerateRequest waiting = request(2, 10, 30);
  std::atomic<std::size_t> masks = 0;
  waiting.constraint = blocking_constraint(
      [&](const Ids& accepted) {
        ++masks;
        return unlike_the_last(accepted);
      },
      &latch, 4);
  ASSERT_TRUE(engine->submit(request(1, 10, 50), first.fn()));
  gate.wait_entered();
  std::atomic<std::size_t> drawn = 0;
  ASSERT_TRUE(engine->submit(waiting, [&, tell = second.fn()](const Update& update) {
    drawn += update.tokens.size();
    tell(update);
  }));
  while (latch.entered() == 0) {  // step by step, each with its mask: the first gets no lead
    gate.open();
    gate.wait_entered();
    while (masks <= drawn && latch.entered() == 0) {
      std::this_thread::yield();
    }
  }
  gate.open_for_good();
  // The second has 18 positions; the first goes on until it has the others.
  const std::size_t most = 4 + (64 - 18 - 10 + 1);
  while (engine->stats().generated_tokens < most) {
    std::this_thread::yield();
  }
  for (int round = 0; round < 3; ++round) {  // in which it gets no further
    std::promise<void> done;
    ASSERT_TRUE(engine->between_steps([&](Slots&) { done.set_value(); }));
    done.get_future().wait();
  }
  EXPECT_EQ(engine->stats().generated_tokens, most);
  EXPECT_EQ(engine->stats().preemptions, 0U);
  latch.open();
  EXPECT_EQ(first.wait(), FinishReason::kLength);
  EXPECT_EQ(second.wait(), FinishReason::kLength);
  EXPECT_EQ(engine->stats().preemptions, 1U);
  EXPECT_EQ(first.ids(), alone(request(1, 10, 50)));
  waiting.constraint = ScriptedConstraint::factory(unlike_the_last);
  EXPECT_EQ(second.ids(), alone(waiting));
}

TEST(EnginePreemption, RequestsForLogProbabilitiesOfThePromptAreNotPreempted) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, 100, 0, PrefixReuse::kOff);
  AnswerCollector first;
  AnswerCollector second;
  GenerateRequest rated = request(2, 20, 30);
  rated.prompt_logprobs = 0;
  ASSERT_TRUE(engine->submit(request(1, 10, 80), first.fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(rated, second.fn()));
  gate.open_for_good();
  EXPECT_EQ(second.wait(), FinishReason::kLength);
  EXPECT_EQ(second.prompt().size(), 19U);
  EXPECT_EQ(first.wait(), FinishReason::kLength);
  EXPECT_EQ(first.ids(), alone(request(1, 10, 80)));
  EXPECT_EQ(engine->stats().preemptions, 0U);
}

TEST(EnginePreemption, AnAnswerThatTheSystemHasNoMemoryForEndsWithAnError) {
  FakeModel::Observer observer;
  const FakeModelOptions model{.context_tokens = 400, .slots = 2, .total_positions = 30};
  const auto engine = *Engine::start(std::make_unique<FakeModel>(model, observer),
                                     {.answer_reserve = 8, .prefix_reuse = PrefixReuse::kOff});
  AnswerCollector answer;  // longer than all positions there are
  ASSERT_TRUE(engine->submit(request(1, 10, 50), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kError);
  EXPECT_EQ(answer.ids().size(), 21U);  // the last one is not fed
  AnswerCollector next;
  ASSERT_TRUE(engine->submit(request(2, 10, 10), next.fn()));
  EXPECT_EQ(next.wait(), FinishReason::kLength);
}

TEST(EnginePreemption, AnswersReserveWhatTheyNeedSoonOnly) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, 400);
  AnswerCollector answers[4];
  for (std::uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(engine->submit(request(i, 10, 300), answers[i].fn()));
  }
  gate.wait_entered();
  gate.open();
  gate.wait_entered();
  EXPECT_EQ(engine->stats().running, 4U);  // 4 x 310 would not fit
  EXPECT_LE(engine->stats().positions_reserved, 4U * 18U);
  gate.open_for_good();
  for (AnswerCollector& answer : answers) {
    EXPECT_EQ(answer.wait(), FinishReason::kLength);
  }
}

TEST(EnginePreemption, AReserveOfNothingIsRefused) {
  FakeModel::Observer observer;
  const auto engine = Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer),
                                    {.answer_reserve = 0});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().message, "answer_reserve: expected 1 or more, found 0");
}

}  // namespace
}  // namespace daybreak::engine
