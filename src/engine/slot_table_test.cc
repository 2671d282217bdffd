// SPDX-License-Identifier: Apache-2.0
#include "engine/slot_table.h"

#include <gtest/gtest.h>

#include "engine/fake_model.h"
#include "testing/hand_clock.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;

GenerateRequest request(Ids prompt, std::size_t max_tokens = 4) {
  GenerateRequest r;
  r.prompt = std::move(prompt);
  r.max_tokens = max_tokens;
  return r;
}

Job job_of(GenerateRequest r) {
  return {RequestId{1}, std::move(r), [](const Update&) {}, {}};
}

// A table of two slots and 100 positions.
struct SlotTableTest : ::testing::Test {
  FakeModel::Observer observer;
  FakeModel model{{.context_tokens = 100, .slots = 2, .total_positions = 100}, observer};
  testing::HandClock clock;
  std::string unwanted = "nobody's";  // isolation of what may not be kept
  SlotTable table{model,
                  {.max_age = std::chrono::seconds(100),
                   .owner_valid = [this](const std::string& whose) { return whose != unwanted; },
                   .clock = &clock}};

  // Reads `prompt` and leaves it kept; returns the slot.
  std::size_t keep(const Ids& prompt, const std::string& isolation = "") {
    GenerateRequest r = request(prompt);
    r.isolation = isolation;
    Job job = job_of(r);
    auto place = *table.take(job, job.positions());
    const std::span rest = std::span(prompt).subspan(place.cached_tokens);
    EXPECT_TRUE(model.forward(std::vector<StepChunk>{{place.sequence.get(), rest, {}}}));
    table.give_back(place.slot, {std::move(place.sequence), prompt, isolation});
    return place.slot;
  }
  // Returns how many ids of the request need not be computed; what is kept goes or stays as for it.
  std::size_t cached(const GenerateRequest& r) {
    Job job = job_of(r);
    auto place = *table.take(job, job.positions());
    table.give_back(place.slot, {});
    return place.cached_tokens;
  }
};

TEST_F(SlotTableTest, GoesOnFromTheLongestProperPrefix) {
  keep({1, 2, 3});
  keep({1, 2});
  Job job = job_of(request({1, 2, 3, 4, 5}));
  auto place = *table.take(job, job.positions());
  EXPECT_EQ(place.cached_tokens, 3U);
  EXPECT_EQ(place.sequence->position(), 3U);
  EXPECT_EQ(table.kept(), 1U);
  job.start(place.slot, std::move(place.sequence), place.cached_tokens, {}, 0);
  const SlotInfo info = table.info()[place.slot];
  EXPECT_EQ(info.state, SlotState::kBusy);
  EXPECT_EQ(info.request, 1U);
  EXPECT_EQ(info.tokens, 3U);
  EXPECT_EQ(info.prompt_tokens, 5U);
  EXPECT_EQ(info.cached_tokens, 3U);
  EXPECT_EQ(info.max_tokens, 4U);
}

TEST_F(SlotTableTest, DoesNotGoOnFromWhatIsNoProperPrefix) {
  for (const Ids& prompt : {Ids{1, 2, 3}, Ids{1, 2}, Ids{1, 2, 4, 5}, Ids{2, 2, 3, 4}}) {
    keep({1, 2, 3});
    EXPECT_EQ(cached(request(prompt)), 0U);
  }
  EXPECT_EQ(cached(request({1, 2, 3, 4})), 3U);
}

TEST_F(SlotTableTest, RequestsOfDifferentIsolationShareNothing) {
  keep({1, 2, 3}, "a");
  GenerateRequest r = request({1, 2, 3, 4});
  EXPECT_EQ(cached(r), 0U);
  r.isolation = "b";
  EXPECT_EQ(cached(r), 0U);
  r.isolation = "a";
  EXPECT_EQ(cached(r), 3U);
}

TEST_F(SlotTableTest, LogProbabilitiesOfThePromptNeedAllRows) {
  keep({1, 2, 3});
  GenerateRequest r = request({1, 2, 3, 4});
  r.prompt_logprobs = 0;
  EXPECT_EQ(cached(r), 0U);
}

TEST_F(SlotTableTest, WhatIsKeptHoldsOnlyThePositionsItHas) {
  keep({1, 2, 3});
  EXPECT_EQ(table.kept_positions(), 3U);
  EXPECT_EQ(model.free_positions(), 97U);
}

TEST_F(SlotTableTest, TheOneUsedLongestAgoGoesForASlot) {
  const std::size_t first = keep({1, 2, 3});
  const std::size_t second = keep({4, 5, 6});
  EXPECT_NE(first, second);
  EXPECT_EQ(keep({1, 2, 3, 4}), first);  // used again: now the second is older
  EXPECT_EQ(keep({7, 8}), second);
  EXPECT_EQ(table.kept(), 2U);
  EXPECT_EQ(cached(request({1, 2, 3, 4, 5})), 4U);
}

