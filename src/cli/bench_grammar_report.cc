// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_grammar_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/distribution.h"

namespace daybreak::cli {
namespace {

constexpr double kMicrosecond = 1e3;
constexpr double kMillisecond = 1e6;
constexpr double kMegabyte = 1e6;

nlohmann::ordered_json json_of(const Distribution& d) {
  return {{"mean", d.mean}, {"p50", d.p50}, {"p75", d.p75},
          {"p90", d.p90},   {"p99", d.p99}, {"max", d.max}};
}

std::size_t refused_count(const GrammarBenchResult& result) {
  std::size_t count = 0;
  for (const auto& [reason, times] : result.refused) {
    count += times;
  }
  return count;
}

std::string line_of(const char* name, const Distribution& d) {
  return fmt::format("{:<16} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", name, d.mean,
                     d.p50, d.p75, d.p90, d.p99, d.max);
}

}  // namespace

std::string kind_of_refusal(const std::string& message) {
  std::string out;
  std::size_t begin = 0;
  if (message.starts_with('#')) {
    const std::size_t colon = message.find(": ");
    begin = colon == std::string::npos ? 0 : colon + 2;
  }
  char quote = 0;
  for (const char c : message.substr(begin)) {
    if (quote != 0) {
      quote = c == quote ? char{0} : quote;
    } else if (c == '"' || c == '`') {
      quote = c;
      out += "...";
    } else {
      out += c;
    }
  }
  return out;
}

std::string grammar_bench_json(const GrammarBenchResult& result) {
  nlohmann::ordered_json out;
  out["vocab_size"] = result.vocab_size;
  out["schemas"] = result.schemas;
  out["instances"] = result.instances;
  out["refused"] = refused_count(result);
  out["refused_by_reason"] = result.refused;
  out["wrongly_refused_instances"] = result.wrongly_refused.size();
  out["wrongly_refused"] = result.wrongly_refused;
  out["accepted_invalid_instances"] = result.wrongly_accepted.size();
  out["accepted_invalid"] = result.wrongly_accepted;
  out["masks"] = result.mask_ns.size();
  out["mask_us"] = json_of(distribution_of(result.mask_ns, kMicrosecond));
  out["first_mask_ms"] = json_of(distribution_of(result.first_mask_ns, kMillisecond));
  out["grammar_mb"] = static_cast<double>(result.grammar_bytes) / kMegabyte;
  out["rss_mb"] = static_cast<double>(result.resident_bytes) / kMegabyte;
  return out.dump();
}

std::string grammar_bench_text(const GrammarBenchResult& result) {
  std::string out = fmt::format(
      "{} schemas, {} instances, {} ids in the vocabulary, {} masks\n\n{:<16} {:>9} {:>9} {:>9} "
      "{:>9} {:>9} {:>9}\n",
      result.schemas, result.instances, result.vocab_size, result.mask_ns.size(), "", "mean", "p50",
      "p75", "p90", "p99", "max");
  out += line_of("mask, us", distribution_of(result.mask_ns, kMicrosecond));
  out += line_of("first mask, ms", distribution_of(result.first_mask_ns, kMillisecond));
  out += fmt::format("\n{} grammars alive: {:.1f} MB by their own count, {:.1f} MB resident\n",
                     result.first_mask_ns.size(),
                     static_cast<double>(result.grammar_bytes) / kMegabyte,
                     static_cast<double>(result.resident_bytes) / kMegabyte);
  out += fmt::format("refused schemas: {}\n", refused_count(result));
  for (const auto& [reason, times] : result.refused) {
    out += fmt::format("  {:>5}  {}\n", times, reason);
  }
  out += fmt::format("valid instances refused: {}\n", result.wrongly_refused.size());
  for (const std::string& each : result.wrongly_refused) {
    out += "  " + each + "\n";
  }
  out += fmt::format("invalid instances accepted: {}\n", result.wrongly_accepted.size());
  for (const std::string& each : result.wrongly_accepted) {
    out += "  " + each + "\n";
  }
  return out;
}

}  // namespace daybreak::cli
