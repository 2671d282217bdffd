// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_serve_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "cli/number_option.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kMaxRequests = 100'000'000;
constexpr std::size_t kMaxPrefixes = 1'000'000;
constexpr std::size_t kMaxTimeout = 604'800;  // a week
constexpr std::size_t kSyntheticRequests = 100;

void add_workload_options(Command command, BenchServeOptions& options) {
  const Command workload = command.one_of("workload", "What is sent");
  OptionRef trace = workload.add_option(
      "--trace", options.trace,
      "trace to replay: Mooncake's .jsonl, Azure's .csv, an agent's .json or a directory of them");
  workload.add_option("--synthetic", options.synthetic,
                      "workload to make: random, shared-prefix or sonnet");
  command
      .add_option("--trace-format", options.trace_format,
                  "auto (by the name), mooncake, azure or agent")
      .show_default();
  command
      .add_option("--limit", options.limit,
                  "requests at most; default: all of a trace, 100 synthetic ones")
      .in_range(1, kMaxRequests);
  command
      .add_option("--scale-length", options.scale_length,
                  "lengths of prompts and answers are multiplied by this")
      .show_default();
  const auto length = [&](const char* name, std::size_t& value, const char* help) {
    command.add_option(name, value, help)
        .in_range(1, loadgen::kMaxTraceTokens)
        .show_default()
        .excludes(trace);
  };
  length("--input-len", options.input_len, "synthetic: tokens of a prompt");
  length("--output-len", options.output_len, "synthetic: tokens of an answer");
  length("--prefix-len", options.prefix_len, "shared-prefix, sonnet: tokens that prompts share");
  command.add_option("--prefixes", options.prefixes, "shared-prefix: different beginnings")
      .in_range(1, kMaxPrefixes)
      .show_default()
      .excludes(trace);
  command
      .add_option("--range-ratio", options.range_ratio,
                  "synthetic: lengths are within this share of the ones above, in [0, 1)")
      .show_default()
      .excludes(trace);
  command.add_option("--seed", options.seed, "of the texts, synthetic lengths and arrivals")
      .in_range(0, std::numeric_limits<std::uint32_t>::max())
      .show_default();
}

void add_pace_options(Command command, BenchServeOptions& options) {
  command.add_option("--speed", options.speed, "the trace's times are divided by this")
      .show_default();
  command.add_option("--request-rate", options.request_rate,
                     "conversations that begin per second, or inf; default: the trace's times, inf "
                     "for synthetic ones");
  command
      .add_option("--burstiness", options.burstiness,
                  "with --request-rate: 1 is a Poisson process, less is more bursty, inf is even")
      .show_default();
  command.add_option("--max-concurrency", options.max_concurrency, "requests in flight at most")
      .in_range(1, loadgen::kMaxConcurrency)
      .show_default();
}

void add_request_options(Command command, BenchServeOptions& options) {
  command.add_option("--endpoint", options.protocol, "chat or completions").show_default();
  command.add_flag("--ignore-eos", options.ignore_eos,
                   "with --url: ask for answers of the whole length (a field of vLLM, SGLang and "
                   "Daybreak); a server started here is always asked");
  command.add_option("--temperature", options.temperature, "default: the server's own");
  command.add_option("--timeout", options.timeout, "seconds to wait for an answer")
      .in_range(1, kMaxTimeout)
      .show_default();
}

}  // namespace

void add_bench_serve_options(Command command, BenchServeOptions& options) {
  add_endpoint_options(command, options.endpoint);
  add_workload_options(command, options);
  add_pace_options(command, options);
  add_request_options(command, options);
  command.add_option("--goodput", options.goodput,
                     "objectives NAME:MS with NAME ttft, tpot or e2el, as ttft:500 tpot:50");
  command.add_option("--save", options.save, "file for the requests, one JSON object per line");
  command.add_flag("--json", options.json, "print one JSON object");
}

