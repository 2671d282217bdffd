// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/fake_model.h"
#include "engine/step_gate.h"

namespace daybreak::engine {
namespace {

using std::chrono::milliseconds;
using Ids = std::vector<TokenId>;

GenerateRequest request(std::uint64_t which, std::size_t prompt_tokens = 12,
                        std::size_t max_tokens = 20) {
  GenerateRequest r;
  Rng rng(which);
  for (std::size_t i = 0; i < prompt_tokens; ++i) {
    r.prompt.push_back(rng.below(50));
  }
  r.max_tokens = max_tokens;
  r.sampling.seed = which;
  return r;
}

// What the answer must be, without any engine: one sequence, one id at a time.
Ids alone(const GenerateRequest& r) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  const std::unique_ptr<Sequence> sequence = *model.acquire(r.prompt.size() + r.max_tokens);
  Sampler sampler(r);
  SamplerScratch scratch;
  std::vector<float> logits(model.vocab_size());
  Ids answer;
  Ids feed = r.prompt;
  while (answer.size() < r.max_tokens) {
    for (const TokenId id : feed) {
      EXPECT_TRUE(model.forward(std::vector<StepChunk>{{sequence.get(), {&id, 1}, logits}}));
    }
    answer.push_back(sampler.next(logits, scratch)->id);
    if (sampler.is_stop(answer.back())) {
      break;
    }
    feed = {answer.back()};
  }
  return answer;
}

std::unique_ptr<Engine> start(FakeModel::Observer& observer, const FakeModelOptions& model = {},
                              const EngineOptions& options = {}) {
  return *Engine::start(std::make_unique<FakeModel>(model, observer), options);
}

TEST(Engine, AnswersEqualTheOneAtATimeLoopWhateverTheBudget) {
  for (const std::size_t step_tokens : {1U, 2U, 3U, 7U, 512U}) {
    SCOPED_TRACE(step_tokens);
    FakeModel::Observer observer;
    const auto engine = start(observer, {}, {.step_tokens = step_tokens});
    AnswerCollector answer;
    ASSERT_TRUE(engine->submit(request(1), answer.fn()));
    EXPECT_EQ(answer.wait(), FinishReason::kLength);
    EXPECT_EQ(answer.ids(), alone(request(1)));
  }
}

TEST(Engine, AnswersDoNotDependOnTheCompany) {
  for (const std::size_t step_tokens : {1U, 5U, 16U, 512U}) {
    SCOPED_TRACE(step_tokens);
    FakeModel::Observer observer;
    const auto engine = start(observer, {.slots = 3}, {.step_tokens = step_tokens});
    AnswerCollector answers[6];
    for (std::uint64_t i = 0; i < 6; ++i) {
      ASSERT_TRUE(engine->submit(request(i, 1 + 9 * i, 5 + 3 * i), answers[i].fn()));
    }
    for (std::uint64_t i = 0; i < 6; ++i) {
      answers[i].wait();
      EXPECT_EQ(answers[i].ids(), alone(request(i, 1 + 9 * i, 5 + 3 * i))) << i;
      EXPECT_EQ(answers[i].usage().prompt_tokens, 1 + 9 * i);
    }
    EXPECT_EQ(observer.alive, engine->stats().kept_sequences);
  }
}

TEST(Engine, StopsAtAStopIdAndDeliversIt) {
  const Ids whole = alone(request(3));
  GenerateRequest r = request(3);
  r.stop_ids = {whole[6]};
  FakeModel::Observer observer;
  const auto engine = start(observer);
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(r, answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kStop);
  EXPECT_EQ(answer.ids().back(), whole[6]);
  EXPECT_EQ(answer.ids(), alone(r));
  EXPECT_LE(answer.ids().size(), 7U);
}

TEST(Engine, GeneratingRequestsAdvanceInEveryStepWhileALongPromptIsRead) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, {}, {.step_tokens = 10});
  AnswerCollector first;
  AnswerCollector longer;
  ASSERT_TRUE(engine->submit(request(1, 10, 20), first.fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(request(2, 100, 1), longer.fn()));
  gate.open_for_good();
  EXPECT_EQ(longer.wait(), FinishReason::kLength);
  EXPECT_EQ(first.wait(), FinishReason::kLength);
  const std::lock_guard lock(observer.mutex);
  EXPECT_EQ(observer.steps[0], (std::vector<std::size_t>{10}));
  for (std::size_t step = 1; step < 12; ++step) {
    EXPECT_EQ(observer.steps[step], (std::vector<std::size_t>{1, 9})) << step;
  }
}

