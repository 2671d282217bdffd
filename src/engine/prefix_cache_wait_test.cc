// SPDX-License-Identifier: Apache-2.0
// What a request that waits for a place costs the prefix cache, and what the cache counts: a look
// when something has happened that might make a place, no use, and totals that are right.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>

#include "base/rng.h"
#include "engine/fake_model.h"
#include "engine/slot_table.h"
#include "testing/hand_clock.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

Ids random_ids(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  Ids ids(count);
  for (TokenId& id : ids) {
    id = rng.below(50);
  }
  return ids;
}

class PrefixCacheWait : public ::testing::Test {
 protected:
  using JobPtr = std::unique_ptr<Job>;

  JobPtr job_of(const Ids& prompt, std::size_t max_tokens = 5) {
    GenerateRequest r;
    r.prompt = prompt;
    r.max_tokens = max_tokens;
    return std::make_unique<Job>(
        RequestId{++last_id_}, r, [](const Update&) {}, Clock::TimePoint{});
  }
  Result<std::size_t> begin(Job& job) {
    DAYBREAK_TRY(SlotTable::Place place, table_.take(job, job.positions()));
    const std::size_t cached = place.cached_tokens;
    job.start(place.slot, std::move(place.sequence), cached, rows_, rows_.size());
    return cached;
  }
  void step(Job& job) {
    const auto ids = job.pending().first(SlotTable::cut(job, job.pending().size()));
    const bool last = ids.size() == job.pending().size();
    ASSERT_TRUE(model_.forward(std::vector<StepChunk>{
        {&job.sequence(), ids, last ? job.logits(ids.size()) : std::span<float>()}}));
    job.consume(ids.size());
    table_.advanced(job);
    if (job.due()) {
      ASSERT_TRUE(job.draw(scratch_));
    }
  }
  void read(Job& job) {
    while (job.reading()) {
      step(job);
    }
  }
  void end(Job& job, bool keep = true) {
    ProcessedSequence left = job.leave();
    table_.give_back(job.slot(), keep ? std::move(left) : ProcessedSequence{});
  }
  void run(const Ids& prompt, bool keep = true) {
    const JobPtr job = job_of(prompt);
    ASSERT_TRUE(begin(*job));
    read(*job);
    end(*job, keep);
  }
  [[nodiscard]] std::uint64_t finds() const { return table_.cache_stats().finds; }
  // What running jobs hold, as the engine's statistics have it.
  [[nodiscard]] std::size_t in_use() const {
    return model_.total_positions() - model_.free_positions() - table_.kept_positions() -
           table_.cached_positions();
  }

  FakeModel::Observer observer_;
  FakeModel model_{{.context_tokens = 2000, .slots = 3, .total_positions = 1000, .checkpoints = 20},
                   observer_};
  testing::HandClock clock_;
  SlotTable table_{model_, {.max_age = std::chrono::seconds(100), .clock = &clock_}};
  SamplerScratch scratch_;
  std::vector<float> rows_ = std::vector<float>(model_.vocab_size());
  std::uint64_t last_id_ = 0;
};

TEST_F(PrefixCacheWait, ARequestThatWaitsLooksOnceAndAgainWhenSomethingIsFree) {
  const JobPtr runs = job_of(random_ids(1, 500), 300);
  ASSERT_TRUE(begin(*runs));
  read(*runs);
  const JobPtr waits = job_of(random_ids(2, 600));
  const std::uint64_t before = finds();
  for (int i = 0; i < 10; ++i) {  // 501 to 510: no block ends
    EXPECT_EQ(begin(*waits).error().code, Errc::kResourceLimit);
    step(*runs);
  }
  EXPECT_EQ(finds() - before, 1U);
  for (int i = 0; i < 10; ++i) {  // at 512 there is a new checkpoint
    EXPECT_FALSE(begin(*waits));
    step(*runs);
  }
  EXPECT_EQ(finds() - before, 2U);
  end(*runs);
  EXPECT_TRUE(begin(*waits)) << "and what ended makes a place";
  EXPECT_EQ(finds() - before, 3U);
}

