// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_streams_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/distribution.h"

namespace daybreak::cli {
namespace {

constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kKibibyte = 1024;

double ratio(double value, std::size_t count) {
  return value / static_cast<double>(std::max<std::size_t>(count, 1));
}

}  // namespace

double StreamsReport::bytes_per_stream() const {
  const std::size_t grown = peak_bytes > idle_bytes ? peak_bytes - idle_bytes : 0;
  return ratio(static_cast<double>(grown), shape.streams);
}

double StreamsReport::cpu_us_per_token() const {
  return ratio(server_cpu_seconds * 1e6, client.tokens);
}

std::string streams_json(const StreamsReport& report) {
  const StreamsShape& shape = report.shape;
  const Distribution added = distribution_of(report.client.added_ns, kNanosecondsPerMillisecond);
  const nlohmann::ordered_json out = {
      {"streams", shape.streams},
      {"tokens_per_second", shape.rate},
      {"tokens_per_stream", shape.tokens()},
      {"http_threads", shape.http_threads},
      {"tls", shape.tls},
      {"seconds", report.seconds},
      {"complete_streams", report.client.complete},
      {"first_fault", report.client.first_fault},
      {"tokens", report.client.tokens},
      {"bytes", report.client.bytes},
      {"added_ms",
       {{"mean", added.mean},
        {"p50", added.p50},
        {"p90", added.p90},
        {"p99", added.p99},
        {"max", added.max}}},
      {"server_cpu_us_per_token", report.cpu_us_per_token()},
      {"idle_bytes", report.idle_bytes},
      {"peak_bytes", report.peak_bytes},
      {"bytes_per_stream", report.bytes_per_stream()},
  };
  return out.dump(2);
}

std::string streams_text(const StreamsReport& report) {
  const StreamsShape& shape = report.shape;
  const Distribution added = distribution_of(report.client.added_ns, kNanosecondsPerMillisecond);
  std::string out = fmt::format(
      "{} streams{} of {} tokens, {} a second each: {:.1f} s, {} complete, {} tokens, {:.1f} MB\n",
      shape.streams, shape.tls ? " over TLS" : "", shape.tokens(), shape.rate, report.seconds,
      report.client.complete, report.client.tokens, static_cast<double>(report.client.bytes) / 1e6);
  if (!report.client.first_fault.empty()) {
    out += "fault: " + report.client.first_fault + "\n";
  }
  out += fmt::format(
      "added per token, engine to client, ms: mean {:.2f}, p50 {:.2f}, p90 {:.2f}, p99 {:.2f}, "
      "max {:.2f}\n",
      added.mean, added.p50, added.p90, added.p99, added.max);
  out += fmt::format(
      "server: {:.1f} us of CPU a token, {:.1f} KiB of memory a stream ({:.1f} MiB "
      "without streams)",
      report.cpu_us_per_token(), report.bytes_per_stream() / kKibibyte,
      static_cast<double>(report.idle_bytes) / kKibibyte / kKibibyte);
  return out;
}

}  // namespace daybreak::cli
