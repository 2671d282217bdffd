// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a model bench is printed: one record, as text, JSON, a Markdown row or a CSV row.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/bench_model_run.h"
#include "cli/machine_limits.h"

namespace daybreak::cli {

enum class BenchFormat : std::uint8_t { kText, kJson, kMarkdown, kCsv };

// Errors: kInvalidArgument  not text, json, md or csv.
[[nodiscard]] Result<BenchFormat> parse_bench_format(std::string_view name);

struct BenchReport {
  BenchMode mode = BenchMode::kDecode;
  std::string model;
  std::string isa;
  BenchShape shape;
  BenchResult result;
  MachineLimits limits;

  [[nodiscard]] double gb_s() const;    // weight bytes per second, in 10^9
  [[nodiscard]] double gmac_s() const;  // multiply-adds per second, in 10^9
  [[nodiscard]] double share() const;   // of the limit that binds: reading, or multiplying
};

// Writes the report to stdout.
void print_bench_report(const BenchReport& report, BenchFormat format);

// Returns the report in that form, ending with a newline.
[[nodiscard]] std::string format_bench_report(const BenchReport& report, BenchFormat format);

}  // namespace daybreak::cli