TEST_F(PrefixCacheWait, EverythingThatMayMakeAPlaceHasItLookAgain) {
  const JobPtr runs = job_of(random_ids(1, 500), 300);
  ASSERT_TRUE(begin(*runs));
  run(random_ids(3, 100));
  const SavedSequence saved = *table_.save(1);
  const JobPtr waits = job_of(random_ids(2, 600));
  const std::vector<std::function<void()>> events = {
      [&] { ASSERT_TRUE(table_.restore(1, saved)); }, [&] { ASSERT_TRUE(table_.erase(1)); },
      [&] { table_.erase_all(); }, [&] { table_.erase_unwanted(); },
      [&] {
        run(random_ids(3, 100));
        EXPECT_FALSE(begin(*waits));
        clock_.advance(std::chrono::seconds(100));
        EXPECT_TRUE(table_.erase_old());
      }};
  for (std::size_t i = 0; i < events.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_FALSE(begin(*waits));
    events[i]();
    const std::uint64_t before = finds();
    EXPECT_FALSE(begin(*waits));
    EXPECT_FALSE(begin(*waits));
    EXPECT_EQ(finds() - before, 1U);
  }
}

TEST_F(PrefixCacheWait, AWaitingRequestStartsFromWhatARunningOneHasCachedMeanwhile) {
  const Ids shared = random_ids(1, 450);
  const JobPtr runs = job_of(shared, 100);
  ASSERT_TRUE(begin(*runs));
  const JobPtr waits = job_of(shared, 300);  // 750 in all, of which 448 will be there
  EXPECT_FALSE(begin(*waits));
  read(*runs);
  const Result<std::size_t> cached = begin(*waits);
  ASSERT_TRUE(cached) << cached.error().message;
  EXPECT_EQ(*cached, 448U);
}

TEST_F(PrefixCacheWait, LookingIsNoUse) {
  run(random_ids(1, 300), false);
  const JobPtr runs = job_of(random_ids(2, 400), 200);
  ASSERT_TRUE(begin(*runs));
  clock_.advance(std::chrono::seconds(60));
  Ids like = random_ids(1, 300);
  like.resize(800, 1);
  EXPECT_FALSE(begin(*job_of(like)));
  clock_.advance(std::chrono::seconds(40));
  EXPECT_TRUE(table_.erase_old()) << "nobody has started from it";
  EXPECT_EQ(table_.cache_stats().blocks, 0U);

  run(random_ids(1, 300), false);
  clock_.advance(std::chrono::seconds(60));
  run(random_ids(1, 300), false);  // starts from it
  clock_.advance(std::chrono::seconds(40));
  EXPECT_FALSE(table_.erase_old());
}

TEST_F(PrefixCacheWait, ARequestThatFindsNoPlaceHoldsNothingBack) {
  run(random_ids(1, 300), false);
  const JobPtr runs = job_of(random_ids(2, 400), 300);
  ASSERT_TRUE(begin(*runs));
  const std::size_t cached = table_.cached_positions();
  EXPECT_EQ(cached, 256U);
  Ids like = random_ids(1, 300);
  like.resize(800, 1);
  EXPECT_FALSE(begin(*job_of(like))) << "it would start from 256";
  EXPECT_EQ(table_.cached_positions(), cached);
}

// Every position of a prompt up to the end of its blocks: what is taken over is what was cached, to
// the block, and the rest is computed. The rows of FakeModel tell a token too many or too few.
TEST_F(PrefixCacheWait, WhatIsTakenOverEndsWhereThePromptsPart) {
  const Ids prompt = random_ids(1, 200);
  for (std::size_t shared = 0; shared <= prompt.size(); ++shared) {
    table_.erase_all();
    run(prompt, false);
    Ids other(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(shared));
    other.resize(other.size() + (shared == prompt.size() ? 0 : 3), 51);
    const JobPtr job = job_of(other);
    ASSERT_EQ(*begin(*job), shared >= 192 && other.size() > 192 ? 192U : 0U) << shared;
    ASSERT_EQ(job->sequence().position(), job->cached());
    read(*job);
    ASSERT_EQ(job->sequence().position(), other.size());
    FakeSequence alone(&observer_, std::make_shared<std::atomic<std::size_t>>(0), 0, {});
    for (const TokenId id : other) {
      alone.feed(id);
    }
    ASSERT_EQ(static_cast<const FakeSequence&>(job->sequence()).hash, alone.hash) << shared;
    end(*job, false);
  }
}

TEST_F(PrefixCacheWait, WhatASiblingRunsOnDoesNotGoForOthers) {
  const Ids prompt = random_ids(1, 200);
  run(prompt, false);
  const JobPtr sibling = job_of(prompt, 100);
  ASSERT_EQ(*begin(*sibling), 192U);
  run(random_ids(2, 400), false);  // worth more than what the sibling has
  const JobPtr other = job_of(random_ids(3, 495));
  ASSERT_TRUE(begin(*other));
  EXPECT_GT(table_.cache_stats().evicted_blocks, 0U);
  EXPECT_EQ(*begin(*job_of(prompt)), 192U);
}