Result<loadgen::TraceFormat> trace_format(const BenchServeOptions& options) {
  if (options.trace_format == "auto") {
    return loadgen::format_of(options.trace);
  }
  if (options.trace_format == "mooncake") {
    return loadgen::TraceFormat::kMooncake;
  }
  if (options.trace_format == "azure") {
    return loadgen::TraceFormat::kAzure;
  }
  if (options.trace_format == "agent") {
    return loadgen::TraceFormat::kAgent;
  }
  return Error{Errc::kInvalidArgument,
               "--trace-format: expected auto, mooncake, azure or agent, found '" +
                   options.trace_format + "'"};
}

Result<loadgen::SyntheticOptions> synthetic_options(const BenchServeOptions& options) {
  loadgen::SyntheticOptions out{.requests = options.limit == 0 ? kSyntheticRequests : options.limit,
                                .input_tokens = options.input_len,
                                .output_tokens = options.output_len,
                                .prefix_tokens = options.prefix_len,
                                .prefixes = options.prefixes,
                                .seed = options.seed};
  if (options.synthetic == "shared-prefix") {
    out.kind = loadgen::SyntheticKind::kSharedPrefix;
  } else if (options.synthetic == "sonnet") {
    out.kind = loadgen::SyntheticKind::kSonnet;
  } else if (options.synthetic != "random") {
    return Error{
        Errc::kInvalidArgument,
        "--synthetic: expected random, shared-prefix or sonnet, found '" + options.synthetic + "'"};
  }
  if (options.range_ratio != "0") {
    DAYBREAK_TRY(out.range_ratio, positive_number("--range-ratio", options.range_ratio));
    if (out.range_ratio >= 1) {
      return Error{Errc::kInvalidArgument,
                   "--range-ratio: expected a number below 1, found '" + options.range_ratio + "'"};
    }
  }
  return out;
}

Result<loadgen::ReplayOptions> replay_options(const BenchServeOptions& options) {
  loadgen::ReplayOptions out;
  if (options.protocol != "chat" && options.protocol != "completions") {
    return Error{Errc::kInvalidArgument,
                 "--endpoint: expected chat or completions, found '" + options.protocol + "'"};
  }
  out.target.protocol =
      options.protocol == "chat" ? loadgen::Protocol::kChat : loadgen::Protocol::kCompletions;
  DAYBREAK_TRY(out.target.api_key, read_api_key(options.endpoint));
  out.target.ca_file = options.endpoint.ca_file;
  out.target.timeout = std::chrono::seconds(options.timeout);
  if (!options.temperature.empty()) {
    out.target.temperature = 0;
    if (options.temperature != "0") {
      DAYBREAK_TRY(out.target.temperature, positive_number("--temperature", options.temperature));
    }
  }
  DAYBREAK_TRY(out.speed, positive_number("--speed", options.speed));
  if (!options.request_rate.empty()) {
    DAYBREAK_TRY(out.request_rate,
                 positive_number("--request-rate", options.request_rate, Infinity::kAllowed));
  }
  DAYBREAK_TRY(out.burstiness,
               positive_number("--burstiness", options.burstiness, Infinity::kAllowed));
  out.seed = options.seed;
  out.max_concurrency = options.max_concurrency;
  DAYBREAK_TRY(out.slos, loadgen::parse_slos(options.goodput));
  return out;
}

std::string workload_name(const BenchServeOptions& options) {
  if (!options.trace.empty()) {
    return options.trace;
  }
  std::string out = fmt::format("{}, {} tokens in and {} out", options.synthetic, options.input_len,
                                options.output_len);
  if (options.synthetic == "shared-prefix") {
    out += fmt::format(", {} beginnings of {}", options.prefixes, options.prefix_len);
  } else if (options.synthetic == "sonnet") {
    out += fmt::format(", {} of them shared", options.prefix_len);
  }
  return out;
}

}  // namespace daybreak::cli
