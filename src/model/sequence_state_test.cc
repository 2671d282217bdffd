// SPDX-License-Identifier: Apache-2.0
#include "model/sequence_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "model/state_codec.h"
#include "model/state_pool.h"

namespace daybreak::model {
namespace {

ModelConfig small_config() {
  ModelConfig config;
  config.vocab_size = 16;
  config.hidden_size = 8;
  config.layers = 4;
  config.kda_layers = {1, 0, 1, 0};
  config.kda.heads = 1;
  config.kda.head_dim = 4;
  config.kda.conv_kernel = 3;
  config.mla.heads = 2;
  config.mla.kv_lora_rank = 3;
  config.mla.qk_rope_head_dim = 2;
  config.max_positions = 500;
  return config;
}

// Fills the state with distinct values and moves it to `positions`.
void fill(SequenceState& state, std::size_t positions) {
  ASSERT_TRUE(state.reserve(positions));
  const StateLayout& layout = state.layout();
  float next = 0.5f;
  float* slot = state.kda_state(0, 0);
  for (std::size_t i = 0; i < layout.slot_floats(); ++i) {
    slot[i] = next++;
  }
  for (std::size_t layer = 0; layer < layout.mla_layers; ++layer) {
    for (std::size_t p = 0; p < positions; ++p) {
      float* row = state.latent_tile(layer, p / 64) + p % 64 * layout.latent_width;
      for (std::size_t i = 0; i < layout.latent_width; ++i) {
        row[i] = next++;
      }
    }
  }
  state.advance(positions);
}

TEST(SequenceState, RestoresWhatWasSavedAtAnyLength) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 1024});
  for (const std::size_t positions : {0u, 1u, 63u, 64u, 65u, 128u, 200u}) {
    SCOPED_TRACE(positions);
    auto state = *pool.acquire();
    fill(*state, positions);
    const std::vector<std::byte> saved = state->save();
    auto other = *pool.acquire();
    fill(*other, 130);  // what was there before must not shine through
    ASSERT_TRUE(other->restore(saved));
    EXPECT_EQ(other->position(), positions);
    EXPECT_EQ(other->save(), saved);
  }
}

TEST(SequenceState, PositionsPastARestoredEndAreZero) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 1024});
  auto state = *pool.acquire();
  fill(*state, 10);
  auto other = *pool.acquire();
  fill(*other, 60);
  ASSERT_TRUE(other->restore(state->save()));
  const std::size_t width = other->layout().latent_width;
  for (std::size_t i = 10 * width; i < 64 * width; ++i) {
    ASSERT_EQ(other->latent_tile(1, 0)[i], 0.0f) << i;
  }
}

TEST(SequenceState, RestoringAShorterStateFreesPositions) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 256});
  auto shorter = *pool.acquire();
  fill(*shorter, 3);
  auto state = *pool.acquire();
  fill(*state, 192);
  EXPECT_EQ(pool.free_positions(), 0u);
  ASSERT_TRUE(state->restore(shorter->save()));
  EXPECT_EQ(pool.free_positions(), 128u);
}

TEST(SequenceState, RestoringAShorterStateKeepsTheReservation) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 256});
  auto empty = *pool.acquire();
  auto state = *pool.acquire(128);
  fill(*state, 192);
  EXPECT_EQ(pool.free_positions(), 64u);
  ASSERT_TRUE(state->restore(empty->save()));
  EXPECT_EQ(pool.free_positions(), 128u) << "two of the four pages stay reserved";
  EXPECT_TRUE(state->reserve(128));
}

TEST(SequenceState, EveryTruncationIsRefusedAndChangesNothing) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 1024});
  auto state = *pool.acquire();
  fill(*state, 70);
  const std::vector<std::byte> saved = state->save();
  auto other = *pool.acquire();
  fill(*other, 5);
  const std::vector<std::byte> before = other->save();
  for (std::size_t size = 0; size < saved.size(); size += size < 64 ? 1 : 37) {
    const Status status = other->restore(std::span(saved).first(size));
    ASSERT_FALSE(status) << size;
    ASSERT_EQ(status.error().code, Errc::kCorrupt) << size;
  }
  EXPECT_EQ(other->save(), before);
}