TEST(Engine, ChecksRequestsBeforeQueueingThem) {
  FakeModel::Observer observer;
  const auto engine = start(observer, {.vocab_size = 50, .context_tokens = 100});
  const auto refused = [&](const GenerateRequest& r) {
    const Result<RequestId> id = engine->submit(r, [](const Update&) { ADD_FAILURE(); });
    EXPECT_FALSE(id);
    return id ? Error{Errc::kIo, ""} : id.error();
  };
  GenerateRequest r = request(1);
  r.prompt.clear();
  EXPECT_EQ(refused(r).message, "prompt: expected at least one token, found none");
  r = request(1);
  r.prompt[4] = 50;
  EXPECT_EQ(refused(r).message, "prompt[4]: expected a token id below 50, found 50");
  GenerateRequest too_many = request(1);
  too_many.prompt_logprobs = kMaxTopLogprobs + 1;
  EXPECT_EQ(refused(too_many).code, Errc::kInvalidArgument);
  r = request(1);
  r.min_tokens = 21;
  EXPECT_EQ(refused(r).message, "min_tokens: expected at most max_tokens 20, found 21");
  r = request(1);
  r.stop_ids.assign(kMaxStopIds + 1, 3);
  EXPECT_EQ(refused(r).code, Errc::kInvalidArgument);
  r = request(1);
  r.stop_ids = {50};
  EXPECT_EQ(refused(r).message, "stop_ids[0]: expected a token id below 50, found 50");
  r = request(1);
  r.sampling.top_p = 0;
  EXPECT_EQ(refused(r).code, Errc::kInvalidArgument);
  EXPECT_EQ(engine->stats().rejected, 7U);
}

TEST(Engine, TheContextIsABoundForPromptAndAnswer) {
  FakeModel::Observer observer;
  const auto engine = start(observer, {.context_tokens = 100});
  AnswerCollector fits;
  ASSERT_TRUE(engine->submit(request(1, 99, 1), fits.fn()));
  EXPECT_EQ(fits.wait(), FinishReason::kLength);
  EXPECT_EQ(engine->submit(request(1, 100, 1), nullptr).error().message,
            "prompt: expected fewer tokens than the context of 100, found 100");
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(request(1, 60, 40), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kLength);
  const Result<RequestId> beyond = engine->submit(request(1, 60, 41), nullptr);
  EXPECT_EQ(beyond.error().code, Errc::kTooLarge);
  EXPECT_EQ(beyond.error().message,
            "max_tokens: expected at most 40 (context of 100 less a prompt of 60), found 41");
}

TEST(Engine, WaitsForPositionsInOrderAndNeverDeadlocks) {
  // Room for 64 positions: each request needs 32, so two run at once although five slots exist; the
  // one that needs all of them is not overtaken for ever.
  FakeModel::Observer observer;
  std::atomic<std::size_t> most{0};
  std::atomic<bool> all_submitted{false};  // else the first could be done before the second comes
  observer.before_step = [&](std::span<const StepChunk>) {
    all_submitted.wait(false);
    most = std::max(most.load(), observer.alive.load());
    return ok();
  };
  const auto engine = start(observer, {.context_tokens = 64, .total_positions = 64});
  AnswerCollector answers[8];
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::size_t answer_tokens = i == 3 ? 52 : 20;
    ASSERT_TRUE(engine->submit(request(i, 12, answer_tokens), answers[i].fn()));
  }
  all_submitted = true;
  all_submitted.notify_all();
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(answers[i].wait(), FinishReason::kLength);
    EXPECT_EQ(answers[i].ids(), alone(request(i, 12, i == 3 ? 52 : 20)));
  }
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(engine->stats().positions_reserved, 0U);
}

TEST(Engine, FailsARequestThatCannotGetMemoryThoughNobodyElseRuns) {
  // The context promises more than the pool holds: the request must fail, not wait for ever.
  FakeModel::Observer observer;
  const auto engine = start(observer, {.context_tokens = 1000, .total_positions = 100});
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(request(1, 90, 20), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kError);
  AnswerCollector next;
  ASSERT_TRUE(engine->submit(request(1), next.fn()));
  EXPECT_EQ(next.wait(), FinishReason::kLength);
}

