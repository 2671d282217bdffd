// SPDX-License-Identifier: Apache-2.0
#include "model/state_pool.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace daybreak::model {
namespace {

// Two KDA layers, one MLA layer.
ModelConfig small_config() {
  ModelConfig config;
  config.vocab_size = 16;
  config.hidden_size = 8;
  config.layers = 3;
  config.kda_layers = {1, 1, 0};
  config.kda.heads = 2;
  config.kda.head_dim = 4;
  config.kda.conv_kernel = 4;
  config.mla.heads = 2;
  config.mla.kv_lora_rank = 6;
  config.mla.qk_rope_head_dim = 2;
  config.max_positions = 1000;
  return config;
}

TEST(StatePool, HandsOutEverySlotAndRefusesOneMore) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 640});
  auto first = pool.acquire();
  auto second = pool.acquire();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(pool.free_slots(), 0u);
  const auto third = pool.acquire();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Errc::kResourceLimit);
  EXPECT_EQ(third.error().message, "all 2 slots of the state pool are in use");

  (*first).reset();
  EXPECT_EQ(pool.free_slots(), 1u);
  EXPECT_TRUE(pool.acquire());
}

TEST(StatePool, WithoutMemoryForAPageNothingChanges) {
  ModelConfig config = small_config();
  config.mla.kv_lora_rank = std::size_t{1} << 56U;  // no machine has such a page
  StatePool pool(config, {.slots = 2, .max_positions = 256});
  {
    const auto state = *pool.acquire(128);
    for (const std::size_t positions : {128U, 192U}) {
      EXPECT_EQ(
          state->reserve(positions).error(),
          (Error{Errc::kResourceLimit,
                 "a page of the state pool: not enough memory at the moment, try again later"}));
      EXPECT_EQ(pool.free_positions(), 128U);
      EXPECT_EQ(state->held_positions(), 128U);
    }
  }
  EXPECT_EQ(pool.free_positions(), 256U);
}

TEST(StatePool, WithoutMemoryForASlotNothingChanges) {
  ModelConfig config = small_config();
  config.kda.head_dim = std::size_t{1} << 30U;
  StatePool pool(config, {.slots = 2, .max_positions = 256});
  const auto none = pool.acquire(128);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::kResourceLimit);
  EXPECT_EQ(pool.free_slots(), 2U);
  EXPECT_EQ(pool.free_positions(), 256U);
}

TEST(StatePool, GrowsASequenceToTheLastFreePositionAndNotPastIt) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 192});
  auto a = *pool.acquire();
  auto b = *pool.acquire();
  ASSERT_TRUE(a->reserve(64));
  EXPECT_EQ(pool.free_positions(), 128u);
  ASSERT_TRUE(b->reserve(128));
  EXPECT_EQ(pool.free_positions(), 0u);
  const Status status = a->reserve(65);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Errc::kResourceLimit);
  EXPECT_TRUE(a->reserve(64)) << "what it has stays";
  b.reset();
  EXPECT_TRUE(a->reserve(65));
}

TEST(StatePool, LengthIsBoundedByTheModelAndByThePool) {
  StatePool large(small_config(), {.slots = 1, .max_positions = 4096});
  EXPECT_EQ(large.max_sequence_positions(), 1000u);
  auto a = *large.acquire();
  EXPECT_TRUE(a->reserve(1000));
  EXPECT_EQ(a->reserve(1001).error().code, Errc::kTooLarge);

  StatePool small(small_config(), {.slots = 1, .max_positions = 128});
  EXPECT_EQ(small.max_sequence_positions(), 128u);
  auto b = *small.acquire();
  EXPECT_TRUE(b->reserve(128));
  const Status status = b->reserve(129);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Errc::kTooLarge);
  EXPECT_EQ(status.error().message, "a sequence of 129 tokens exceeds the limit of 128");
}

TEST(StatePool, ReservedPositionsCannotBeTakenByOthers) {
  StatePool pool(small_config(), {.slots = 3, .max_positions = 256});
  auto patient = *pool.acquire(128);
  EXPECT_EQ(pool.free_positions(), 128u);
  auto greedy = *pool.acquire();
  EXPECT_EQ(greedy->reserve(192).error().code, Errc::kResourceLimit);
  EXPECT_TRUE(greedy->reserve(128));
  EXPECT_EQ(pool.acquire(1).error().code, Errc::kResourceLimit);
  EXPECT_TRUE(patient->reserve(128));
  EXPECT_EQ(patient->reserve(129).error().code, Errc::kResourceLimit);
  EXPECT_EQ(pool.acquire(257).error().code, Errc::kTooLarge);
  patient.reset();
  greedy.reset();
  EXPECT_EQ(pool.free_positions(), 256u);
}

