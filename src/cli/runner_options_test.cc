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

}  // namespace
}  // namespace daybreak::cli
