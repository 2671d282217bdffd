// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace_sampler.h"

#include <gtest/gtest.h>

namespace daybreak::telemetry {
namespace {

TraceId id_ending_in(std::uint8_t byte) {
  TraceId id{};
  id[8] = byte;  // the highest of those that decide
  return id;
}

TEST(TraceSampler, RatioIsOfTheTracesIds) {
  const TraceSampler quarter = *parse_sampler("traceidratio", "0.25");
  EXPECT_TRUE(quarter.samples(id_ending_in(0x3F), {}));
  EXPECT_FALSE(quarter.samples(id_ending_in(0x40), {}));
  EXPECT_FALSE(quarter.samples(id_ending_in(0x40), true));  // not parent-based
  EXPECT_TRUE(parse_sampler("traceidratio", "1")->samples(id_ending_in(0xFF), {}));
  EXPECT_FALSE(parse_sampler("traceidratio", "0")->samples(id_ending_in(0), {}));
}

TEST(TraceSampler, ParentBasedFollowsTheCaller) {
  for (const char* name : {"", "parentbased_always_on", "parentbased_traceidratio"}) {
    const TraceSampler sampler = *parse_sampler(name, "0.5");
    EXPECT_TRUE(sampler.samples(id_ending_in(0xFF), true)) << name;
    EXPECT_FALSE(sampler.samples(id_ending_in(0), false)) << name;
    EXPECT_TRUE(sampler.samples(id_ending_in(0), {})) << name;
  }
  EXPECT_FALSE(parse_sampler("parentbased_always_off", "")->samples(id_ending_in(0), {}));
  EXPECT_FALSE(parse_sampler("always_on", "")->samples(id_ending_in(0), false) == false);
}

TEST(TraceSampler, WhatIsNotKnownIsRefused) {
  EXPECT_FALSE(parse_sampler("jaeger_remote", ""));
  EXPECT_FALSE(parse_sampler("parentbased_", ""));
  for (const char* bad : {"1.1", "-0.1", "x", "0.5x", "nan", "inf"}) {
    EXPECT_FALSE(parse_sampler("traceidratio", bad)) << bad;
  }
}

}  // namespace
}  // namespace daybreak::telemetry
