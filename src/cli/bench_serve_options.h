// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of `daybreak bench serve`, and what the library is given for them.

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/endpoint_options.h"
#include "loadgen/replay.h"
#include "loadgen/synthetic.h"
#include "loadgen/trace.h"

namespace daybreak::cli {

struct BenchServeOptions {
  EndpointOptions endpoint;
  std::string protocol = "chat";
  std::string trace;
  std::string trace_format = "auto";
  std::string synthetic;
  std::size_t input_len = 1'024;
  std::size_t output_len = 128;
  std::size_t prefix_len = 512;
  std::size_t prefixes = 8;
  std::string range_ratio = "0";
  std::size_t limit = 0;  // 0: all of a trace, kSyntheticRequests of a synthetic workload
  std::string scale_length = "1";
  std::string speed = "1";
  std::string request_rate;  // empty: the times of the trace
  std::string burstiness = "1";
  std::size_t max_concurrency = 1'024;
  std::size_t seed = 0;
  std::size_t timeout = 3'600;
  bool ignore_eos = false;
  std::string temperature;
  std::vector<std::string> goodput;
  std::string save;
  bool json = false;
};

void add_bench_serve_options(Command command, BenchServeOptions& options);

// Errors of these: kInvalidArgument naming the option; those of reading a key.
[[nodiscard]] Result<loadgen::TraceFormat> trace_format(const BenchServeOptions& options);
[[nodiscard]] Result<loadgen::SyntheticOptions> synthetic_options(const BenchServeOptions& options);
// All but the URL, the served name and the callbacks.
[[nodiscard]] Result<loadgen::ReplayOptions> replay_options(const BenchServeOptions& options);
// What is replayed, in words.
[[nodiscard]] std::string workload_name(const BenchServeOptions& options);

}  // namespace daybreak::cli
