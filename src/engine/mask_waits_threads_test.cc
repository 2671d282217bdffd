// SPDX-License-Identifier: Apache-2.0
// What an engine does while masks are not there: others go on, answers keep their bits, ends come
// at once. Constraints block on latches, so that nothing here depends on time.

#include <gtest/gtest.h>

#include <bit>
#include <future>
#include <string>
#include <thread>

#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/latch_constraint.h"

namespace daybreak::engine {
namespace {

using std::chrono::milliseconds;
using Ids = std::vector<TokenId>;

constexpr std::size_t kVocab = 50;

GenerateRequest request(std::uint64_t seed, std::size_t max_tokens = 12) {
  GenerateRequest r;
  r.prompt = {1, static_cast<TokenId>(seed), 3, 4, 5};
  r.max_tokens = max_tokens;
  r.sampling.seed = seed;
  r.sampling.logprobs = 3;
  return r;
}

// A third of the ids, another one after each token.
Mask third(const Ids& accepted) {
  Ids allowed;
  for (TokenId id = 0; id < kVocab; ++id) {
    if ((id + accepted.size() + (accepted.empty() ? 0 : accepted.back())) % 3 == 0) {
      allowed.push_back(id);
    }
  }
  return mask_of(kVocab, allowed);
}

GenerateRequest held(std::uint64_t seed, Latch* latch, std::size_t block_at = 0) {
  GenerateRequest r = request(seed);
  r.constraint = blocking_constraint(third, latch, block_at);
  return r;
}

std::unique_ptr<Engine> start(FakeModel::Observer& observer, const EngineOptions& options = {}) {
  return *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{.slots = 6}, observer),
                        options);
}

// Ids, log-probabilities and all.
struct Recorder {
  AnswerCollector collector;
  std::vector<GeneratedToken> tokens;
  UpdateFn fn() {
    return [this, inner = collector.fn()](const Update& update) {
      tokens.insert(tokens.end(), update.tokens.begin(), update.tokens.end());
      inner(update);
    };
  }
};

void expect_same_bits(const std::vector<GeneratedToken>& a, const std::vector<GeneratedToken>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].id, b[i].id) << i;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(a[i].logprob),
              std::bit_cast<std::uint32_t>(b[i].logprob))
        << i;
    EXPECT_EQ(a[i].top, b[i].top) << i;
  }
}

std::vector<GeneratedToken> alone(const GenerateRequest& r) {
  FakeModel::Observer observer;
  const auto engine = start(observer, {.mask_grace = std::chrono::seconds(50)});
  Recorder answer;
  EXPECT_TRUE(engine->submit(r, answer.fn()));
  answer.collector.wait();
  return answer.tokens;
}

TEST(MaskWaits, OthersFinishWhileOneMaskIsBlockedAndEveryAnswerKeepsItsBits) {
  const auto expected = alone(held(1, nullptr));
  for (const std::size_t block_at : {0U, 1U, 7U}) {
    SCOPED_TRACE(block_at);
    FakeModel::Observer observer;
    Latch latch;
    const auto engine = start(observer);
    Recorder blocked;
    ASSERT_TRUE(engine->submit(held(1, &latch, block_at), blocked.fn()));
    latch.wait_entered(1);
    Recorder free[2];
    Recorder constrained[2];
    for (std::uint64_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(engine->submit(request(10 + i, 40), free[i].fn()));
      ASSERT_TRUE(engine->submit(held(20 + i, nullptr), constrained[i].fn()));
    }
    for (std::uint64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(free[i].collector.wait(), FinishReason::kLength);
      EXPECT_EQ(constrained[i].collector.wait(), FinishReason::kLength);
      expect_same_bits(free[i].tokens, alone(request(10 + i, 40)));
      expect_same_bits(constrained[i].tokens, alone(held(20 + i, nullptr)));
    }
    EXPECT_FALSE(blocked.collector.finished_within(milliseconds(0)));
    // All of the free ones' steps but the one that the blocked one may have been in.
    EXPECT_GE(engine->stats().mask_waits, 39U);
    latch.open();
    EXPECT_EQ(blocked.collector.wait(), FinishReason::kLength);
    expect_same_bits(blocked.tokens, expected);
  }
}

