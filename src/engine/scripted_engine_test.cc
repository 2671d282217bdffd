// SPDX-License-Identifier: Apache-2.0
#include "engine/scripted_engine.h"

#include <gtest/gtest.h>

#include "engine/answer_collector.h"

namespace daybreak::engine {
namespace {

using std::chrono::milliseconds;

GenerateRequest request(std::size_t max_tokens = 100) {
  GenerateRequest r;
  r.prompt = {1, 2};
  r.max_tokens = max_tokens;
  return r;
}

ScriptedEngine::ScriptFn always(Script script) {
  return [script](const GenerateRequest&) { return script; };
}

ScriptedEngine::ScriptFn says(std::vector<TokenId> ids, milliseconds delay = milliseconds(0)) {
  Script script;
  script.ids = std::move(ids);
  script.delay_per_token = delay;
  return always(script);
}

ScriptedEngine::ScriptFn fails(std::vector<TokenId> ids, Error error) {
  Script script;
  script.ids = std::move(ids);
  script.error = std::move(error);
  return always(script);
}

ScriptedEngine::ScriptFn hangs(std::vector<TokenId> ids) {
  Script script;
  script.ids = std::move(ids);
  script.hang = true;
  return always(script);
}

TEST(ScriptedEngine, EmitsTheScriptThenItsFinishReason) {
  ScriptedEngine engine(says({7, 8, 9}));
  AnswerCollector answer;
  ASSERT_TRUE(engine.submit(request(), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kStop);
  EXPECT_EQ(answer.ids(), (std::vector<TokenId>{7, 8, 9}));
  EXPECT_EQ(answer.usage().prompt_tokens, 2U);
  EXPECT_EQ(answer.usage().completion_tokens, 3U);
  EXPECT_EQ(engine.requests().size(), 1U);
}

TEST(ScriptedEngine, CutsAtMaxTokens) {
  ScriptedEngine engine(says({7, 8, 9}));
  AnswerCollector cut;
  ASSERT_TRUE(engine.submit(request(2), cut.fn()));
  EXPECT_EQ(cut.wait(), FinishReason::kLength);
  EXPECT_EQ(cut.ids(), (std::vector<TokenId>{7, 8}));
  AnswerCollector exact;
  ASSERT_TRUE(engine.submit(request(3), exact.fn()));
  EXPECT_EQ(exact.wait(), FinishReason::kStop);
}

TEST(ScriptedEngine, FailsAfterItsIdsWhenToldTo) {
  ScriptedEngine engine(fails({7}, Error{Errc::kCorrupt, "broken"}));
  AnswerCollector answer;
  ASSERT_TRUE(engine.submit(request(), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kError);
  EXPECT_EQ(answer.error(), "broken");
  EXPECT_EQ(answer.ids(), (std::vector<TokenId>{7}));
}

TEST(ScriptedEngine, HangsUntilCancelled) {
  ScriptedEngine engine(hangs({7}));
  AnswerCollector answer;
  const Result<RequestId> id = engine.submit(request(), answer.fn());
  ASSERT_TRUE(id);
  EXPECT_FALSE(answer.finished_within(milliseconds(20)));
  engine.cancel(*id);
  EXPECT_EQ(answer.wait(), FinishReason::kCancelled);
  engine.cancel(*id);  // a second time changes nothing
  EXPECT_EQ(engine.stats().finished_cancelled, 1U);
}

TEST(ScriptedEngine, RefusesBeyondItsQueueAndAcceptsAtTheBound) {
  ScriptedEngine engine(hangs({}), {.max_sequences = 1, .max_queue = 2});
  AnswerCollector answers[4];
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(engine.submit(request(), answers[i].fn())) << i;
  }
  const Result<RequestId> refused = engine.submit(request(), answers[3].fn());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kResourceLimit);
  EXPECT_EQ(engine.stats().queued, 2U);
  EXPECT_EQ(engine.stats().running, 1U);
  EXPECT_EQ(engine.stop(milliseconds(0)), 3U);
}

TEST(ScriptedEngine, AnAnswerThatWaitedTakesItsTimeFromWhenItStarts) {
  ScriptedEngine engine(says({7, 8, 9}, milliseconds(30)), {.max_sequences = 1});
  AnswerCollector first;
  AnswerCollector second;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(engine.submit(request(), first.fn()));
  ASSERT_TRUE(engine.submit(request(), second.fn()));
  first.wait();
  second.wait();
  // At least: three tokens of 30 ms, twice.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(180));
}

TEST(ScriptedEngine, IdsBeginAgainUntilTheLength) {
  ScriptedEngine engine([](const GenerateRequest&) {
    Script script;
    script.ids = {7, 8, 9};
    script.length = 7;
    return script;
  });
  AnswerCollector answer;
  ASSERT_TRUE(engine.submit(request(10), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kStop);
  EXPECT_EQ(answer.ids(), (std::vector<TokenId>{7, 8, 9, 7, 8, 9, 7}));
}

TEST(ScriptedEngine, DrainRefusesNewRequestsAndStopWaitsForRunningOnes) {
  ScriptedEngine engine(says({7, 8}, milliseconds(10)));
  AnswerCollector answer;
  ASSERT_TRUE(engine.submit(request(), answer.fn()));
  engine.drain();
  AnswerCollector late;
  EXPECT_EQ(engine.submit(request(), late.fn()).error().code, Errc::kUnavailable);
  EXPECT_EQ(engine.stop(std::chrono::seconds(20)), 0U);
  EXPECT_EQ(answer.wait(), FinishReason::kStop);
}

TEST(ScriptedEngine, ChecksRequestsLikeTheRealEngine) {
  ScriptedEngine engine(says({7}), {.vocab_size = 10, .context_tokens = 8});
  GenerateRequest outside = request(1);
  outside.prompt = {3, 10};
  const Result<RequestId> refused = engine.submit(outside, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "prompt[1]: expected a token id below 10, found 10");
  EXPECT_EQ(engine.submit(request(7), nullptr).error().code, Errc::kTooLarge);
  EXPECT_EQ(engine.stats().rejected, 2U);
}

}  // namespace
}  // namespace daybreak::engine
