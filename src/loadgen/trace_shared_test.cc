// SPDX-License-Identifier: Apache-2.0
// The public traces: as many requests and tokens as their files have, counted by another program
// (Python's json and csv).

#include <gtest/gtest.h>

#include <filesystem>

#include "loadgen/trace.h"
#include "testing/paths.h"

namespace daybreak::loadgen {
namespace {

struct Sums {
  std::size_t conversations = 0, requests = 0, input = 0, output = 0, blocks = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

Sums sums_of(const std::filesystem::path& path) {
  auto source = open_trace(path, *format_of(path));
  EXPECT_TRUE(source);
  Sums out;
  for (;;) {
    const auto next = (*source)->next();
    EXPECT_TRUE(next) << next.error().message;
    if (!next || !*next) {
      return out;
    }
    ++out.conversations;
    for (const Turn& turn : (*next)->turns) {
      ++out.requests;
      out.input += turn.input_tokens;
      out.output += turn.output_tokens;
      out.blocks += turn.kept_blocks + turn.blocks.size();
    }
  }
}

TEST(PublicTraces, AreReadWhole) {
  const auto traces = testing::shared_path("traces");
  DAYBREAK_SHARED_OR_SKIP(traces);
  EXPECT_EQ(sums_of(traces / "mooncake_conversation_trace.jsonl"),
            (Sums{12031, 12031, 144793823, 4122048, 288500}));
  EXPECT_EQ(sums_of(traces / "azure_llm_2023_code.csv"), (Sums{8819, 8819, 18059974, 245896, 0}));
  EXPECT_EQ(sums_of(traces / "agent"), (Sums{40, 945, 96706806, 366424, 1510566}));
}

}  // namespace
}  // namespace daybreak::loadgen