TEST(StatePool, AGuaranteeGrowsAndGivesBackWhatIsBeyondIt) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 256});
  auto a = *pool.acquire(192);
  ASSERT_TRUE(a->reserve(70));  // two pages taken, one set aside
  a->advance(70);
  EXPECT_EQ(a->held_positions(), 192u);
  ASSERT_TRUE(a->guarantee(0));
  EXPECT_EQ(a->held_positions(), 128u) << "what is in use stays";
  EXPECT_EQ(pool.free_positions(), 128u);
  ASSERT_TRUE(a->guarantee(256));
  EXPECT_EQ(pool.free_positions(), 0u);
  EXPECT_EQ(pool.acquire(1).error().code, Errc::kResourceLimit);
  ASSERT_TRUE(a->reserve(256));
  ASSERT_TRUE(a->guarantee(129));  // of the pages taken one goes back
  EXPECT_EQ(a->held_positions(), 192u);
  auto b = *pool.acquire(64);
  EXPECT_EQ(a->guarantee(193).error().code, Errc::kResourceLimit);
  EXPECT_EQ(a->guarantee(257).error().code, Errc::kTooLarge);
  EXPECT_EQ(a->held_positions(), 192u);
  a.reset();
  b.reset();
  EXPECT_EQ(pool.free_positions(), 256u);
}

TEST(StatePool, FreedReservationIsReturnedEvenIfNeverUsed) {
  StatePool pool(small_config(), {.slots = 1, .max_positions = 128});
  for (int round = 0; round < 3; ++round) {
    auto state = pool.acquire(128);
    ASSERT_TRUE(state);
    ASSERT_TRUE((*state)->reserve(1));
  }
  EXPECT_EQ(pool.free_positions(), 128u);
}

TEST(StatePool, FreedMemoryIsNanAndNewMemoryIsZero) {
  StatePool pool(small_config(), {.slots = 1, .max_positions = 64});
  float* matrix = nullptr;
  float* tile = nullptr;
  {
    auto state = *pool.acquire();
    ASSERT_TRUE(state->reserve(1));
    matrix = state->kda_state(1, 1);
    tile = state->latent_tile(0, 0);
    matrix[0] = 7.0f;
    tile[3] = 7.0f;
  }
  // The pool still owns the memory: what a stale pointer would read is NaN.
  EXPECT_EQ(std::bit_cast<std::uint32_t>(matrix[0]), 0xffff'ffffu);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(tile[3]), 0xffff'ffffu);
  auto state = *pool.acquire();
  ASSERT_TRUE(state->reserve(1));
  ASSERT_EQ(state->kda_state(1, 1), matrix) << "the test needs the same memory again";
  ASSERT_EQ(state->latent_tile(0, 0), tile);
  EXPECT_EQ(matrix[0], 0.0f);
  EXPECT_EQ(tile[3], 0.0f);
}

TEST(StatePool, StateMayOutliveThePool) {
  auto pool = std::make_unique<StatePool>(small_config(),
                                          StatePoolOptions{.slots = 1, .max_positions = 64});
  auto state = *pool->acquire(64);
  pool.reset();
  EXPECT_TRUE(state->reserve(64));
  state->latent_tile(0, 0)[0] = 1.0f;
}

TEST(StateLayout, PiecesOfAStateDoNotOverlap) {
  StatePool pool(small_config(), {.slots = 1, .max_positions = 128});
  auto state = *pool.acquire();
  ASSERT_TRUE(state->reserve(128));
  const StateLayout& layout = pool.layout();
  EXPECT_EQ(layout.slot_floats(), 2u * 2 * 16 + 2u * 3 * 24);
  EXPECT_EQ(layout.page_floats(), 64u * 8);
  std::vector<std::pair<float*, std::size_t>> pieces;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < 2; ++head) {
      pieces.emplace_back(state->kda_state(layer, head), layout.head_floats());
    }
    for (std::size_t tap = 0; tap < 3; ++tap) {
      pieces.emplace_back(state->conv_tail(layer, tap), layout.conv_channels);
    }
  }
  pieces.emplace_back(state->latent_tile(0, 0), layout.tile_floats());
  pieces.emplace_back(state->latent_tile(0, 1), layout.tile_floats());
  float mark = 1;
  for (const auto& [data, size] : pieces) {
    std::fill_n(data, size, mark++);
  }
  mark = 1;
  for (const auto& [data, size] : pieces) {
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(data[i], mark);
    }
    ++mark;
  }
}

