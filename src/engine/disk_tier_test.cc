// SPDX-License-Identifier: Apache-2.0
// The prefix cache's second tier in an engine: what requests get from it, what is never in it, and
// what it must never cost.

#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <future>
#include <set>
#include <thread>

#include "base/rng.h"
#include "cache/disk_store_testing.h"
#include "cache/event_mirror.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_adapter.h"
#include "engine/fake_model.h"
#include "testing/paths.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;
using cache::kBlockTokens;

GenerateRequest request_of(std::uint64_t seed, std::size_t blocks, std::string isolation = "") {
  Rng rng(seed);
  GenerateRequest r;
  for (std::size_t i = 0; i < blocks * kBlockTokens + 5; ++i) {
    r.prompt.push_back(rng.below(50));
  }
  r.max_tokens = 6;
  r.sampling.seed = 7;
  r.isolation = std::move(isolation);
  return r;
}

class DiskTierTest : public ::testing::Test {
 protected:
  DiskOptions disk() {
    return {.directory = directory_.path(), .max_bytes = 1 << 20, .keep = cache::Keep::kParts};
  }
  std::unique_ptr<Engine> start(const DiskOptions& disk,
                                FakeModelOptions model = {.checkpoints = 4},
                                EngineOptions options = {}) {
    options.disk = disk;
    auto engine = Engine::start(std::make_unique<FakeModel>(model, observer_), options);
    EXPECT_TRUE(engine) << engine.error().message;
    return engine ? *std::move(engine) : nullptr;
  }
  // Returns how many tokens of the prompt were not computed, and checks the answer.
  std::size_t ask(Engine& engine, const GenerateRequest& request) {
    AnswerCollector answer;
    EXPECT_TRUE(engine.submit(request, answer.fn()));
    EXPECT_EQ(answer.wait(), FinishReason::kLength) << answer.error();
    EXPECT_EQ(answer.ids(), fresh(request));
    return answer.usage().cached_tokens;
  }
  static Ids fresh(const GenerateRequest& request) {
    FakeModel::Observer own;
    const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, own),
                                       {.prefix_reuse = PrefixReuse::kOff});
    AnswerCollector answer;
    EXPECT_TRUE(engine->submit(request, answer.fn()));
    answer.wait();
    return answer.ids();
  }
  static void settle(const Engine& engine) {
    while (engine.stats().disk->queued > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  static void between_steps(Engine& engine, const std::function<void(Slots&)>& work) {
    std::promise<void> done;
    ASSERT_TRUE(engine.between_steps([&](Slots& slots) {
      work(slots);
      slots.when_gone([&] { done.set_value(); });
    }));
    done.get_future().wait();
  }

  FakeObserver observer_;
  cache::testing::TemporaryDirectory directory_;
};

TEST_F(DiskTierTest, WhatMemoryHasNoPlaceForComesFromTheDisk) {
  const auto engine = start(disk(), {.checkpoints = 1});
  std::size_t cached = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const std::size_t got = ask(*engine, request_of(seed, 3));
      EXPECT_EQ(got, round == 0 ? 0 : 3 * kBlockTokens) << round << " " << seed;
      cached += got;
      settle(*engine);
    }
  }
  EXPECT_EQ(engine->stats().prefix_hits, cached);
  EXPECT_EQ(engine->stats().disk->loads, 8U);
  EXPECT_EQ(engine->stats().disk_load_time.total, 8U);
}

TEST_F(DiskTierTest, ARestartKeepsWhatItShallAndNothingElse) {
  for (const bool keep : {true, false}) {
    DiskOptions options = disk();
    options.keep = keep ? cache::Keep::kParts : cache::Keep::kNothing;
    {
      const auto engine = start(options);
      EXPECT_EQ(ask(*engine, request_of(1, 2)), 0U);
      EXPECT_EQ(ask(*engine, request_of(1, 2)), 2 * kBlockTokens) << "from memory";
      EXPECT_EQ(engine->stats().disk->loads, 0U);
    }
    const auto engine = start(options);
    EXPECT_EQ(ask(*engine, request_of(1, 2)), keep ? 2 * kBlockTokens : 0);
    between_steps(*engine, [](Slots& slots) { slots.erase_all(); });
  }
}

TEST_F(DiskTierTest, AnotherModelTakesNothing) {
  {
    ask(*start(disk()), request_of(1, 2));
  }
  DiskOptions other = disk();
  other.model_digest = "other";
  EXPECT_EQ(ask(*start(other), request_of(1, 2)), 0U);
  other = disk();
  {
    ask(*start(other), request_of(1, 2));
  }
  EXPECT_EQ(ask(*start(other, {.checkpoints = 4, .fingerprint = 2}), request_of(1, 2)), 0U);
}

