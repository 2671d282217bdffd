// SPDX-License-Identifier: Apache-2.0
#include "engine/session.h"

#include <gtest/gtest.h>

#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

GenerateRequest request(std::size_t prompt_tokens, std::size_t max_tokens = 8) {
  GenerateRequest r;
  for (std::size_t i = 0; i < prompt_tokens; ++i) {
    r.prompt.push_back(static_cast<TokenId>((i * 7 + 3) % 50));
  }
  r.max_tokens = max_tokens;
  r.sampling.seed = 5;
  return r;
}

struct Outcome {
  Ids ids;
  SessionAnswer answer;
};

Outcome run(Session& session, const GenerateRequest& r) {
  Outcome result;
  SessionCallbacks callbacks;
  callbacks.on_token = [&](const GeneratedToken& token) {
    result.ids.push_back(token.id);
    return true;
  };
  const Result<SessionAnswer> answer = session.generate(r, callbacks);
  EXPECT_TRUE(answer) << answer.error().message;
  if (answer) {
    result.answer = *answer;
  }
  return result;
}

TEST(Session, GivesTheSameTokensAsTheEngine) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  Session session(model);
  FakeModel::Observer other;
  const auto engine =
      *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, other), EngineOptions{});
  for (const std::size_t prompt : {1U, 5U, 600U}) {
    AnswerCollector answer;
    ASSERT_TRUE(engine->submit(request(prompt, 30), answer.fn()));
    answer.wait();
    EXPECT_EQ(run(session, request(prompt, 30)).ids, answer.ids()) << prompt;
  }
}

TEST(Session, ContinuesAPromptThatExtendsWhatItProcessed) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  Session session(model);
  const Outcome first = run(session, request(20));
  EXPECT_EQ(first.answer.usage.cached_tokens, 0U);
  GenerateRequest next = request(20);
  next.prompt.insert(next.prompt.end(), first.ids.begin(), first.ids.end());
  next.prompt.push_back(9);
  const Outcome continued = run(session, next);
  EXPECT_EQ(continued.answer.usage.cached_tokens, 27U);  // the last token was never fed
  Session fresh(model);
  EXPECT_EQ(continued.ids, run(fresh, next).ids);
}

TEST(Session, StartsAfreshWhenThePromptDiffersOrAddsNothing) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  Session session(model);
  const Outcome first = run(session, request(20));
  EXPECT_EQ(run(session, request(20)).ids, first.ids);  // shorter than what was processed
  GenerateRequest other = request(60);
  other.prompt[3] = 49;
  const Outcome changed = run(session, other);
  EXPECT_EQ(changed.answer.usage.cached_tokens, 0U);
  GenerateRequest same;
  same.prompt.assign(session.processed().begin(), session.processed().end());
  same.max_tokens = 3;
  EXPECT_EQ(run(session, same).answer.usage.cached_tokens, 0U);
}

TEST(Session, ARestoredStateContinuesAsIfItHadNeverStopped) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  Session session(model);
  run(session, request(20));
  const Ids processed(session.processed().begin(), session.processed().end());
  const std::vector<std::byte> state = session.save();
  GenerateRequest next;
  next.prompt = processed;
  next.prompt.push_back(1);
  next.max_tokens = 10;
  Session restored(model);
  ASSERT_TRUE(restored.restore(state, processed));
  const Outcome continued = run(restored, next);
  EXPECT_EQ(continued.answer.usage.cached_tokens, processed.size());
  EXPECT_EQ(continued.ids, run(session, next).ids);
}

TEST(Session, RefusesAStateThatDoesNotFitItsIds) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  Session session(model);
  run(session, request(20));
  const std::vector<std::byte> state = session.save();
  Session other(model);
  const Status mismatch = other.restore(state, {1, 2, 3});
  ASSERT_FALSE(mismatch);
  EXPECT_EQ(mismatch.error().code, Errc::kCorrupt);
  EXPECT_TRUE(other.processed().empty());
  EXPECT_FALSE(other.restore(std::span(state).first(3), {1, 2, 3}));
  EXPECT_TRUE(other.restore({}, {}));
}

TEST(Session, ACancelledAnswerLeavesAStateThatCanBeContinued) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  Session session(model);
  SessionCallbacks callbacks;
  Ids ids;
  callbacks.on_token = [&](const GeneratedToken& token) {
    ids.push_back(token.id);
    return ids.size() < 3;
  };
  const Result<SessionAnswer> answer = session.generate(request(20, 50), callbacks);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->finish, FinishReason::kCancelled);
  EXPECT_EQ(answer->usage.completion_tokens, 3U);
  EXPECT_EQ(session.processed().size(), 22U);

  Session reading(model);
  callbacks.on_token = nullptr;
  callbacks.on_prompt = [](std::size_t done, std::size_t) { return done < 300; };
  const Result<SessionAnswer> cut = reading.generate(request(900, 5), callbacks);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->finish, FinishReason::kCancelled);
  EXPECT_EQ(reading.processed().size(), 512U);
  EXPECT_EQ(run(reading, request(900, 5)).answer.usage.cached_tokens, 512U);
}

TEST(Session, DeliversThePromptsLogitsBeforeSamplingChangesThem) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  Session session(model);
  std::vector<float> logits;
  SessionCallbacks callbacks;
  callbacks.on_prompt_logits = [&](std::span<const float> row) {
    logits.assign(row.begin(), row.end());
  };
  ASSERT_TRUE(session.generate(request(300), callbacks));
  const auto sequence = *model.acquire(300);
  std::vector<float> expected(50);
  const GenerateRequest r = request(300);
  ASSERT_TRUE(model.forward(std::vector<StepChunk>{{sequence.get(), r.prompt, expected}}));
  EXPECT_EQ(logits, expected);
}

TEST(Session, AFailedStepEmptiesTheStateAndABadRequestDoesNot) {
  FakeModel::Observer observer;
  FakeModel model({}, observer);
  Session session(model);
  run(session, request(20));
  EXPECT_FALSE(session.generate(request(0), {}));
  EXPECT_EQ(session.processed().size(), 27U);
  observer.before_step = [](std::span<const StepChunk>) -> Status {
    return Error{Errc::kIo, "gone"};
  };
  EXPECT_FALSE(session.generate(request(20), {}));
  EXPECT_TRUE(session.processed().empty());
  EXPECT_EQ(observer.alive, 0U);
}

}  // namespace
}  // namespace daybreak::engine
