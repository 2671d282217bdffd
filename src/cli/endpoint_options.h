// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of commands that ask a server: one at a URL, or one they start on a model.

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/child_server.h"
#include "cli/command.h"
#include "cli/runner_options.h"

namespace daybreak::cli {

struct EndpointOptions {
  RunnerOptions runner;  // of the model served here; with a URL only its vocabulary counts
  std::string config;
  std::string url;  // empty: a server is started on the model
  std::string model_name;
  std::string api_key_file;
  std::string api_key_env;
  std::string ca_file;

  [[nodiscard]] bool starts_server() const { return url.empty(); }
};

// Declares MODEL and its options, --url, --model, --api-key-file, --api-key-env, --ca-file and
// --config. `options` must outlive parsing.
void add_endpoint_options(Command command, EndpointOptions& options);

// Errors: kInvalidArgument if --url is given without --model or --model without --url.
[[nodiscard]] Status check_endpoint(const EndpointOptions& options);

// Returns the key to send, empty for none. Errors: kInvalidArgument (a variable that is not set),
// those of reading the file.
[[nodiscard]] Result<std::string> read_api_key(const EndpointOptions& options);

// Starts `daybreak serve` on `model` under `served_name`. Errors: those of ChildServer::start().
[[nodiscard]] Result<std::unique_ptr<ChildServer>> start_server(const EndpointOptions& options,
                                                                const std::filesystem::path& model,
                                                                const std::string& served_name);

}  // namespace daybreak::cli