TEST(SequenceState, EveryChangedByteIsRefused) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 1024});
  auto state = *pool.acquire();
  fill(*state, 3);
  std::vector<std::byte> saved = state->save();
  auto other = *pool.acquire();
  for (std::size_t i = 0; i < saved.size(); ++i) {
    saved[i] ^= std::byte{0x10};
    ASSERT_FALSE(other->restore(saved)) << "byte " << i;
    saved[i] ^= std::byte{0x10};
  }
  EXPECT_TRUE(other->restore(saved));
}

TEST(SequenceState, SaysWhyASavedStateIsRefused) {
  StatePool pool(small_config(), {.slots = 2, .max_positions = 256});
  auto state = *pool.acquire();
  fill(*state, 3);
  const std::vector<std::byte> saved = state->save();

  StatePool other_weights(small_config(),
                          {.slots = 1, .max_positions = 128, .weights_fingerprint = 1});
  const Status wrong_model = (*other_weights.acquire())->restore(saved);
  ASSERT_FALSE(wrong_model);
  EXPECT_EQ(wrong_model.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(wrong_model.error().message, "saved state: was made by another model than this one");

  std::vector<std::byte> newer = saved;
  newer[8] = std::byte{2};
  const Status wrong_version = state->restore(newer);
  ASSERT_FALSE(wrong_version);
  EXPECT_EQ(wrong_version.error().code, Errc::kUnsupported);
  EXPECT_EQ(wrong_version.error().message,
            "saved state: has format version 2, this build reads version 1");

  StatePool small(small_config(), {.slots = 1, .max_positions = 64});
  auto long_state = *pool.acquire();
  fill(*long_state, 65);
  EXPECT_EQ((*small.acquire())->restore(long_state->save()).error().code, Errc::kTooLarge);
}

// Two models of one shape and one set of weights compute different things if a switch differs.
TEST(SequenceState, IsNotRestoredIntoAModelWithAnotherSwitch) {
  ModelConfig base = small_config();
  base.moe.emplace();
  base.moe->experts = 4;
  base.moe->experts_per_token = 2;
  const auto fingerprint = [](const ModelConfig& config) {
    return StateLayout::from(config, 7).fingerprint;
  };
  using Change = void (*)(ModelConfig&);
  const std::vector<Change> changes = {
      [](ModelConfig& c) { c.rms_norm_eps = 1e-5f; },
      [](ModelConfig& c) { c.activation = Activation::kSitu; },
      [](ModelConfig& c) { c.situ_beta = 4.0f; },
      [](ModelConfig& c) { c.situ_linear_beta = 25.0f; },
      [](ModelConfig& c) { c.attn_res_block_size = 2; },
      [](ModelConfig& c) { c.kda.gate_lower_bound = -5.0f; },
      [](ModelConfig& c) { c.kda.full_rank_gate = true; },
      [](ModelConfig& c) { c.mla.output_gate = true; },
      [](ModelConfig& c) { c.moe.reset(); },
      [](ModelConfig& c) { c.moe->experts_per_token = 3; },
      [](ModelConfig& c) { c.moe->router = RouterActivation::kSoftmax; },
      [](ModelConfig& c) { c.moe->renormalize = false; },
      [](ModelConfig& c) { c.moe->routed_scaling_factor = 2.5f; },
      [](ModelConfig& c) { c.moe->groups = 2; },
      [](ModelConfig& c) { c.moe->latent_norm = true; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ModelConfig changed = base;
    changes[i](changed);
    EXPECT_NE(fingerprint(changed), fingerprint(base)) << "change " << i;
  }
  ModelConfig longer = base;
  longer.max_positions *= 2;  // computes nothing
  EXPECT_EQ(fingerprint(longer), fingerprint(base));
}

TEST(SequenceState, RestoreThatDoesNotFitNowChangesNothing) {
  StatePool pool(small_config(), {.slots = 3, .max_positions = 192});
  auto big = *pool.acquire();
  fill(*big, 128);
  const std::vector<std::byte> saved = big->save();
  auto state = *pool.acquire();
  fill(*state, 2);
  const std::vector<std::byte> before = state->save();
  const Status status = state->restore(saved);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Errc::kResourceLimit);
  EXPECT_EQ(state->save(), before);
}

}  // namespace
}  // namespace daybreak::model
