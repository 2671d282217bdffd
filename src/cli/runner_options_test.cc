// SPDX-License-Identifier: Apache-2.0
#include "cli/runner_options.h"

#include <gtest/gtest.h>

#include "cli/read_display.h"
#include "testing/paths.h"

namespace daybreak::cli {
namespace {

// Two seconds pass between any two looks at it.
struct SlowClock : Clock {
  [[nodiscard]] TimePoint now() const override { return at += std::chrono::seconds(2); }
  mutable TimePoint at{};
};

model::Checkpoint two_shards() {
  auto opened =
      model::Checkpoint::open(testing::source_path("testdata/checkpoints/tied-two-shards"));
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return *std::move(opened);
}

TEST(ReadAhead, ShowsEveryShardOnATerminalAndErasesItself) {
  const model::Checkpoint checkpoint = two_shards();
  const SlowClock clock;
  std::string screen;
  {
    ReadDisplay display(true, 100, [&](std::string_view text) { screen += text; }, clock);
    ASSERT_TRUE(read_ahead(checkpoint, checkpoint.file_bytes(), std::ref(display)));
  }
  EXPECT_NE(screen.find("1/2 " + std::string(checkpoint.shard_name(0))), std::string::npos)
      << screen;
  EXPECT_NE(screen.find("2/2 " + std::string(checkpoint.shard_name(1))), std::string::npos)
      << screen;
  EXPECT_NE(screen.find("100%"), std::string::npos) << screen;
  EXPECT_TRUE(screen.ends_with("\r\x1b[K")) << screen;
}

TEST(ReadAhead, IsSilentWhenNobodyWatches) {
  const SlowClock clock;
  std::string screen;
  ReadDisplay display(false, 100, [&](std::string_view text) { screen += text; }, clock);
  ASSERT_TRUE(read_ahead(two_shards(), ~std::uint64_t{0}, std::ref(display)));
  EXPECT_EQ(screen, "");
}

TEST(ReadAhead, LeavesOutWhatMemoryCannotHold) {
  const model::Checkpoint checkpoint = two_shards();
  for (const auto& [memory, reads] :
       {std::pair{checkpoint.file_bytes(), true}, {checkpoint.file_bytes() - 1, false}}) {
    std::uint64_t done = 0;
    ASSERT_TRUE(read_ahead(checkpoint, memory, [&](const model::ReadProgress& progress) {
      done = progress.done_bytes;
      return true;
    }));
    EXPECT_EQ(done, reads ? checkpoint.file_bytes() : 0U);
  }
}

TEST(CheckStateMemory, HoldsAtTheByteAndOnePast) {
  const model::StateLayout layout{.kda_layers = 2,
                                  .kda_heads = 3,
                                  .kda_head_dim = 16,
                                  .conv_taps = 4,
                                  .conv_channels = 144,
                                  .mla_layers = 1,
                                  .latent_width = 40,
                                  .max_positions = 128};
  // Written out: two layers of 3 matrices of 16 x 16 and of 3 x 144 inputs; pages of 64 x 40.
  constexpr std::uint64_t kSlot = 4 * (2 * 3 * 16 * 16 + 2 * 3 * 144);
  constexpr std::uint64_t kPage = 4 * 64 * 40;
  EXPECT_TRUE(check_state_memory(layout, {.sequences = 5, .positions = 65}, 5 * kSlot + 2 * kPage));
  // Five sequences of 128 positions are all there can be.
  EXPECT_TRUE(
      check_state_memory(layout, {.sequences = 5, .positions = 1'000'000}, 5 * kSlot + 10 * kPage));
  EXPECT_FALSE(check_state_memory(layout, {.sequences = 5, .positions = 1'000'000},
                                  5 * kSlot + 10 * kPage - 1));
  // What is cached is bounded by the pool alone.
  constexpr StateSizes kCaching{.sequences = 5, .positions = 1'000'000, .checkpoints = 2};
  EXPECT_TRUE(check_state_memory(layout, kCaching, 7 * kSlot + 15'625 * kPage));
  EXPECT_FALSE(check_state_memory(layout, kCaching, 7 * kSlot + 15'625 * kPage - 1));
  // Guesses: a layer's matrices, inputs and writes of both layers for each, and a row of logits.
  constexpr std::uint64_t kGuesses = 4 * (3 * 16 * 16 + 2 * 7 * 2 * 144 + 8 * 100);
  constexpr StateSizes kGuessing{.sequences = 5, .positions = 65, .guesses = 7, .vocab = 100};
  EXPECT_TRUE(check_state_memory(layout, kGuessing, 5 * (kSlot + kGuesses) + 2 * kPage));
  EXPECT_FALSE(check_state_memory(layout, kGuessing, 5 * (kSlot + kGuesses) + 2 * kPage - 1));
  const Status refused =
      check_state_memory(layout, {.sequences = 5, .positions = 65}, 5 * kSlot + 2 * kPage - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(
      refused.error().message,
      "5 sequences with 65 positions in all, 0 guessed tokens each and 0 checkpoints: expected "
      "at most the " +
          std::to_string(5 * kSlot + 2 * kPage - 1) + " bytes of this machine's memory, found " +
          std::to_string(5 * kSlot + 2 * kPage) + " bytes of state");
}

}  // namespace
}  // namespace daybreak::cli