TEST_F(DiskTierTest, AdaptersShareNothing) {
  const AdapterPtr adapter = fake_adapter("sql", "d1");
  const AdapterPtr reloaded = fake_adapter("sql", "d2");  // the same name, other matrices
  const auto with = [](const AdapterPtr& one) {
    GenerateRequest request = request_of(1, 2, "one");
    request.adapter = one;
    return request;
  };
  ask(*start(disk()), with(adapter));
  const auto engine = start(disk());
  EXPECT_EQ(ask(*engine, with(nullptr)), 0U);
  EXPECT_EQ(ask(*engine, with(reloaded)), 0U);
  EXPECT_EQ(ask(*engine, with(adapter)), 2 * kBlockTokens);
  EXPECT_EQ(engine->stats().disk->loads, 1U);
}

TEST_F(DiskTierTest, SaltsShareNothingAndZeroRetentionIsNeverThere) {
  {
    const auto engine = start(disk());
    ask(*engine, request_of(1, 2, "one"));
    settle(*engine);
    const std::size_t files = directory_.files().size();
    EXPECT_EQ(files, 3U);
    GenerateRequest zero = request_of(2, 2, "zero");
    zero.zero_retention = true;
    zero.max_tokens = 80;  // its answer has a block too
    EXPECT_EQ(ask(*engine, zero), 0U);
    EXPECT_EQ(ask(*engine, zero), 2 * kBlockTokens) << "memory may have it";
    settle(*engine);
    EXPECT_EQ(directory_.files().size(), files);
    for (std::size_t slot = 0; slot < 5; ++slot) {
      between_steps(*engine, [&](Slots& slots) {
        const auto saved = slots.save(slot);
        EXPECT_TRUE(!saved || saved->text == "one");
      });
    }
  }
  const auto engine = start(disk());
  EXPECT_EQ(ask(*engine, request_of(1, 2, "two")), 0U);
  EXPECT_EQ(ask(*engine, request_of(2, 2, "zero")), 0U);
  EXPECT_EQ(ask(*engine, request_of(1, 2, "one")), 2 * kBlockTokens);
}

TEST_F(DiskTierTest, NobodyIsToldOfZeroRetention) {
  const auto mirror = std::make_shared<cache::testing::EventMirror>();
  EngineOptions options;
  options.cache_events = mirror;
  const auto engine = start(disk(), {.checkpoints = 4}, options);
  GenerateRequest zero = request_of(2, 2, "zero");
  zero.zero_retention = true;
  ask(*engine, zero);
  between_steps(*engine, [&](Slots&) { EXPECT_EQ(mirror->blocks(), 0U); });
  ask(*engine, request_of(1, 2));
  between_steps(*engine, [&](Slots&) { EXPECT_EQ(mirror->blocks(), 2U); });
  // What comes from the disk is told of like what is computed.
  settle(*engine);
}

TEST_F(DiskTierTest, WhatComesFromTheDiskIsToldOf) {
  {
    ask(*start(disk()), request_of(1, 2));
  }
  const auto mirror = std::make_shared<cache::testing::EventMirror>();
  EngineOptions options;
  options.cache_events = mirror;
  const auto engine = start(disk(), {.checkpoints = 4}, options);
  EXPECT_EQ(ask(*engine, request_of(1, 2)), 2 * kBlockTokens);
  between_steps(*engine, [&](Slots&) {
    EXPECT_EQ(mirror->blocks(), 2U);
    EXPECT_EQ(mirror->usable(request_of(1, 2).prompt, ""), 2 * kBlockTokens);
  });
}

TEST_F(DiskTierTest, WhatIsForgottenNeverComesBack) {
  std::set<std::string> revoked;
  EngineOptions options;
  options.owner_valid = [&](const std::string& isolation) { return !revoked.contains(isolation); };
  {
    const auto engine = start(disk(), {.checkpoints = 4}, options);
    ask(*engine, request_of(1, 2, "one"));
    ask(*engine, request_of(1, 2, "two"));
    settle(*engine);
    EXPECT_EQ(directory_.files().size(), 6U);
    between_steps(*engine, [&](Slots& slots) {
      revoked.insert("one");
      slots.erase_unwanted();
    });
    EXPECT_EQ(directory_.files().size(), 3U);
  }
  revoked = {"two"};  // while no server runs
  {
    const auto engine = start(disk(), {.checkpoints = 4}, options);
    EXPECT_EQ(engine->stats().disk->blocks, 0U);
    ask(*engine, request_of(1, 2, "three"));
    settle(*engine);
    between_steps(*engine, [&](Slots& slots) { slots.erase_all(); });
    EXPECT_TRUE(directory_.files().empty());
    EXPECT_EQ(ask(*engine, request_of(1, 2, "three")), 0U);
    between_steps(*engine, [&](Slots& slots) { slots.erase_all(); });
  }
  EXPECT_EQ(ask(*start(disk()), request_of(1, 2, "three")), 0U);
}

