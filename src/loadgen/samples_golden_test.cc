// SPDX-License-Identifier: Apache-2.0
// Percentiles as numpy gives them (tools/make_percentile_goldens.py).

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "loadgen/samples.h"
#include "testing/paths.h"

namespace daybreak::loadgen {
namespace {

nlohmann::json cases() {
  return nlohmann::json::parse(
      testing::read_file(testing::source_path("golden/loadgen/percentiles.json")));
}

Summary summary_of(const nlohmann::json& given, std::size_t max_exact) {
  Samples samples(max_exact);
  for (const double value : given.at("values")) {
    samples.add(value);
  }
  return samples.summary();
}

TEST(SamplesGolden, ExactOnesAreNumpys) {
  std::size_t tried = 0;
  for (const auto& given : cases()) {
    SCOPED_TRACE(given.at("name"));
    const Summary s = summary_of(given, Samples::kMaxExact);
    // Only the order of the arithmetic differs.
    const auto near = [](double found, double expected) {
      EXPECT_NEAR(found, expected, 1e-12 * std::abs(expected));
    };
    EXPECT_TRUE(s.exact);
    EXPECT_EQ(s.count, given.at("values").size());
    near(s.mean, given.at("mean"));
    near(s.std, given.at("std"));
    near(s.p50, given.at("p50"));
    near(s.p90, given.at("p90"));
    near(s.p95, given.at("p95"));
    near(s.p99, given.at("p99"));
    EXPECT_EQ(s.max, given.at("max"));
    ++tried;
  }
  EXPECT_EQ(tried, 7U);
}

TEST(SamplesGolden, CountedOnesAreWithinHalfABucket) {
  for (const auto& given : cases()) {
    if (given.at("values").size() < 2) {
      continue;
    }
    SCOPED_TRACE(given.at("name"));
    const Summary s = summary_of(given, 1);
    const auto near = [](double found, double expected) {
      EXPECT_NEAR(found, expected, std::abs(expected) / 2048);
    };
    EXPECT_FALSE(s.exact);
    near(s.p50, given.at("p50"));
    near(s.p90, given.at("p90"));
    near(s.p95, given.at("p95"));
    near(s.p99, given.at("p99"));
    EXPECT_EQ(s.max, given.at("max"));
    EXPECT_NEAR(s.mean, given.at("mean"), 1e-12 * s.mean);
    EXPECT_NEAR(s.std, given.at("std"), 1e-12 * s.mean + 1e-12 * s.std);
  }
}

}  // namespace
}  // namespace daybreak::loadgen