// A sequence of `pages` complete pages.
std::unique_ptr<SequenceState> grown(StatePool& pool, std::size_t pages) {
  auto state = *pool.acquire();
  EXPECT_TRUE(state->reserve(pages * kPagePositions));
  state->advance(pages * kPagePositions);
  return state;
}

TEST(StatePool, SharedPagesGoBackWithTheLastWhoHasThem) {
  StatePool pool(small_config(), {.slots = 3, .checkpoints = 1, .max_positions = 640});
  auto donor = grown(pool, 3);
  EXPECT_EQ(donor->held_positions(), 192U);
  std::vector<SharedPagePtr> pages;
  {
    const auto shared = donor->share(0, 2);
    pages.assign(shared.begin(), shared.end());
  }
  EXPECT_EQ(donor->held_positions(), 64U) << "without it the shared ones are still held";
  EXPECT_EQ(pool.free_positions(), 448U);
  donor.reset();
  EXPECT_EQ(pool.free_positions(), 512U);
  pages.pop_back();
  EXPECT_EQ(pool.free_positions(), 576U);
  pages.clear();
  EXPECT_EQ(pool.free_positions(), 640U);
}

TEST(StatePool, WhoeverGoesOnReservesOnlyWhatIsNotShared) {
  StatePool pool(small_config(), {.slots = 3, .checkpoints = 1, .max_positions = 256});
  auto donor = grown(pool, 2);
  const auto shared = donor->share(0, 2);
  const auto checkpoint = *donor->checkpoint();
  EXPECT_EQ(pool.acquire_from(*checkpoint, shared, 257).error().code, Errc::kTooLarge);
  auto first = *pool.acquire_from(*checkpoint, shared, 192);
  EXPECT_EQ(first->position(), 128U);
  EXPECT_EQ(first->held_positions(), 64U);
  EXPECT_EQ(pool.free_positions(), 64U);
  EXPECT_EQ(pool.acquire_from(*checkpoint, shared, 256).error().code, Errc::kResourceLimit);
  auto second = *pool.acquire_from(*checkpoint, shared, 192);
  EXPECT_EQ(pool.free_positions(), 0U);
  EXPECT_EQ(pool.free_slots(), 0U);
  EXPECT_TRUE(second->reserve(192));
  EXPECT_EQ(second->reserve(193).error().code, Errc::kResourceLimit);
  donor.reset();
  first.reset();
  EXPECT_EQ(second->held_positions(), 192U) << "now the only one that has them";
  second.reset();
  EXPECT_EQ(pool.free_positions(), 256U);
  EXPECT_EQ(pool.free_slots(), 3U);
}

TEST(StatePool, CheckpointsHaveABoundOfTheirOwn) {
  StatePool pool(small_config(), {.slots = 1, .checkpoints = 2, .max_positions = 256});
  const auto state = grown(pool, 1);
  auto first = *state->checkpoint();
  auto second = *state->checkpoint();
  EXPECT_EQ(pool.free_checkpoints(), 0U);
  const auto third = state->checkpoint();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error(),
            (Error{Errc::kResourceLimit, "all 2 checkpoints of the state pool are in use"}));
  first.reset();
  EXPECT_TRUE(state->checkpoint());
}

TEST(StatePool, ADuplicateOfASharedPageGoesBack) {
  StatePool pool(small_config(), {.slots = 2, .checkpoints = 0, .max_positions = 256});
  const auto one = grown(pool, 2);
  const auto two = grown(pool, 2);
  const SharedPagePtr page = one->share(0, 1)[0];
  (void)two->share(0, 1);
  EXPECT_EQ(pool.free_positions(), 0U);
  two->replace_shared(0, page);
  EXPECT_EQ(pool.free_positions(), 64U);
  EXPECT_EQ(two->latent_tile(0, 0), one->latent_tile(0, 0));
}

}  // namespace
}  // namespace daybreak::model