TEST(MaskWaits, RowsAreKeptWhileOthersComeAndGo) {
  // Each blocked one keeps its own row while six slots are used again and again.
  FakeModel::Observer observer;
  Latch latch;
  const auto engine = start(observer);
  Recorder blocked[2];
  ASSERT_TRUE(engine->submit(held(1, &latch, 3), blocked[0].fn()));
  latch.wait_entered(1);
  AnswerCollector others[12];
  for (std::uint64_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(engine->submit(request(30 + i, 1 + i), others[i].fn()));
    if (i == 5) {
      ASSERT_TRUE(engine->submit(held(2, &latch, 5), blocked[1].fn()));
    }
  }
  latch.wait_entered(2);
  for (AnswerCollector& answer : others) {
    EXPECT_EQ(answer.wait(), FinishReason::kLength);
  }
  EXPECT_EQ(engine->stats().running, 2U);
  latch.open();
  for (std::uint64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(blocked[i].collector.wait(), FinishReason::kLength);
    expect_same_bits(blocked[i].tokens, alone(held(1 + i, nullptr)));
  }
}

TEST(MaskWaits, WithoutGraceEveryAnswerIsTheSame) {
  FakeModel::Observer observer;
  const auto engine = start(observer, {.mask_grace = std::chrono::microseconds(0)});
  Recorder answers[12];
  for (std::uint64_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(engine->submit(held(i, nullptr), answers[i].fn()));
  }
  for (std::uint64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(answers[i].collector.wait(), FinishReason::kLength);
    expect_same_bits(answers[i].tokens, alone(held(i, nullptr)));
  }
}

TEST(MaskWaits, ABlockedFactoryHoldsUpItsOwnAnswerOnly) {
  FakeModel::Observer observer;
  Latch latch;
  const auto engine = start(observer);
  AnswerCollector blocked;
  GenerateRequest r = held(1, nullptr);
  r.constraint = [&latch, inner = r.constraint] {
    latch.pass();
    return inner();
  };
  ASSERT_TRUE(engine->submit(std::move(r), blocked.fn()));
  latch.wait_entered(1);
  AnswerCollector other;
  ASSERT_TRUE(engine->submit(held(2, nullptr), other.fn()));
  EXPECT_EQ(other.wait(), FinishReason::kLength);
  EXPECT_FALSE(blocked.finished_within(milliseconds(0)));
  latch.open();
  EXPECT_EQ(blocked.wait(), FinishReason::kLength);
}

TEST(MaskWaits, CancelTellsTheCallerWhileTheMaskIsStillBlocked) {
  FakeModel::Observer observer;
  Latch latch;
  const auto engine = start(observer, {.mask_grace = std::chrono::microseconds(0)});
  // More than there are workers: three have begun, the others are still queued.
  AnswerCollector blocked[6];
  std::vector<RequestId> ids;
  for (std::uint64_t i = 0; i < 6; ++i) {
    ids.push_back(*engine->submit(held(i, &latch), blocked[i].fn()));
  }
  latch.wait_entered(2);  // the third worker does quick work alone
  while (engine->stats().prefill_tokens < 30) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(milliseconds(2));  // so that the engine sleeps, most likely
  for (const RequestId id : ids) {
    engine->cancel(id);
  }
  for (AnswerCollector& answer : blocked) {
    EXPECT_EQ(answer.wait(), FinishReason::kCancelled);
  }
  EXPECT_EQ(latch.entered(), 2U);
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.running, 0U);
  EXPECT_EQ(stats.positions_reserved, 0U);
  EXPECT_EQ(observer.alive, stats.kept_sequences);
  AnswerCollector free;
  ASSERT_TRUE(engine->submit(request(9), free.fn()));
  EXPECT_EQ(free.wait(), FinishReason::kLength);
  latch.open();
  AnswerCollector after;
  ASSERT_TRUE(engine->submit(held(9, nullptr), after.fn()));
  EXPECT_EQ(after.wait(), FinishReason::kLength);
  EXPECT_EQ(latch.entered(), 2U);  // what was cancelled in the queue is never computed
}