TEST(Engine, CancelFreesTheSlotWithinOneStepInEveryPhase) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, {.slots = 2}, {.step_tokens = 8});
  AnswerCollector decoding;
  AnswerCollector reading;
  AnswerCollector queued;
  AnswerCollector after;
  const RequestId a = *engine->submit(request(1, 4, 50), decoding.fn());
  gate.wait_entered();
  const RequestId b = *engine->submit(request(2, 100, 5), reading.fn());
  const RequestId c = *engine->submit(request(3), queued.fn());
  ASSERT_TRUE(engine->submit(request(4, 12, 3), after.fn()));
  gate.open();
  gate.wait_entered();  // a generates, b reads its prompt, c and d wait
  EXPECT_EQ(observer.alive, 2U);
  engine->cancel(a);
  engine->cancel(b);
  engine->cancel(c);
  gate.open();
  gate.wait_entered();  // the next step: only d is left
  EXPECT_EQ(observer.alive - engine->stats().kept_sequences, 1U);
  EXPECT_EQ(decoding.wait(), FinishReason::kCancelled);
  EXPECT_EQ(reading.wait(), FinishReason::kCancelled);
  EXPECT_EQ(queued.wait(), FinishReason::kCancelled);
  EXPECT_EQ(queued.usage().completion_tokens, 0U);
  gate.open_for_good();
  EXPECT_EQ(after.wait(), FinishReason::kLength);
  EXPECT_EQ(after.ids(), alone(request(4, 12, 3)));
  engine->cancel(a);              // finished: ignored
  engine->cancel(RequestId{99});  // never known: ignored
  EXPECT_EQ(engine->stats().finished_cancelled, 3U);
}

// What a stop string ends is an answer like any other, in the counts too.
TEST(Engine, ACompleteAnswerEndsAsOneThatStopped) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, {.slots = 2}, {});
  AnswerCollector collector;
  const RequestId id = *engine->submit(request(1, 4, 50), collector.fn());
  gate.wait_entered();
  engine->complete(id);
  engine->cancel(id);  // changes nothing: the answer was complete before
  gate.open_for_good();
  EXPECT_EQ(collector.wait(), FinishReason::kStop);
  engine->stop(std::chrono::milliseconds(0));
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.finished_stop, 1U);
  EXPECT_EQ(stats.finished_cancelled, 0U);
  EXPECT_EQ(stats.request_prompt_tokens.sum, 4.0);
}

TEST(Engine, AFailingSequenceDoesNotTakeItsBatchWithIt) {
  FakeModel::Observer observer;
  // The sequence whose chunk holds id 49 cannot be computed.
  observer.before_step = [](std::span<const StepChunk> chunks) -> Status {
    for (const StepChunk& chunk : chunks) {
      for (const TokenId id : chunk.ids) {
        if (id == 49) {
          return Error{Errc::kCorrupt, "layer 3: bad"};
        }
      }
    }
    return ok();
  };
  observer.edit_logits = [](const Sequence&, std::span<float> row) { row[49] = -1000; };
  const auto engine = start(observer);
  AnswerCollector answers[5];
  std::vector<GenerateRequest> requests;
  for (std::uint64_t i = 0; i < 5; ++i) {
    requests.push_back(request(i));
    for (TokenId& id : requests.back().prompt) {
      id = id % 49;
    }
  }
  requests[2].prompt[7] = 49;
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(engine->submit(requests[i], answers[i].fn()));
  }
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(answers[i].wait(), i == 2 ? FinishReason::kError : FinishReason::kLength) << i;
  }
  EXPECT_EQ(answers[2].error(), "layer 3: bad");
  EXPECT_EQ(engine->stats().finished_error, 1U);
}

TEST(Engine, ANonFiniteRowFailsItsRequestAndNoOther) {
  FakeModel::Observer observer;
  observer.edit_logits = [](const Sequence& sequence, std::span<float> row) {
    if (sequence.position() == 17) {
      row[0] = std::numeric_limits<float>::quiet_NaN();
    }
  };
  const auto engine = start(observer);
  AnswerCollector bad;
  AnswerCollector good;
  ASSERT_TRUE(engine->submit(request(1, 12, 20), bad.fn()));
  ASSERT_TRUE(engine->submit(request(2, 18, 20), good.fn()));
  EXPECT_EQ(bad.wait(), FinishReason::kError);
  EXPECT_EQ(bad.error(),
            "logits: expected finite numbers, found nan for token id 0 at position 17");
  EXPECT_EQ(bad.ids().size(), 5U);
  EXPECT_EQ(good.wait(), FinishReason::kLength);
  EXPECT_EQ(engine->stats().nonfinite_rows, 1U);
}

TEST(Engine, DrainFinishesWhatWasAcceptedAndRefusesTheRest) {
  FakeModel::Observer observer;
  const auto engine = start(observer, {.slots = 1});
  AnswerCollector answers[3];
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(engine->submit(request(i), answers[i].fn()));
  }
  engine->drain();
  EXPECT_EQ(engine->submit(request(9), nullptr).error().code, Errc::kUnavailable);
  EXPECT_EQ(engine->stop(std::chrono::seconds(60)), 0U);
  for (AnswerCollector& answer : answers) {
    EXPECT_EQ(answer.wait(), FinishReason::kLength);
  }
  EXPECT_EQ(engine->stop(milliseconds(0)), 0U);
}

