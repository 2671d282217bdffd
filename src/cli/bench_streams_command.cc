// SPDX-License-Identifier: Apache-2.0
// `daybreak bench streams`: what the API adds to each token while it serves many streams at once.
// The server answers from a script, in a process of its own; no model is computed.

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "cli/bench_streams_report.h"
#include "cli/child_server.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/process_usage.h"
#include "cli/progress.h"
#include "cli/scripted_server.h"
#include "cli/serve_reload.h"
#include "cli/stop_signals.h"
#include "cli/stream_client.h"
#include "http/tls_context.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kMaxStreams = 20'000;
constexpr std::size_t kMaxRate = 1'000;
constexpr std::size_t kMaxSeconds = 600;
constexpr std::size_t kMaxTokens =
    50'000'000;  // of all streams: a stamp and a time of 8 bytes each
constexpr std::size_t kSpareConnections = 16;
constexpr std::chrono::milliseconds kRamp{2'000};
constexpr std::chrono::milliseconds kPatience{30'000};

struct Options {
  std::string model;
  StreamsShape shape;
  http::TlsFiles tls;
  bool json = false;
};

// Memory that a forked process writes and this one reads.
class SharedStamps {
 public:
  using Stamp = std::atomic<std::int64_t>;

  static Result<std::unique_ptr<SharedStamps>> make(std::size_t count) {
    void* at = ::mmap(nullptr, count * sizeof(Stamp), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
      return Error{Errc::kIo, "no shared memory for the times of all tokens"};
    }
    return std::unique_ptr<SharedStamps>(new SharedStamps(static_cast<Stamp*>(at), count));
  }
  ~SharedStamps() { ::munmap(stamps_.data(), stamps_.size_bytes()); }
  SharedStamps(const SharedStamps&) = delete;
  SharedStamps& operator=(const SharedStamps&) = delete;

  [[nodiscard]] std::span<Stamp> all() const { return stamps_; }

 private:
  // Anonymous memory is zero, which is what a Stamp of 0 looks like.
  SharedStamps(Stamp* at, std::size_t count) : stamps_(at, count) {}

  std::span<Stamp> stamps_;
};

Result<ScriptedServerOptions> server_options(const Options& options, const std::string& version,
                                             std::span<SharedStamps::Stamp> stamps) {
  const StreamsShape& shape = options.shape;
  ScriptedServerOptions out{.model = options.model,
                            .version = version,
                            .http = {},
                            .sequences = shape.streams,
                            .token_interval = std::chrono::microseconds(1'000'000 / shape.rate),
                            .stamps = stamps,
                            .stamps_per_answer = shape.tokens()};
  out.http.threads = shape.http_threads;
  out.http.max_connections = shape.streams + kSpareConnections;
  if (shape.tls) {
    DAYBREAK_TRY(out.http.tls, http::TlsContext::load(options.tls));
  }
  return out;
}

// In the child: tells the address, or why there is none, and lives until SIGTERM. The stamps lie in
// memory that it shares.
void serve(const ScriptedServerOptions& options) {
  const sigset_t signals = block_stop_signals();
  auto server = ScriptedServer::start(options);
  const std::string told =
      server ? "listening on " + (*server)->http().url() + "\n" : server.error().message + "\n";
  const bool written = ::write(STDOUT_FILENO, told.data(), told.size()) > 0;
  int received = 0;
  if (server && written) {
    ::sigwait(&signals, &received);
    server->reset();
  }
}

// One short stream, so that what is made once is there before memory is looked at.
Status warm_up(const StreamClientOptions& options) {
  StreamClientOptions one = options;
  one.streams = 1;
  one.ramp = {};
  one.progress = nullptr;
  one.tokens = 1;
  DAYBREAK_TRY(const StreamClientResult result, run_streams(one));
  return result.complete == 1 ? ok() : Status(Error{Errc::kCorrupt, result.first_fault});
}

Result<StreamsReport> measure(const Options& options, const std::string& version) {
  const StreamsShape& shape = options.shape;
  DAYBREAK_TRY(const auto stamps, SharedStamps::make(shape.streams * shape.tokens()));
  DAYBREAK_TRY(const ScriptedServerOptions made, server_options(options, version, stamps->all()));
  DAYBREAK_TRY(const auto server, ChildServer::start([&made] { serve(made); }));
  ::signal(SIGPIPE, SIG_IGN);
  Progress progress("streams");
  StreamsReport report{.shape = shape, .client = {}};
  StreamClientOptions client{.port = server->port(),
                             .tls = shape.tls,
                             .streams = shape.streams,
                             .tokens = shape.tokens(),
                             .ramp = kRamp,
                             .patience = kPatience,
                             .stamps = stamps->all(),
                             .progress = nullptr};
  DAYBREAK_CHECK_OK(warm_up(client));
  constexpr std::chrono::milliseconds kLookAgain{50};
  auto looked = Clock::steady().now();
  client.progress = [&](std::size_t tokens) {
    if (const auto now = Clock::steady().now(); now - looked >= kLookAgain) {
      looked = now;
      report.peak_bytes = std::max(report.peak_bytes, private_bytes(server->process()));
      progress.show(tokens, shape.streams * shape.tokens());
    }
  };
  report.idle_bytes = private_bytes(server->process());
  const double cpu = cpu_seconds(server->process());
  const auto begin = Clock::steady().now();
  DAYBREAK_TRY(report.client, run_streams(client));
  report.seconds = std::chrono::duration<double>(Clock::steady().now() - begin).count();
  report.server_cpu_seconds = cpu_seconds(server->process()) - cpu;
  return report;
}

Status run(const Options& given, const std::string& version) {
  Options options = given;
  StreamsShape& shape = options.shape;
  shape.tls = !options.tls.certificate.empty();
  if (shape.tls == options.tls.key.empty()) {
    return Error{Errc::kInvalidArgument,
                 "expected --tls-certificate and --tls-key together, found one of them"};
  }
  if (shape.streams * shape.tokens() > kMaxTokens) {
    return Error{Errc::kTooLarge, "expected at most 50000000 tokens in all, found " +
                                      std::to_string(shape.streams * shape.tokens()) +
                                      ": --streams x --rate x --seconds"};
  }
  Log log({.level = LogLevel::kWarning});
  raise_descriptor_limit(shape.streams + kSpareConnections, log);
  DAYBREAK_TRY(const StreamsReport report, measure(options, version));
  std::printf("%s\n", options.json ? streams_json(report).c_str() : streams_text(report).c_str());
  return report.client.complete == shape.streams
             ? ok()
             : Status(Error{Errc::kCorrupt, report.client.first_fault});
}

}  // namespace

void register_bench_streams(Command bench, const std::string& version) {
  const auto options = std::make_shared<Options>();
  const Command command = bench.add_subcommand(
      "streams", "what the API adds to each token of many streams at once; no model is computed");
  StreamsShape& shape = options->shape;
  command.add_option("MODEL", options->model,
                     "model directory, of which the tokenizer is read; default: the bundled model");
  command.add_option("--streams", shape.streams, "streams at once")
      .in_range(1, kMaxStreams)
      .show_default();
  command.add_option("--rate", shape.rate, "tokens per second of each stream")
      .in_range(1, kMaxRate)
      .show_default();
  command.add_option("--seconds", shape.seconds, "length of each stream")
      .in_range(1, kMaxSeconds)
      .show_default();
  command.add_option("--http-threads", shape.http_threads, "threads of the server's connections")
      .in_range(1, 64)
      .show_default();
  command.add_option("--tls-certificate", options->tls.certificate,
                     "PEM file: serve over TLS with it");
  command.add_option("--tls-key", options->tls.key, "PEM file: its key");
  command.add_flag("--json", options->json, "print one JSON object");
  command.runs([options, version] { return run(*options, version); });
}

}  // namespace daybreak::cli
