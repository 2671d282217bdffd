// SPDX-License-Identifier: Apache-2.0
// Many threads submit to, cancel on and stop one engine: every accepted request ends exactly once,
// uncancelled ones with the answer they have alone, and nothing is left behind.

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "base/rng.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/scripted_constraint.h"

namespace daybreak::engine {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kRequests = 40;  // per thread
constexpr std::size_t kKinds = 8;      // distinct requests

GenerateRequest request(std::uint64_t which) {
  GenerateRequest r;
  Rng rng(which);
  r.prompt.resize(1 + rng.below(30));
  for (TokenId& id : r.prompt) {
    id = rng.below(50);
  }
  r.max_tokens = 1 + rng.below(20);
  r.sampling.seed = which;
  if (which % 2 == 1) {
    r.constraint = ScriptedConstraint::factory([](const std::vector<TokenId>& accepted) {
      std::vector<TokenId> allowed;
      for (TokenId id = accepted.size() % 3; id < 50; id += 3) {
        allowed.push_back(id);
      }
      return mask_of(50, allowed);
    });
  }
  return r;
}

std::array<std::vector<TokenId>, kKinds> answers_alone() {
  std::array<std::vector<TokenId>, kKinds> expected;
  FakeModel::Observer observer;
  const auto engine = *Engine::start(
      std::make_unique<FakeModel>(FakeModelOptions{.slots = 1}, observer), EngineOptions{});
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    AnswerCollector answer;
    EXPECT_TRUE(engine->submit(request(kind), answer.fn()));
    answer.wait();
    expected[kind] = answer.ids();
  }
  return expected;
}

struct Tally {
  std::size_t accepted = 0;
  std::size_t refused = 0;
};

// Submits requests, cancels some at once, some after a while, and checks every end.
Tally client(Engine& engine, std::size_t thread,
             const std::array<std::vector<TokenId>, kKinds>& expected) {
  Rng rng(thread);
  Tally tally;
  for (std::size_t n = 0; n < kRequests; ++n) {
    const std::size_t kind = rng.below(kKinds);
    AnswerCollector answer;
    const Result<RequestId> id = engine.submit(request(kind), answer.fn());
    if (!id) {
      EXPECT_EQ(id.error().code, Errc::kResourceLimit);
      ++tally.refused;
      std::this_thread::yield();
      continue;
    }
    ++tally.accepted;
    const bool cancel = rng.below(3) == 0;
    if (cancel) {
      engine.cancel(*id);
    }
    const FinishReason reason = answer.wait();
    if (reason == FinishReason::kCancelled) {
      EXPECT_TRUE(cancel);
      EXPECT_LE(answer.ids().size(), expected[kind].size());
    } else {
      EXPECT_EQ(answer.ids(), expected[kind]);
    }
  }
  return tally;
}

void every_request_ends_once(std::chrono::microseconds mask_grace) {
  const auto expected = answers_alone();
  FakeModel::Observer observer;
  const FakeModelOptions model{.slots = 2, .total_positions = 80};
  auto engine =
      *Engine::start(std::make_unique<FakeModel>(model, observer),
                     EngineOptions{.max_queue = 1, .step_tokens = 6, .mask_grace = mask_grace});
  std::array<Tally, kThreads> tallies;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { tallies[t] = client(*engine, t, expected); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Tally sum;
  for (const Tally& tally : tallies) {
    sum.accepted += tally.accepted;
    sum.refused += tally.refused;
  }
  EXPECT_EQ(engine->stop(std::chrono::milliseconds(0)), 0U);
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.submitted, sum.accepted);
  EXPECT_EQ(stats.rejected, sum.refused);
  EXPECT_EQ(stats.finished_length + stats.finished_cancelled, sum.accepted);
  EXPECT_EQ(stats.positions_reserved, 0U);
  EXPECT_EQ(observer.alive, 0U);
}

TEST(EngineThreads, EveryAcceptedRequestEndsOnceWithTheAnswerItHasAlone) {
  every_request_ends_once(kMaskGrace);
}

TEST(EngineThreads, EveryAcceptedRequestEndsOnceAlsoIfNoMaskIsWaitedFor) {
  every_request_ends_once(std::chrono::microseconds(0));
}

TEST(EngineThreads, StopRacesWithSubmissionsWithoutLosingOne) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    FakeModel::Observer observer;
    auto engine =
        *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer), EngineOptions{});
    std::thread submitter([&] {
      for (int n = 0; n < 50; ++n) {
        AnswerCollector answer;
        const Result<RequestId> id = engine->submit(request(round), answer.fn());
        if (!id) {
          EXPECT_EQ(id.error().code, Errc::kUnavailable);
          return;
        }
        answer.wait();
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(50 * round));
    engine->stop(std::chrono::milliseconds(0));
    submitter.join();
    EXPECT_EQ(observer.alive, 0U);
  }
}

}  // namespace
}  // namespace daybreak::engine