TEST(Engine, StopCancelsWhatItsDeadlineCuts) {
  FakeModel::Observer observer;
  StepGate gate(observer);
  const auto engine = start(observer, {.slots = 1});
  AnswerCollector running;
  AnswerCollector queued;
  ASSERT_TRUE(engine->submit(request(1, 4, 900), running.fn()));
  gate.wait_entered();
  ASSERT_TRUE(engine->submit(request(2), queued.fn()));
  std::future<std::size_t> cut =
      std::async(std::launch::async, [&] { return engine->stop(milliseconds(0)); });
  EXPECT_EQ(cut.wait_for(milliseconds(20)), std::future_status::timeout);  // a step is in flight
  gate.open_for_good();
  EXPECT_EQ(cut.get(), 2U);
  EXPECT_EQ(running.wait(), FinishReason::kCancelled);
  EXPECT_EQ(queued.wait(), FinishReason::kCancelled);
}

TEST(Engine, CallbacksMaySubmitAndCancel) {
  FakeModel::Observer observer;
  const auto engine = start(observer);
  AnswerCollector second;
  AnswerCollector first;
  RequestId second_id{};
  const UpdateFn inner = first.fn();
  ASSERT_TRUE(engine->submit(request(1, 4, 3), [&](const Update& update) {
    if (update.finish.has_value()) {
      second_id = *engine->submit(request(2, 4, 900), second.fn());
      engine->cancel(second_id);
    }
    inner(update);
  }));
  EXPECT_EQ(first.wait(), FinishReason::kLength);
  EXPECT_EQ(second.wait(), FinishReason::kCancelled);
}

TEST(Engine, CountsWhatItDoes) {
  FakeModel::Observer observer;
  const auto engine = start(observer);
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(request(1, 12, 20), answer.fn()));
  answer.wait();
  engine->stop(milliseconds(0));
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.submitted, 1U);
  EXPECT_EQ(stats.finished_length, 1U);
  EXPECT_EQ(stats.prefill_tokens, 12U);
  EXPECT_EQ(stats.decode_tokens, 19U);  // the last token is never fed back
  EXPECT_EQ(stats.generated_tokens, 20U);
  EXPECT_EQ(stats.steps, 20U);
  EXPECT_EQ(stats.time_to_first_token.total, 1U);
  EXPECT_EQ(stats.time_per_output_token.total, 19U);
  EXPECT_EQ(stats.request_time.total, 1U);
  EXPECT_EQ(stats.step_tokens.total, 20U);
  EXPECT_EQ(stats.step_tokens.sum, 31.0);
  EXPECT_EQ(stats.request_prompt_tokens.sum, 12.0);
  EXPECT_EQ(stats.request_computed_prompt_tokens.sum, 12.0);
  EXPECT_EQ(stats.request_generated_tokens.sum, 20.0);
  EXPECT_DOUBLE_EQ(stats.request_time_per_output_token.sum, stats.decode_time.sum / 19);
  EXPECT_EQ(stats.inference_time.total, 1U);
  EXPECT_DOUBLE_EQ(stats.inference_time.sum, stats.prefill_time.sum + stats.decode_time.sum);
  EXPECT_DOUBLE_EQ(stats.time_to_first_token.sum, stats.queue_time.sum + stats.prefill_time.sum);
  EXPECT_EQ(stats.running + stats.queued, 0U);
}

TEST(Engine, AnAnswerOfOneTokenHasNoTimeBetweenTokens) {
  FakeModel::Observer observer;
  const auto engine = start(observer);
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(request(1, 3, 1), answer.fn()));
  answer.wait();
  engine->stop(milliseconds(0));
  EXPECT_EQ(engine->stats().decode_time.total, 1U);
  EXPECT_EQ(engine->stats().request_time_per_output_token.total, 0U);
}

TEST(Engine, RefusesOptionsOutsideTheirRange) {
  const auto refused = [](const FakeModelOptions& model, const EngineOptions& options) {
    FakeModel::Observer observer;
    const auto engine = Engine::start(std::make_unique<FakeModel>(model, observer), options);
    return !engine && engine.error().code == Errc::kInvalidArgument;
  };
  EXPECT_TRUE(refused({}, {.max_queue = 0}));
  EXPECT_TRUE(refused({}, {.max_queue = kMaxQueue + 1}));
  EXPECT_FALSE(refused({}, {.max_queue = kMaxQueue}));
  EXPECT_TRUE(refused({}, {.step_tokens = 0}));
  EXPECT_TRUE(refused({}, {.step_tokens = kMaxStepTokens + 1}));
  EXPECT_FALSE(refused({}, {.step_tokens = kMaxStepTokens}));
  EXPECT_TRUE(refused({.slots = 0}, {}));
}

}  // namespace
}  // namespace daybreak::engine
