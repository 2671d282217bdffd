// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_model_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

namespace daybreak::cli {
namespace {

// A column of the table forms. Values are numbers or plain words, so CSV needs no quoting but for
// the model's path.
struct Column {
  std::string name;
  std::string value;
};

const char* name_of(BenchMode mode) { return mode == BenchMode::kDecode ? "decode" : "prefill"; }

std::vector<Column> columns(const BenchReport& r) {
  const auto number = [](double value) { return fmt::format("{:.2f}", value); };
  return {
      {"mode", name_of(r.mode)},
      {"isa", r.isa},
      {"threads", std::to_string(r.shape.threads)},
      {"batch", std::to_string(r.shape.batch)},
      {"depth", std::to_string(r.shape.depth)},
      {"tokens", std::to_string(r.shape.tokens)},
      {"repeat", std::to_string(r.shape.repeat)},
      {"tok_s", number(r.result.median_tok_s())},
      {"bytes_per_token", std::to_string(r.result.bytes_per_token)},
      {"gb_s", number(r.gb_s())},
      {"roof_gb_s", number(r.limits.read_gb_s)},
      {"gmac_s", number(r.gmac_s())},
      {"roof_gmac_s", number(r.limits.fma_gmac_s)},
      {"share", number(r.share())},
  };
}

std::string to_json(const BenchReport& r) {
  nlohmann::ordered_json json;
  json["mode"] = name_of(r.mode);
  json["model"] = r.model;
  json["isa"] = r.isa;
  json["numerics"] = "exact";
  json["dense"] = "stored";
  json["threads"] = r.shape.threads;
  json["batch"] = r.shape.batch;
  json["depth"] = r.shape.depth;
  json["tokens"] = r.shape.tokens;
  json["repeat"] = r.shape.repeat;
  json["tok_s"] = r.result.median_tok_s();
  json["tok_s_min"] = r.result.tok_s.front();
  json["tok_s_max"] = r.result.tok_s.back();
  json["bytes_per_token"] = r.result.bytes_per_token;
  json["gb_s"] = r.gb_s();
  json["roof_gb_s"] = r.limits.read_gb_s;
  json["macs_per_token"] = r.result.macs_per_token;
  json["gmac_s"] = r.gmac_s();
  json["roof_gmac_s"] = r.limits.fma_gmac_s;
  json["share"] = r.share();
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_text(const BenchReport& r) {
  const bool decode = r.mode == BenchMode::kDecode;
  return fmt::format(
      "{} {}: {:.2f} tok/s ({:.2f} to {:.2f} in {} runs)\n"
      "  {} threads, batch {}, {} tokens from depth {}, exact, {}\n"
      "  {:.1f} MB of weights per token, {:.2f} GB/s; this machine reads {:.2f} GB/s\n"
      "  {:.1f} M multiply-adds per token, {:.2f} GMAC/s; this machine makes {:.2f} GMAC/s\n"
      "  {:.0f} % of the {} limit\n",
      name_of(r.mode), r.model, r.result.median_tok_s(), r.result.tok_s.front(),
      r.result.tok_s.back(), r.shape.repeat, r.shape.threads, r.shape.batch, r.shape.tokens,
      r.shape.depth, r.isa, static_cast<double>(r.result.bytes_per_token) / 1e6, r.gb_s(),
      r.limits.read_gb_s, static_cast<double>(r.result.macs_per_token) / 1e6, r.gmac_s(),
      r.limits.fma_gmac_s, 100 * r.share(), decode ? "reading" : "multiply-add");
}

std::string to_table(const BenchReport& r, std::string_view separator, std::string_view edge,
                     bool rule) {
  const std::vector<Column> all = columns(r);
  std::string header(edge);
  std::string line(edge);
  std::string values(edge);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view end = i + 1 < all.size() ? separator : edge;
    header.append(all[i].name).append(end);
    line.append("---").append(end);
    values.append(all[i].value).append(end);
  }
  return header + "\n" + (rule ? line + "\n" : "") + values + "\n";
}

}  // namespace

Result<BenchFormat> parse_bench_format(std::string_view name) {
  if (name == "text") {
    return BenchFormat::kText;
  }
  if (name == "json") {
    return BenchFormat::kJson;
  }
  if (name == "md") {
    return BenchFormat::kMarkdown;
  }
  if (name == "csv") {
    return BenchFormat::kCsv;
  }
  return Error{Errc::kInvalidArgument,
               "--output: expected text, json, md or csv, found '" + std::string(name) + "'"};
}

double BenchReport::gb_s() const {
  return static_cast<double>(result.bytes_per_token) * result.median_tok_s() / 1e9;
}

double BenchReport::gmac_s() const {
  return static_cast<double>(result.macs_per_token) * result.median_tok_s() / 1e9;
}

double BenchReport::share() const {
  return mode == BenchMode::kDecode ? gb_s() / limits.read_gb_s : gmac_s() / limits.fma_gmac_s;
}

std::string format_bench_report(const BenchReport& report, BenchFormat format) {
  switch (format) {
    case BenchFormat::kText:
      return to_text(report);
    case BenchFormat::kJson:
      return to_json(report);
    case BenchFormat::kMarkdown:
      return to_table(report, "|", "|", true);
    case BenchFormat::kCsv:
      return to_table(report, ",", "", false);
  }
  return {};
}

void print_bench_report(const BenchReport& report, BenchFormat format) {
  std::fputs(format_bench_report(report, format).c_str(), stdout);
}

}  // namespace daybreak::cli