// Blocks where it accepts the last id of request(1).
class BlocksAtTheEnd final : public TokenConstraint {
 public:
  explicit BlocksAtTheEnd(Latch& latch) : latch_(latch) {}
  std::span<const std::uint32_t> mask() override { return mask_; }
  bool accept(TokenId) override {
    if (++accepted_ == 12) {
      latch_.pass();
    }
    return true;
  }

 private:
  Latch& latch_;
  std::size_t accepted_ = 0;
  Mask mask_ = mask_of_all(kVocab);
};

TEST(MaskWaits, TheLastIdIsToldOnceItIsAcceptedAndNotAtAllAfterACancellation) {
  for (const bool cancel : {false, true}) {
    SCOPED_TRACE(cancel);
    FakeModel::Observer observer;
    Latch latch;
    const auto engine = start(observer);
    AnswerCollector answer;
    GenerateRequest r = request(1);
    r.constraint = [&] { return std::make_unique<BlocksAtTheEnd>(latch); };
    const RequestId id = *engine->submit(std::move(r), answer.fn());
    latch.wait_entered(1);
    AnswerCollector other;
    ASSERT_TRUE(engine->submit(held(2, nullptr), other.fn()));
    EXPECT_EQ(other.wait(), FinishReason::kLength);
    EXPECT_FALSE(answer.finished_within(milliseconds(0)));
    if (cancel) {
      engine->cancel(id);
    } else {
      latch.open();
    }
    EXPECT_EQ(answer.wait(), cancel ? FinishReason::kCancelled : FinishReason::kLength);
    EXPECT_EQ(answer.ids().size(), cancel ? 11U : 12U);
    EXPECT_EQ(engine->stats().generated_tokens - other.ids().size(), answer.ids().size());
    latch.open();
  }
}

TEST(MaskWaits, StopTellsItsCallersWhileAMaskIsBlockedAndEndsWithIt) {
  FakeModel::Observer observer;
  Latch latch;
  const auto engine = start(observer);
  AnswerCollector blocked;
  ASSERT_TRUE(engine->submit(held(1, &latch, 4), blocked.fn()));
  latch.wait_entered(1);
  engine->drain();
  auto cut = std::async(std::launch::async, [&] { return engine->stop(milliseconds(0)); });
  EXPECT_EQ(blocked.wait(), FinishReason::kCancelled);
  EXPECT_EQ(blocked.ids().size(), 4U);
  EXPECT_EQ(cut.wait_for(milliseconds(20)), std::future_status::timeout);
  latch.open();
  EXPECT_EQ(cut.get(), 1U);
}

TEST(MaskWaits, StopWithinItsDeadlineWaitsForTheMask) {
  FakeModel::Observer observer;
  Latch latch;
  const auto engine = start(observer);
  AnswerCollector blocked;
  ASSERT_TRUE(engine->submit(held(1, &latch, 4), blocked.fn()));
  latch.wait_entered(1);
  auto cut = std::async(std::launch::async, [&] { return engine->stop(std::chrono::minutes(1)); });
  latch.open();
  EXPECT_EQ(cut.get(), 0U);
  EXPECT_EQ(blocked.wait(), FinishReason::kLength);
}