TEST_F(SlotTableTest, KeptSequencesGoForPositionsAndOnlyAsManyAsNeeded) {
  keep(Ids(30, 1));
  keep(Ids(20, 2));
  Job job = job_of(request(Ids(10, 3), 60));
  const auto place = table.take(job, job.positions());
  ASSERT_TRUE(place);
  EXPECT_EQ(table.kept(), 1U);
  EXPECT_EQ(table.kept_positions(), 20U);
}

TEST_F(SlotTableTest, OthersGoForTheRoomOfTheAnswerThatGoesOn) {
  keep(Ids(30, 1));
  keep(Ids(40, 2));
  Job job = job_of(request(Ids(41, 2), 59));
  const auto place = table.take(job, job.positions());
  ASSERT_TRUE(place);
  EXPECT_EQ(place->cached_tokens, 40U);
  EXPECT_EQ(table.kept(), 0U);
}

TEST_F(SlotTableTest, NothingGoesForARequestThatMustWait) {
  keep(Ids(10, 1));
  Job running = job_of(request(Ids(40, 2), 20));
  const auto place = table.take(running, running.positions());
  ASSERT_TRUE(place);
  for (const TokenId id : {1U, 3U}) {  // one that could go on, and one that could not
    Job waiting = job_of(request(Ids(20, id), 30));
    const auto none = table.take(waiting, waiting.positions());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::kResourceLimit);
    EXPECT_EQ(table.kept(), 1U);
    EXPECT_EQ(table.kept_positions(), 10U);
  }
}

TEST_F(SlotTableTest, KeepsNothingWhenOff) {
  SlotTable off(model, {.reuse = PrefixReuse::kOff});
  Job job = job_of(request({1, 2}));
  auto place = *off.take(job, job.positions());
  off.give_back(place.slot, {std::move(place.sequence), {1, 2}, ""});
  EXPECT_EQ(off.kept(), 0U);
  EXPECT_EQ(model.free_positions(), 100U);
  EXPECT_EQ(off.restore(0, {"", {1}, {}}).error().code, Errc::kUnsupported);
}

TEST_F(SlotTableTest, ASavedSequenceIsRestoredToAnySlotOfAnotherTable) {
  const std::size_t slot = keep({1, 2, 3}, "a");
  const SavedSequence saved = *table.save(slot);
  EXPECT_EQ(saved.ids, (Ids{1, 2, 3}));
  for (const bool replaces : {false, true}) {
    SCOPED_TRACE(replaces);
    table.erase_all();
    if (replaces) {
      keep({9, 9, 9, 9});
      keep({8, 8, 8, 8});
    }
    ASSERT_TRUE(table.restore(1, saved));
    EXPECT_EQ(table.info()[1].state, SlotState::kKept);
    EXPECT_EQ(table.info()[1].tokens, 3U);
    EXPECT_EQ(table.kept(), replaces ? 2U : 1U);
    GenerateRequest r = request({1, 2, 3, 4});
    r.isolation = "a";
    EXPECT_EQ(cached(r), 3U);
  }
}

TEST_F(SlotTableTest, RestoreRefusesWhatIsDamagedAndKeepsWhatItKept) {
  const std::size_t slot = keep({1, 2, 3});
  const SavedSequence good = *table.save(slot);
  SavedSequence cut = good;
  cut.state.pop_back();
  EXPECT_EQ(table.restore(slot, cut).error().code, Errc::kCorrupt);
  EXPECT_EQ(table.restore(slot, {"", {}, good.state}).error().code, Errc::kCorrupt);
  EXPECT_EQ(cached(request({1, 2, 3, 4})), 3U);
  SavedSequence longer = good;
  longer.ids.push_back(4);
  EXPECT_EQ(table.restore(slot, longer).error().message,
            "saved slot: expected 4 positions, one per id, found 3");
  EXPECT_EQ(table.kept(), 0U);
  SavedSequence huge = good;
  huge.ids.assign(101, 1);
  EXPECT_EQ(table.restore(slot, huge).error().code, Errc::kTooLarge);
  EXPECT_EQ(model.free_positions(), 100U);
}

TEST_F(SlotTableTest, RestoreMakesRoomByForgettingOthersButNeverHarmsARequest) {
  const SavedSequence saved = *table.save(keep(Ids(50, 1)));
  table.erase_all();
  const std::size_t other = keep(Ids(60, 2));
  ASSERT_TRUE(table.restore(1 - other, saved));
  EXPECT_EQ(table.info()[other].state, SlotState::kEmpty);
  table.erase_all();
  Job running = job_of(request(Ids(40, 3), 20));
  const auto place = table.take(running, running.positions());
  ASSERT_TRUE(place);
  EXPECT_EQ(table.restore(1 - place->slot, saved).error().code, Errc::kResourceLimit);
  EXPECT_EQ(table.restore(place->slot, saved).error().message,
            "slot 0: answers a request at the moment");
}