TEST_F(DiskTierTest, WhatBeginsAsASequenceThatFailedGoes) {
  const auto engine = start(disk());
  ask(*engine, request_of(1, 2));
  settle(*engine);
  EXPECT_EQ(engine->stats().disk->blocks, 2U);
  observer_.before_step = [](std::span<const StepChunk>) -> Status {
    return Error{Errc::kIo, "fake: broken"};
  };
  AnswerCollector answer;
  ASSERT_TRUE(engine->submit(request_of(1, 2), answer.fn()));
  EXPECT_EQ(answer.wait(), FinishReason::kError);
  between_steps(*engine, [](Slots&) {});
  EXPECT_EQ(engine->stats().disk->blocks, 0U);
  EXPECT_TRUE(directory_.files().empty());
}

TEST_F(DiskTierTest, DamageIsComputedAnew) {
  {
    ask(*start(disk()), request_of(1, 3));
  }
  std::size_t damaged = 0;
  for (const auto& file : directory_.files()) {
    std::string bytes = daybreak::testing::read_file(file);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    ++damaged;
  }
  EXPECT_EQ(damaged, 4U);
  const auto engine = start(disk());
  EXPECT_EQ(engine->stats().disk->blocks, 3U);
  EXPECT_EQ(ask(*engine, request_of(1, 3)), 0U);
  EXPECT_EQ(engine->stats().disk->failed_loads, 1U);
  EXPECT_EQ(engine->stats().disk->damaged, 1U);
  settle(*engine);
  EXPECT_EQ(engine->stats().disk->checkpoints, 1U) << "stored again";
}

TEST_F(DiskTierTest, LessThanTheLeastIsNeitherStoredNorLoaded) {
  DiskOptions options = disk();
  options.min_tokens = 2 * kBlockTokens + 1;
  {
    const auto engine = start(options);
    ask(*engine, request_of(1, 2));
    ask(*engine, request_of(2, 3));
    settle(*engine);
    EXPECT_EQ(engine->stats().disk->checkpoints, 1U);
  }
  options.min_tokens = 4 * kBlockTokens;
  EXPECT_EQ(ask(*start(options), request_of(2, 3)), 0U);
}

TEST_F(DiskTierTest, AModelThatSharesNothingIsRefused) {
  EngineOptions options;
  options.disk = disk();
  const auto engine =
      Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer_), options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, Errc::kInvalidArgument);
}

// The reader waits at the end of each load until it is let go on.
class DiskTierHeld : public DiskTierTest {
 protected:
  DiskOptions held() {
    DiskOptions options = disk();
    options.at_read = [this] {
      std::unique_lock lock(mutex_);
      ++reading_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return open_; });
    };
    return options;
  }
  void wait_for_reader() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reading_ > 0; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void store(std::uint64_t seeds) {
    const auto engine = start(disk());
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      ask(*engine, request_of(seed, 3));
      settle(*engine);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t reading_ = 0;
  bool open_ = false;
};

TEST_F(DiskTierHeld, OthersGoOnWhileOneWaitsForTheDisk) {
  store(1);
  const auto engine = start(held(), {.slots = 1, .checkpoints = 4});
  AnswerCollector waits;
  ASSERT_TRUE(engine->submit(request_of(0, 3), waits.fn()));
  wait_for_reader();
  for (std::uint64_t seed = 10; seed < 15; ++seed) {
    ask(*engine, request_of(seed, 2));
  }
  EXPECT_FALSE(waits.finished_within(std::chrono::milliseconds(0)));
  EXPECT_EQ(engine->stats().queued, 1U) << "it holds no slot";
  let_go();
  EXPECT_EQ(waits.wait(), FinishReason::kLength);
  EXPECT_EQ(waits.usage().cached_tokens, 3 * kBlockTokens);
  EXPECT_EQ(waits.ids(), fresh(request_of(0, 3)));
}

TEST_F(DiskTierHeld, LoadsAtOnceAreBoundedAndNobodyIsForgotten) {
  store(6);
  const auto engine = start(held(), {.checkpoints = 8});
  std::deque<AnswerCollector> answers(7);
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    ASSERT_TRUE(engine->submit(request_of(seed % 6, 3), answers[seed].fn()));
  }
  wait_for_reader();
  ask(*engine, request_of(50, 1));
  EXPECT_EQ(engine->stats().queued, 7U);
  EXPECT_EQ(engine->stats().positions_reserved, kMaxLoads * 3 * kBlockTokens);
  let_go();
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    EXPECT_EQ(answers[seed].wait(), FinishReason::kLength);
    EXPECT_EQ(answers[seed].usage().cached_tokens, 3 * kBlockTokens) << seed;
    EXPECT_EQ(answers[seed].ids(), fresh(request_of(seed % 6, 3)));
  }
  EXPECT_EQ(engine->stats().disk->loads, 6U) << "two that want the same wait for one load";
}

