// SPDX-License-Identifier: Apache-2.0
#include "http/trace_context.h"

#include <gtest/gtest.h>

#include <string>

namespace daybreak::http {
namespace {

constexpr std::string_view kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(TraceContext, WellFormed) {
  EXPECT_EQ(trace_id("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), kTrace);
  EXPECT_EQ(trace_id("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), kTrace);
  EXPECT_EQ(trace_id("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), kTrace);
  EXPECT_EQ(trace_id("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what"), kTrace);
}

TEST(TraceContext, Malformed) {
  for (const std::string& bad : {
           std::string(),
           std::string("00"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what"),
           std::string("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what"),
           std::string("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
           std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"),
           std::string("00-00000000000000000000000000000000-00f067aa0ba902b7-01"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"),
           std::string("00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bg-01"),
           "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-" + std::string(300, 'a'),
       }) {
    EXPECT_EQ(trace_id(bad), "") << bad;
  }
}

TEST(TraceContext, ParentAndSampling) {
  for (const auto& [flags, sampled] : {std::pair{"00", false},
                                       {"01", true},
                                       {"02", false},
                                       {"0b", true},
                                       {"ff", true},
                                       {"fe", false}}) {
    const std::string header =
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-" + std::string(flags);
    const auto parsed = parse_traceparent(header);
    ASSERT_TRUE(parsed) << flags;
    EXPECT_EQ(parsed->trace_id, kTrace);
    EXPECT_EQ(parsed->parent_id, "00f067aa0ba902b7");
    EXPECT_EQ(parsed->sampled, sampled) << flags;
  }
}

}  // namespace
}  // namespace daybreak::http
