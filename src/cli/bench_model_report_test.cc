// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_model_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

namespace daybreak::cli {
namespace {

BenchReport sample(BenchMode mode) {
  return {.mode = mode,
          .model = "/models/k3",
          .isa = "avx2",
          .shape = {.threads = 2, .tokens = 32, .depth = 7, .batch = 3, .repeat = 3},
          .result = {.tok_s = {9.0, 10.0, 12.0},
                     .bytes_per_token = 500'000'000,
                     .macs_per_token = 400'000'000},
          .limits = {.read_gb_s = 20.0, .fma_gmac_s = 40.0}};
}

TEST(BenchReport, SharesAreOfTheLimitThatBinds) {
  const BenchReport decode = sample(BenchMode::kDecode);
  EXPECT_DOUBLE_EQ(decode.gb_s(), 5.0);
  EXPECT_DOUBLE_EQ(decode.share(), 0.25);
  const BenchReport prefill = sample(BenchMode::kPrefill);
  EXPECT_DOUBLE_EQ(prefill.gmac_s(), 4.0);
  EXPECT_DOUBLE_EQ(prefill.share(), 0.1);
}

TEST(BenchReport, JsonHasTheContractsFields) {
  const auto json =
      nlohmann::json::parse(format_bench_report(sample(BenchMode::kDecode), BenchFormat::kJson));
  EXPECT_EQ(json.at("mode"), "decode");
  EXPECT_DOUBLE_EQ(json.at("tok_s"), 10.0);
  EXPECT_EQ(json.at("bytes_per_token"), 500'000'000);
  EXPECT_DOUBLE_EQ(json.at("gb_s"), 5.0);
  EXPECT_DOUBLE_EQ(json.at("roof_gb_s"), 20.0);
  EXPECT_DOUBLE_EQ(json.at("share"), 0.25);
}

TEST(BenchReport, TablesHaveAsManyValuesAsNames) {
  for (const auto& [format, separator, lines] :
       {std::tuple{BenchFormat::kMarkdown, '|', 3}, std::tuple{BenchFormat::kCsv, ',', 2}}) {
    const std::string text = format_bench_report(sample(BenchMode::kPrefill), format);
    const auto first = text.substr(0, text.find('\n'));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), lines);
    EXPECT_EQ(std::count(text.begin(), text.end(), separator),
              lines * std::count(first.begin(), first.end(), separator));
  }
}

TEST(BenchReport, FormatNamesAreChecked) {
  EXPECT_TRUE(parse_bench_format("md"));
  const auto unknown = parse_bench_format("xml");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "--output: expected text, json, md or csv, found 'xml'");
}

}  // namespace
}  // namespace daybreak::cli