TEST_F(DiskTierHeld, WhatIsForgottenWhileItIsReadIsNotTaken) {
  store(1);
  const auto engine = start(held());
  AnswerCollector waits;
  ASSERT_TRUE(engine->submit(request_of(0, 3), waits.fn()));
  wait_for_reader();
  std::promise<void> erased;
  std::promise<void> gone;
  ASSERT_TRUE(engine->between_steps([&](Slots& slots) {
    slots.erase_all();
    slots.when_gone([&] { gone.set_value(); });
    erased.set_value();
  }));
  erased.get_future().wait();
  let_go();
  EXPECT_EQ(waits.wait(), FinishReason::kLength);
  EXPECT_EQ(waits.usage().cached_tokens, 0U);
  EXPECT_EQ(waits.ids(), fresh(request_of(0, 3)));
  gone.get_future().wait();
}

TEST_F(DiskTierHeld, ARequestThatIsCancelledWhileItWaitsEndsAtOnce) {
  store(1);
  const auto engine = start(held());
  AnswerCollector waits;
  const auto id = engine->submit(request_of(0, 3), waits.fn());
  ASSERT_TRUE(id);
  wait_for_reader();
  engine->cancel(*id);
  EXPECT_EQ(waits.wait(), FinishReason::kCancelled);
  let_go();
  EXPECT_EQ(ask(*engine, request_of(0, 3)), 3 * kBlockTokens) << "what came is there for others";
}

TEST_F(DiskTierHeld, AnEngineThatStopsWhileOneWaitsEnds) {
  store(1);
  auto engine = start(held());
  AnswerCollector waits;
  ASSERT_TRUE(engine->submit(request_of(0, 3), waits.fn()));
  wait_for_reader();
  std::thread stopper([&] { engine->stop(std::chrono::milliseconds(1)); });
  EXPECT_EQ(waits.wait(), FinishReason::kCancelled);
  let_go();
  stopper.join();
}

// The writer stands still in the middle of the first block, which it holds: of the memory for
// sequences of kAll positions, all but that block can be had.
class DiskTierPinned : public DiskTierTest {
 protected:
  static constexpr std::size_t kAll = 6 * kBlockTokens;

  void SetUp() override {
    DiskOptions options = disk();
    options.at_write = [this](cache::WritePoint at) {
      if (at == cache::WritePoint::kHalf && std::exchange(first_, false)) {
        reached_.set_value();
        go_on_.get_future().wait();
      }
    };
    EngineOptions small;
    small.answer_reserve = 1;
    engine_ = start(options, {.slots = 1, .total_positions = kAll, .checkpoints = 4}, small);
    ask(*engine_, request_of(1, 2));
    reached_.get_future().wait();
  }
  // One round of the engine.
  void look() {
    std::promise<void> looked;
    ASSERT_TRUE(engine_->between_steps([&](Slots&) { looked.set_value(); }));
    looked.get_future().wait();
  }

  bool first_ = true;
  std::promise<void> reached_;
  std::promise<void> go_on_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(DiskTierPinned, WhatIsBeingWrittenCostsNobodyHisPlace) {
  GenerateRequest large = request_of(2, 5);
  large.max_tokens = kAll - large.prompt.size();
  AnswerCollector waits;
  ASSERT_TRUE(engine_->submit(large, waits.fn()));
  look();
  look();
  EXPECT_EQ(engine_->stats().queued, 1U);
  go_on_.set_value();
  EXPECT_EQ(waits.wait(), FinishReason::kLength) << waits.error();
  EXPECT_EQ(waits.ids(), fresh(large));
}

TEST_F(DiskTierPinned, WhatIsBeingWrittenCostsNoAnswerItsEnd) {
  GenerateRequest growing = request_of(2, 3);
  growing.max_tokens = kAll - growing.prompt.size();
  AnswerCollector waits;
  ASSERT_TRUE(engine_->submit(growing, waits.fn()));
  const std::size_t most = kAll - kBlockTokens - growing.prompt.size();
  while (engine_->stats().generated_tokens < 6 + most) {
    ASSERT_FALSE(waits.finished_within(std::chrono::milliseconds(1)));
  }
  look();
  look();
  EXPECT_FALSE(waits.finished_within(std::chrono::milliseconds(0)));
  go_on_.set_value();
  EXPECT_EQ(waits.wait(), FinishReason::kLength) << waits.error();
  EXPECT_EQ(waits.ids(), fresh(growing));
}

}  // namespace
}  // namespace daybreak::engine
