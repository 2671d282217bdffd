// SPDX-License-Identifier: Apache-2.0
#include "loadgen/report.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace daybreak::loadgen {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilliseconds = 1e3;
constexpr double kPercent = 100;

double ratio(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json summary_json(const Samples& seconds) {
  const Summary s = seconds.summary();
  return {{"count", s.count},
          {"mean", s.mean * kMilliseconds},
          {"std", s.std * kMilliseconds},
          {"p50", s.p50 * kMilliseconds},
          {"p90", s.p90 * kMilliseconds},
          {"p95", s.p95 * kMilliseconds},
          {"p99", s.p99 * kMilliseconds},
          {"max", s.max * kMilliseconds},
          {"exact", s.exact}};
}

std::string summary_line(std::string_view name, const Samples& seconds) {
  const Summary s = seconds.summary();
  if (s.count == 0) {
    return fmt::format("{:<16}{:>10}\n", name, "n/a");
  }
  std::string out = fmt::format("{:<16}", name);
  for (const double value : {s.mean, s.std, s.p50, s.p90, s.p95, s.p99, s.max}) {
    out += fmt::format("{:>10.2f}", value * kMilliseconds);
  }
  return out + (s.exact ? "\n" : "  (percentiles within 0.05 %)\n");
}

std::array<std::pair<std::string, std::optional<double>>, 3> limits_of(const Slos& slos) {
  return {{{"ttft", slos.ttft_ms}, {"tpot", slos.tpot_ms}, {"e2el", slos.e2el_ms}}};
}

Json goodput_json(const Report& report) {
  const Slos& slos = report.tally.slos();
  Json limits = Json::object();
  for (const auto& [name, limit] : limits_of(slos)) {
    if (limit) {
      limits[name + "_ms"] = *limit;
    }
  }
  return {{"objectives", limits},
          {"requests", report.tally.good()},
          {"share", ratio(report.tally.good(), report.tally.ended())},
          {"requests_per_second", report.per_second(report.tally.good())}};
}

std::string goodput_line(const Report& report) {
  const Slos& slos = report.tally.slos();
  std::string limits;
  for (const auto& [name, limit] : limits_of(slos)) {
    if (limit) {
      limits += fmt::format("{}{} <= {:g} ms", limits.empty() ? "" : ", ", name, *limit);
    }
  }
  return fmt::format("goodput         {:.3f} requests/s: {} of {} ({:.1f} %) with {}\n",
                     report.per_second(report.tally.good()), report.tally.good(),
                     report.tally.ended(),
                     kPercent * ratio(report.tally.good(), report.tally.ended()), limits);
}

Json errors_json(const Tally& tally) {
  Json out = Json::object();
  for (const auto& [kind, error] : tally.errors()) {
    out[kind] = {{"count", error.count}, {"first", error.first}};
  }
  return out;
}

std::string tokens_text(const Report& report) {
  const Tally& tally = report.tally;
  std::string out =
      fmt::format("tokens          {} in, {} out; asked for {} in, {} out\n", tally.input_tokens(),
                  tally.output_tokens(), tally.asked_input(), tally.asked_output());
  if (tally.uncounted() > 0) {
    out += fmt::format(
        "                {} answers without usage: input as asked for, events with text as "
        "output\n",
        tally.uncounted());
  }
  out += fmt::format(
      "throughput      {:.3f} requests/s, {:.2f} input, {:.2f} output, {:.2f} tokens/s in all\n",
      report.per_second(tally.completed()), report.per_second(tally.input_tokens()),
      report.per_second(tally.output_tokens()),
      report.per_second(tally.input_tokens() + tally.output_tokens()));
  if (tally.told_cached() == 0) {
    return out + "cache           the server does not say what it took from a cache\n";
  }
  return out + fmt::format("cache           {:.1f} % of {} input tokens; {} of {} requests\n",
                           kPercent * ratio(tally.cached_tokens(), tally.cacheable_tokens()),
                           tally.cacheable_tokens(), tally.hits(), tally.told_cached());
}

}  // namespace

std::size_t Report::unsent() const {
  const std::size_t sent = tally.ended() + tally.abandoned();
  return requests > sent ? requests - sent : 0;
}

double Report::per_second(std::size_t count) const {
  return tally.seconds() > 0 ? static_cast<double>(count) / tally.seconds() : 0;
}

std::string report_json(const Report& report) {
  const Tally& tally = report.tally;
  Json out = {{"workload", report.workload},
              {"endpoint", report.endpoint},
              {"seconds", tally.seconds()},
              {"requests",
               {{"workload", report.requests},
                {"completed", tally.completed()},
                {"failed", tally.failed()},
                {"abandoned", tally.abandoned()},
                {"unsent", report.unsent()}}},
              {"tokens",
               {{"input", tally.input_tokens()},
                {"output", tally.output_tokens()},
                {"asked_input", tally.asked_input()},
                {"asked_output", tally.asked_output()},
                {"answers_without_usage", tally.uncounted()},
                {"per_word", report.ratio.tokens_per_word},
                {"around_a_prompt", report.ratio.added_tokens}}},
              {"per_second",
               {{"requests", report.per_second(tally.completed())},
                {"input_tokens", report.per_second(tally.input_tokens())},
                {"output_tokens", report.per_second(tally.output_tokens())},
                {"total_tokens", report.per_second(tally.input_tokens() + tally.output_tokens())}}},
              {"ttft_ms", summary_json(tally.ttft())},
              {"tpot_ms", summary_json(tally.tpot())},
              {"itl_ms", summary_json(tally.itl())},
              {"e2el_ms", summary_json(tally.e2el())},
              {"send_lag_ms", summary_json(tally.lag())}};
  if (tally.told_cached() > 0) {
    out["cache"] = {{"cached_tokens", tally.cached_tokens()},
                    {"input_tokens", tally.cacheable_tokens()},
                    {"hit_rate", ratio(tally.cached_tokens(), tally.cacheable_tokens())},
                    {"requests_with_hits", tally.hits()},
                    {"requests", tally.told_cached()}};
  }
  if (tally.slos().any()) {
    out["goodput"] = goodput_json(report);
  }
  out["errors"] = errors_json(tally);
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string report_text(const Report& report) {
  const Tally& tally = report.tally;
  std::string out = fmt::format(
      "{} against {}\nrequests        {} completed, {} failed of {} in {:.2f} s\n", report.workload,
      report.endpoint, tally.completed(), tally.failed(), report.requests, tally.seconds());
  if (tally.abandoned() + report.unsent() > 0) {
    out += fmt::format("                interrupted: {} in flight, {} not sent\n",
                       tally.abandoned(), report.unsent());
  }
  out += tokens_text(report);
  if (tally.slos().any()) {
    out += goodput_line(report);
  }
  out += fmt::format("\n{:<16}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "ms", "mean", "std",
                     "p50", "p90", "p95", "p99", "max");
  out += summary_line("ttft", tally.ttft()) + summary_line("tpot", tally.tpot()) +
         summary_line("itl", tally.itl()) + summary_line("e2el", tally.e2el()) +
         summary_line("sent after due", tally.lag());
  for (const auto& [kind, error] : tally.errors()) {
    out += fmt::format("\n{} x {}, the first: {}", error.count, kind, error.first);
  }
  return out + (tally.errors().empty() ? "" : "\n");
}

}  // namespace daybreak::loadgen