// A running sequence has its slot and its blocks to itself, whoever comes and goes beside it.
TEST_F(PrefixCacheWait, ASlotIsNotGivenAwayWhileItIsInUseOrKept) {
  run(random_ids(1, 100));  // kept in slot 0
  const JobPtr first = job_of(random_ids(2, 100));
  const JobPtr second = job_of(random_ids(3, 100));
  ASSERT_TRUE(begin(*first));
  ASSERT_TRUE(begin(*second));
  std::set<std::size_t> slots = {0, first->slot(), second->slot()};
  EXPECT_EQ(slots.size(), 3U);
  EXPECT_EQ(table_.info()[0].state, SlotState::kKept);
  EXPECT_EQ(table_.info()[first->slot()].request, static_cast<std::uint64_t>(first->id()));
  EXPECT_EQ(table_.info()[second->slot()].request, static_cast<std::uint64_t>(second->id()));
  end(*first);
  const JobPtr third = job_of(random_ids(4, 900));  // what is kept goes for it
  ASSERT_FALSE(begin(*third)) << "beside the second there is no room";
  end(*second);
  ASSERT_TRUE(begin(*third));
  EXPECT_EQ(table_.info()[third->slot()].request, static_cast<std::uint64_t>(third->id()));
}

TEST_F(PrefixCacheWait, ARequestGoesOnInTheSlotOfTheSequenceItTakesOver) {
  run(random_ids(1, 30));
  run(random_ids(2, 30));
  for (const std::uint64_t seed : {2U, 1U}) {
    Ids more = random_ids(seed, 30);
    more.push_back(1);
    const JobPtr job = job_of(more);
    ASSERT_EQ(*begin(*job), 30U);
    EXPECT_EQ(job->slot(), seed - 1);
    EXPECT_EQ(table_.kept(), 1U);
    end(*job, true);
  }
}

TEST_F(PrefixCacheWait, WhatIsKeptIsInUseAgainWhenARequestGoesOnFromIt) {
  run(random_ids(1, 200));
  EXPECT_EQ(in_use(), 0U);
  EXPECT_EQ(table_.cached_positions(), 192U);
  Ids more = random_ids(1, 200);
  more.push_back(1);
  const JobPtr job = job_of(more);
  ASSERT_EQ(*begin(*job), 200U);
  EXPECT_EQ(in_use(), 206U);
  EXPECT_EQ(table_.cached_positions(), 0U);
}

// Starts, steps and ends at random, with what is cached forgotten under running sequences in the
// second half: whatever running jobs have is in use, and no more.
TEST_F(PrefixCacheWait, TheTotalsAreRightWhateverHappens) {
  Rng rng(5);
  std::vector<JobPtr> running;
  std::size_t started = 0;
  const auto act = [&](bool erases) {
    const std::uint32_t what = rng.below(40);
    if (what < 8 && running.size() < 3) {
      Ids prompt = random_ids(rng.below(2), 64 + rng.below(200));
      prompt.resize(prompt.size() + rng.below(70), rng.below(3));
      JobPtr job = job_of(prompt, 1 + rng.below(150));
      if (begin(*job)) {
        ++started;
        running.push_back(std::move(job));
      }
    } else if (what < 37 && !running.empty()) {
      Job& job = *running[rng.below(static_cast<std::uint32_t>(running.size()))];
      if (job.generated() < job.request().max_tokens) {
        step(job);
      }
    } else if (what == 37 && erases && rng.below(8) == 0) {
      table_.erase_all();
    } else if (!running.empty()) {
      end(*running.front(), rng.below(3) > 0);
      running.erase(running.begin());
    }
  };
  const auto of_running = [&] {
    std::set<const void*> blocks;
    std::size_t own = 0;
    for (const JobPtr& job : running) {
      const auto& sequence = static_cast<const FakeSequence&>(job->sequence());
      own += sequence.room;
      const auto its = sequence.shared_blocks();
      blocks.insert(its.begin(), its.end());
    }
    return own + blocks.size() * FakeSequence::kBlock;
  };
  for (int i = 0; i < 4000; ++i) {
    act(false);
    ASSERT_EQ(in_use(), of_running()) << i;
  }
  for (int i = 0; i < 4000; ++i) {
    act(true);
    // What several kept sequences share and the cache has forgotten is nobody's, so in use.
    ASSERT_GE(in_use(), of_running()) << i;
  }
  while (!running.empty()) {
    end(*running.back());
    running.pop_back();
  }
  table_.erase_all();
  EXPECT_EQ(in_use(), 0U);
  EXPECT_EQ(table_.cached_positions(), 0U);
  EXPECT_GT(started, 100U);
}

}  // namespace
}  // namespace daybreak::engine
