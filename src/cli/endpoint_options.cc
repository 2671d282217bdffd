// SPDX-License-Identifier: Apache-2.0
#include "cli/endpoint_options.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "base/atomic_file.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kMaxKeyBytes = 4'096;

std::string without_line_end(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) {
    text.pop_back();
  }
  return text;
}

}  // namespace

Result<std::string> read_api_key(const EndpointOptions& options) {
  if (!options.api_key_file.empty()) {
    DAYBREAK_TRY(std::string text, read_whole_file(options.api_key_file, kMaxKeyBytes));
    return without_line_end(std::move(text));
  }
  if (options.api_key_env.empty()) {
    return std::string();
  }
  const char* const value = std::getenv(options.api_key_env.c_str());
  return value != nullptr ? Result<std::string>(value)
                          : Error{Errc::kInvalidArgument,
                                  "--api-key-env: expected a variable that is set, found " +
                                      options.api_key_env};
}

Status check_endpoint(const EndpointOptions& options) {
  return options.url.empty() == options.model_name.empty()
             ? ok()
             : Status(Error{Errc::kInvalidArgument,
                            "expected --url URL and --model NAME together, found one of them"});
}

Result<std::unique_ptr<ChildServer>> start_server(const EndpointOptions& options,
                                                  const std::filesystem::path& model,
                                                  const std::string& served_name) {
  std::vector<std::string> arguments = {std::filesystem::absolute(model).string(),
                                        "--host",
                                        "127.0.0.1",
                                        "--port",
                                        "0",
                                        "--served-model-name",
                                        served_name,
                                        "--log-level",
                                        "warning",
                                        "--numerics",
                                        options.runner.numerics};
  if (options.runner.threads != 0) {
    arguments.insert(arguments.end(), {"--threads", std::to_string(options.runner.threads)});
  }
  if (!options.runner.isa.empty()) {
    arguments.insert(arguments.end(), {"--isa", options.runner.isa});
  }
  if (!options.config.empty()) {
    arguments.insert(arguments.end(), {"--config", options.config});
  }
  return ChildServer::start(ChildServer::program(std::move(arguments)));
}

void add_endpoint_options(Command command, EndpointOptions& options) {
  add_runner_options(command, options.runner);
  OptionRef url = command.add_option(
      "--url", options.url,
      "ask this OpenAI-compatible server instead; MODEL then only tells the vocabulary");
  command.add_option("--model", options.model_name, "the server's name of the model, with --url");
  command.add_option("--api-key-file", options.api_key_file, "file with the key of the server")
      .excludes(command.add_option("--api-key-env", options.api_key_env,
                                   "environment variable with the key of the server"));
  command.add_option("--ca-file", options.ca_file,
                     "PEM file: who may sign the server's certificate; default: the system's");
  command
      .add_option("--config", options.config, "configuration file of the server started for MODEL")
      .excludes(url);
  for (const char* const name : {"--threads", "--numerics", "--isa"}) {
    command.option(name).excludes(url);
  }
}

}  // namespace daybreak::cli
