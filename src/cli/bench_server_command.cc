// SPDX-License-Identifier: Apache-2.0
// `daybreak bench server`: the whole API with scripted answers instead of a model, for load tests
// of clients and gateways.

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/scripted_server.h"
#include "cli/serve_reload.h"
#include "cli/server_config.h"
#include "cli/stop_signals.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kMaxSequences = 20'000;
constexpr std::size_t kMaxRate = 1'000'000;
constexpr std::size_t kSpareConnections = 64;

struct Options {
  std::string model;
  std::string host = "127.0.0.1";
  std::size_t port = 8000;
  std::size_t sequences = 2000;
  std::size_t rate = 0;
  std::size_t http_threads = 2;
};

Status run(const Options& options, const std::string& version) {
  const sigset_t signals = block_stop_signals();
  ScriptedServerOptions made{
      .model = options.model, .version = version, .http = {}, .sequences = options.sequences};
  if (options.rate > 0) {
    made.token_interval = std::chrono::microseconds(1'000'000 / options.rate);
  }
  made.http.host = options.host;
  made.http.port = static_cast<std::uint16_t>(options.port);
  made.http.threads = options.http_threads;
  made.http.max_connections = options.sequences + kSpareConnections;
  made.http.limits.body_bytes = ServerConfig{}.max_request_bytes;  // as a server with a model
  Log log({.level = LogLevel::kWarning});
  raise_descriptor_limit(made.http.max_connections, log);
  DAYBREAK_TRY(const auto server, ScriptedServer::start(std::move(made)));
  std::printf("listening on %s\n", server->http().url().c_str());
  std::fflush(stdout);
  int received = 0;
  ::sigwait(&signals, &received);
  return ok();
}

}  // namespace

void register_bench_server(Command bench, const std::string& version) {
  const auto options = std::make_shared<Options>();
  const Command command = bench.add_subcommand(
      "server", "the API with scripted answers and no model, for load tests of clients");
  command.add_option("MODEL", options->model,
                     "model directory, of which the tokenizer is read; default: the bundled model");
  command.add_option("--host", options->host, "address to listen on").show_default();
  command.add_option("--port", options->port, "port to listen on; 0: any free one")
      .in_range(0, 65'535)
      .show_default();
  command.add_option("--sequences", options->sequences, "requests answered at once")
      .in_range(1, kMaxSequences)
      .show_default();
  command
      .add_option("--rate", options->rate,
                  "tokens per second of each answer; 0: as fast as they can be sent")
      .in_range(0, kMaxRate)
      .show_default();
  command.add_option("--http-threads", options->http_threads, "threads of the connections")
      .in_range(1, 64)
      .show_default();
  command.runs([options, version] { return run(*options, version); });
}

}  // namespace daybreak::cli