TEST_F(SlotTableTest, RestoreForWhichThereIsNoRoomForgetsNothing) {
  const SavedSequence saved = *table.save(keep(Ids(50, 1)));
  table.erase_all();
  FakeModel three{{.context_tokens = 100, .slots = 3, .total_positions = 100}, observer};
  SlotTable other{three, {}};
  Job running = job_of(request(Ids(40, 3), 20));
  const auto place = other.take(running, running.positions());
  ASSERT_TRUE(place);
  for (const TokenId id : {4U, 5U}) {
    GenerateRequest r = request(Ids(10, id));
    Job job = job_of(r);
    auto kept = *other.take(job, job.positions());
    ASSERT_TRUE(three.forward(std::vector<StepChunk>{{kept.sequence.get(), r.prompt, {}}}));
    other.give_back(kept.slot, {std::move(kept.sequence), r.prompt, ""});
  }
  for (const std::size_t slot : {1U, 2U}) {
    EXPECT_EQ(other.restore(slot, saved).error().code, Errc::kResourceLimit);
    EXPECT_EQ(other.kept(), 2U);
    EXPECT_EQ(other.kept_positions(), 20U);
  }
}

TEST_F(SlotTableTest, WithoutMemoryForASequenceOneGoesAndNotAll) {
  FakeModel four{{.context_tokens = 100, .slots = 4, .total_positions = 100}, observer};
  SlotTable other{four, {}};
  for (const TokenId id : {1U, 2U, 3U}) {
    Job job = job_of(request({id, id}));
    auto place = *other.take(job, job.positions());
    const Ids ids{id, id};
    ASSERT_TRUE(four.forward(std::vector<StepChunk>{{place.sequence.get(), ids, {}}}));
    other.give_back(place.slot, {std::move(place.sequence), ids, ""});
  }
  std::size_t asked = 0;
  observer.before_acquire = [&] { return ++asked == 2; };  // the memory of the one that goes does
  Job job = job_of(request({7, 7}));
  auto place = other.take(job, job.positions());
  ASSERT_TRUE(place);
  EXPECT_EQ(other.kept(), 2U);
  place->sequence.reset();
  other.give_back(place->slot, {});
  observer.before_acquire = [&] { return ++asked == 0; };  // nothing does
  const auto none = other.take(job, job.positions());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "fake: the system has no memory");
  EXPECT_EQ(other.kept(), 1U);
  EXPECT_EQ(asked, 4U);
}

TEST_F(SlotTableTest, WithoutMemoryForACopyASlotKeepsWhatItKept) {
  const std::size_t slot = keep({1, 2, 3});
  observer.before_save = [] { throw std::bad_alloc(); };
  EXPECT_EQ(
      table.save(slot).error(),
      (Error{Errc::kUnavailable, "slot 0: not enough memory at the moment, try again later"}));
  EXPECT_EQ(cached(request({1, 2, 3, 4})), 3U);
}

TEST_F(SlotTableTest, WhatNobodyGoesOnFromGoesAtItsAge) {
  EXPECT_EQ(table.next_end(), std::nullopt);
  keep({1, 2, 3});
  const SavedSequence saved = *table.save(0);
  clock.advance(std::chrono::seconds(60));
  keep({4, 5, 6});
  EXPECT_EQ(table.next_end(), Clock::TimePoint(std::chrono::seconds(100)));
  clock.advance(std::chrono::seconds(40) - std::chrono::nanoseconds(1));
  EXPECT_FALSE(table.erase_old());
  keep({4, 5, 6, 7});  // used again
  clock.advance(std::chrono::nanoseconds(1));
  EXPECT_TRUE(table.erase_old());
  EXPECT_EQ(cached(request({1, 2, 3, 4})), 0U);
  clock.advance(std::chrono::seconds(99));
  EXPECT_FALSE(table.erase_old());
  ASSERT_TRUE(table.restore(0, saved));
  clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(table.erase_old());
  EXPECT_EQ(table.kept(), 1U) << "what was restored is as new";
  EXPECT_EQ(cached(request({1, 2, 3, 4})), 3U);
}

TEST_F(SlotTableTest, WhatMayNotBeKeptIsNotAndGoesWhenAsked) {
  keep({1, 2, 3}, "a");
  const SavedSequence saved = *table.save(keep({1, 2, 3}, "b"));
  EXPECT_EQ(table.erase_unwanted(), 0U);
  unwanted = "b";
  EXPECT_EQ(table.erase_unwanted(), 1U);
  keep({4, 5}, "b");
  EXPECT_EQ(table.kept(), 1U);
  EXPECT_EQ(table.restore(1, saved).error(),
            (Error{Errc::kPermission, "saved slot: nobody who has a key here may go on from it"}));
  GenerateRequest r = request({1, 2, 3, 4});
  r.isolation = "a";
  EXPECT_EQ(cached(r), 3U);
}

TEST_F(SlotTableTest, EraseSaysHowMuchWasForgotten) {
  const std::size_t slot = keep({1, 2, 3});
  EXPECT_EQ(*table.erase(slot), 3U);
  EXPECT_EQ(*table.erase(slot), 0U);
  EXPECT_EQ(table.erase(2).error().message, "slot 2: expected one of 0 to 1");
  EXPECT_EQ(table.save(slot).error().message, "slot 0: expected a kept sequence, found none");
  keep({1});
  keep({2});
  EXPECT_EQ(table.erase_all(), 2U);
  EXPECT_EQ(observer.alive, 0U);
}

}  // namespace
}  // namespace daybreak::engine