TEST(MaskWaits, ARequestThatComesWhileAllOthersWaitIsAnsweredAtOnce) {
  FakeModel::Observer observer;
  Latch latch;
  const auto engine = start(observer, {.mask_grace = std::chrono::microseconds(0)});
  AnswerCollector blocked;
  ASSERT_TRUE(engine->submit(held(1, &latch), blocked.fn()));
  latch.wait_entered(1);
  while (engine->stats().steps == 0) {  // the prompt is read: from here on the engine sleeps
    std::this_thread::yield();
  }
  AnswerCollector other;
  ASSERT_TRUE(engine->submit(request(2), other.fn()));
  EXPECT_EQ(other.wait(), FinishReason::kLength);
  latch.open();
  EXPECT_EQ(blocked.wait(), FinishReason::kLength);
}

TEST(MaskWaits, TheModelsErrorEndsAnAnswerWhoseMaskIsBlocked) {
  FakeModel::Observer observer;
  Latch latch;
  observer.before_step = [&](std::span<const StepChunk>) -> Status {
    latch.wait_entered(1);
    return Error{Errc::kCorrupt, "layer 3: bad"};
  };
  const auto engine = start(observer);
  AnswerCollector blocked;
  ASSERT_TRUE(engine->submit(held(1, &latch), blocked.fn()));
  EXPECT_EQ(blocked.wait(), FinishReason::kError);
  EXPECT_EQ(blocked.error(), "layer 3: bad");
  latch.open();
}

TEST(MaskWaits, MasksAreMadeBesideTheStepThatNeedsThem) {
  FakeModel::Observer observer;
  Latch masks;  // open: it only counts
  masks.open();
  std::size_t steps = 0;
  observer.before_step = [&](std::span<const StepChunk>) {
    masks.wait_entered(++steps);  // would wait for ever if they were made after the step
    return ok();
  };
  const auto engine = start(observer);
  AnswerCollector answer;
  GenerateRequest r = request(1, 6);
  r.constraint = blocking_constraint(third, &masks, kEveryMask);
  ASSERT_TRUE(engine->submit(std::move(r), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kLength);
  engine->stop(milliseconds(0));
  EXPECT_EQ(masks.entered(), 6U);                  // one per token, none twice
  EXPECT_EQ(engine->stats().mask_time.total, 7U);  // and the last id's acceptance
}

// Refuses the id it gets n-th, from 0.
class RefusesAt final : public TokenConstraint {
 public:
  RefusesAt(std::size_t n, bool overrun) : left_(n), overrun_(overrun) {}
  std::span<const std::uint32_t> mask() override { return mask_; }
  bool accept(TokenId) override { return left_-- != 0; }
  bool overrun() const override { return overrun_; }

 private:
  std::size_t left_;
  bool overrun_;
  Mask mask_ = mask_of_all(kVocab);
};

TEST(MaskWaits, ARefusedIdIsNamedWithItsPositionAlsoIfItIsTheLast) {
  for (const std::size_t at : {0U, 4U, 11U}) {
    for (const bool overrun : {false, true}) {
      SCOPED_TRACE(at);
      FakeModel::Observer observer;
      const auto engine = start(observer);
      AnswerCollector answer;
      GenerateRequest r = request(3);
      r.constraint = [=] { return std::make_unique<RefusesAt>(at, overrun); };
      ASSERT_TRUE(engine->submit(r, answer.fn()));
      EXPECT_EQ(answer.wait(), FinishReason::kError);
      const std::string position = std::to_string(5 + at);
      if (overrun) {
        EXPECT_EQ(answer.error(),
                  "grammar: expected alternatives that can be followed in bounded steps and "
                  "memory, found more at position " +
                      position);
      } else {
        EXPECT_TRUE(answer.error().starts_with("constraint: token id ")) << answer.error();
        EXPECT_TRUE(answer.error().ends_with(" is in the mask and refused at position " + position))
            << answer.error();
      }
      // The refused id is known only after its caller was told, unless it ends the answer.
      EXPECT_EQ(answer.ids().size(), at == 11 ? 11U : at + 1);
      EXPECT_EQ(engine->stats().broken_constraints, overrun ? 0U : 1U);
    }
  }
}

}  // namespace
}  // namespace daybreak::engine
