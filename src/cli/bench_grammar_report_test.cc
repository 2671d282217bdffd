// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_grammar_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/distribution.h"

namespace daybreak::cli {
namespace {

TEST(BenchGrammarReport, QuantilesAreValuesThatWereMeasured) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t i = 100; i > 0; --i) {
    values.push_back(i * 1000);
  }
  const Distribution d = distribution_of(values, 1000);
  EXPECT_DOUBLE_EQ(d.mean, 50.5);
  EXPECT_EQ(d.p50, 51);
  EXPECT_EQ(d.p75, 76);
  EXPECT_EQ(d.p90, 91);
  EXPECT_EQ(d.p99, 100);
  EXPECT_EQ(d.max, 100);
  EXPECT_EQ(distribution_of({7}, 1).p99, 7);
  EXPECT_EQ(distribution_of({}, 1).max, 0);
}

TEST(BenchGrammarReport, RefusalsAreCountedByKind) {
  const std::string refusal = R"~(#/properties/a: expected a pattern, found "^(?<=x)")~";
  EXPECT_EQ(kind_of_refusal(refusal), "expected a pattern, found ...");
  EXPECT_EQ(kind_of_refusal("grammar: too large"), "grammar: too large");
  EXPECT_EQ(kind_of_refusal("#"), "#");
}

TEST(BenchGrammarReport, BothFormsShowEveryCount) {
  const GrammarBenchResult result = {.vocab_size = 163840,
                                     .schemas = 3,
                                     .instances = 4,
                                     .refused = {{"not decidable", 2}},
                                     .wrongly_refused = {"t: instance 0: id 3"},
                                     .wrongly_accepted = {},
                                     .mask_ns = {2000, 4000},
                                     .first_mask_ns = {500'000},
                                     .grammar_bytes = 1'500'000,
                                     .resident_bytes = 2'500'000};
  const auto json = nlohmann::json::parse(grammar_bench_json(result));
  EXPECT_EQ(json["refused"], 2);
  EXPECT_EQ(json["refused_by_reason"]["not decidable"], 2);
  EXPECT_EQ(json["wrongly_refused_instances"], 1);
  EXPECT_EQ(json["accepted_invalid_instances"], 0);
  EXPECT_EQ(json["mask_us"]["mean"], 3.0);
  EXPECT_EQ(json["first_mask_ms"]["p50"], 0.5);
  EXPECT_EQ(json["grammar_mb"], 1.5);
  const std::string text = grammar_bench_text(result);
  EXPECT_NE(text.find("t: instance 0: id 3"), std::string::npos);
  EXPECT_NE(text.find("    2  not decidable"), std::string::npos);
  EXPECT_NE(text.find("1.5 MB by their own count, 2.5 MB resident"), std::string::npos);
}

}  // namespace
}  // namespace daybreak::cli
