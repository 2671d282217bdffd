// SPDX-License-Identifier: Apache-2.0
// `daybreak serve`: loads a model and serves it until SIGTERM or SIGINT. The first signal drains,
// the second ends at once.

#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/service.h"
#include "base/cpu_quota.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/runner_options.h"
#include "cli/server_config_sources.h"
#include "engine/engine.h"
#include "grammar/formats.h"
#include "http/server.h"
#include "kernels/dispatch.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

// Answers that were cut still have to reach their clients.
constexpr std::chrono::milliseconds kFlushTime{5'000};
// Descriptors beside connections: the model, the terminal, the event loop, what libraries open.
constexpr rlim_t kOtherDescriptors = 128;

std::chrono::milliseconds seconds(std::size_t count) { return std::chrono::seconds(count); }

http::ServerOptions http_options(const ServerConfig& config) {
  http::ServerOptions options;
  options.host = config.host;
  options.port = static_cast<std::uint16_t>(config.port);
  options.threads = config.http_threads;
  options.max_connections = config.max_connections;
  options.limits = {.head_bytes = config.max_header_bytes, .body_bytes = config.max_request_bytes};
  options.header_timeout = seconds(config.header_timeout);
  options.body_timeout = seconds(config.body_timeout);
  options.idle_timeout = seconds(config.idle_timeout);
  options.write_timeout = seconds(config.write_timeout);
  options.cors_origin = config.cors_origin;
  return options;
}

std::vector<std::string> model_names(const ServerConfig& config, const LoadedModel& loaded) {
  if (!config.served_model_name.empty()) {
    return config.served_model_name;
  }
  const auto path = std::filesystem::weakly_canonical(loaded.path);
  const std::string name = path.filename().string();
  return {name.empty() ? "model" : name};
}

// Raises the soft limit of open files as far as allowed.
void raise_descriptor_limit(std::size_t connections, Log& log) {
  rlimit limit{};
  const rlim_t wanted = connections + kOtherDescriptors;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
    return;
  }
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted) {
    log.warning("few file descriptors",
                {{"max_connections", static_cast<std::int64_t>(connections)},
                 {"descriptors", static_cast<std::int64_t>(limit.rlim_cur)}});
  }
}

sigset_t stop_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  return set;
}

// Lets running answers finish. A second signal ends the process here and now.
void drain(engine::Generator& engine, std::size_t drain_seconds, Log& log) {
  const sigset_t signals = stop_signals();
  std::atomic<bool> drained{false};
  std::thread drainer([&] {
    const std::size_t cut = engine.stop(seconds(drain_seconds));
    log.info("drained", {{"cut", static_cast<std::int64_t>(cut)}});
    drained = true;
  });
  constexpr timespec kPoll{.tv_sec = 0, .tv_nsec = 20'000'000};
  while (!drained) {
    if (::sigtimedwait(&signals, nullptr, &kPoll) > 0) {
      log.warning("second signal: ending now");
      std::_Exit(1);
    }
  }
  drainer.join();
}

// Says once what is being served and with how much.
Status log_model(const std::string& name, const ServerConfig& config, const LoadedModel& loaded,
                 const engine::ModelRunner& runner, Log& log) {
  std::size_t threads = config.threads;
  if (threads == 0) {
    DAYBREAK_TRY(threads, available_cpus());
  }
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  log.info("model", {{"name", std::string_view(name)},
                     {"weight_bytes", count(loaded.model->checkpoint().file_bytes())},
                     {"threads", count(threads)},
                     {"isa", kernels::active().isa},
                     {"max_positions", count(runner.total_positions())},
                     {"max_sequences", count(runner.slots())}});
  return ok();
}

Status serve(const ServerConfig& config, const LoadedModel& loaded, const std::string& version,
             Log& log) {
  DAYBREAK_TRY(auto tokenizer, tokenizer::Tokenizer::load(loaded.path));
  // From here on threads start, which inherit the blocked signals: only sigwait() below sees them.
  const sigset_t signals = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // Beside the start of the server, so that the first schema with a format need not wait.
  const std::jthread formats([] { grammar::prepare_formats(); });
  ::signal(SIGPIPE, SIG_IGN);
  const RunnerOptions runner_options{.model = config.model,
                                     .threads = config.threads,
                                     .numerics = config.numerics,
                                     .isa = config.isa};
  DAYBREAK_TRY(auto runner,
               make_runner(loaded, runner_options, config.max_sequences, config.max_positions));
  const std::vector<std::string> names = model_names(config, loaded);
  DAYBREAK_CHECK_OK(log_model(names.front(), config, loaded, *runner, log));
  DAYBREAK_TRY(const auto engine,
               engine::Engine::start(std::move(runner), {.max_queue = config.max_queue,
                                                         .step_tokens = config.step_tokens}));
  Metrics metrics;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  DAYBREAK_TRY(const auto service,
               api::Service::create(
                   {.model_names = names,
                    .version = version,
                    .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
                    .limits = {},
                    .contract = config.vendor_compat == "on" ? chat::Contract::kVendor
                                                             : chat::Contract::kOpen,
                    .max_tokens = config.max_tokens,
                    .model_context = loaded.model->config().max_positions,
                    .workers = config.workers,
                    .responses = {.max_bytes = config.response_store_mb << 20U,
                                  .max_age = std::chrono::seconds(config.response_store_seconds)},
                    .batches = {.directory = config.files_dir,
                                .max_bytes = std::uint64_t{config.files_mb} << 20U,
                                .in_flight = config.batch_in_flight},
                    .grammars = {.threads = config.grammar_threads,
                                 .cache_bytes = config.grammar_cache_mb << 20U,
                                 .limits = {.steps = config.grammar_steps}}},
                   std::move(tokenizer), *engine, metrics, log));
  raise_descriptor_limit(config.max_connections, log);
  http::ServerOptions options = http_options(config);
  service->attach(options);
  DAYBREAK_TRY(const auto server, http::Server::start(std::move(options), service->router()));
  std::printf("listening on %s\n", server->url().c_str());
  std::fflush(stdout);

  int received = 0;
  ::sigwait(&signals, &received);
  log.info("draining", {{"signal", std::int64_t{received}},
                        {"drain_seconds", static_cast<std::int64_t>(config.drain_seconds)}});
  service->start_draining();
  drain(*engine, config.drain_seconds, log);
  server->drain(kFlushTime);
  server->stop();
  service->stop_workers();
  return ok();
}

Status run(const ConfigSources& sources, const std::string& version) {
  DAYBREAK_TRY(const EffectiveConfig effective, effective_config(sources));
  const ServerConfig& config = effective.values;
  DAYBREAK_TRY(const LogLevel level, parse_log_level(config.log_level));
  DAYBREAK_TRY(const LogFormat format, parse_log_format(config.log_format));
  Log log({.level = level, .format = format});
  DAYBREAK_TRY(const LoadedModel loaded, load_model({.model = config.model,
                                                     .threads = config.threads,
                                                     .numerics = config.numerics,
                                                     .isa = config.isa}));
  for (const ServerKey& key : server_keys()) {
    const std::string value = key.value(config);
    // A file may spell out every key: only what differs tells something.
    if (value != key.value(ServerConfig{})) {
      const std::string& origin = effective.origins.at(std::string(key.name));
      log.info("setting", {{"key", key.name},
                           {"value", std::string_view(value)},
                           {"origin", std::string_view(origin)}});
    }
  }
  return serve(config, loaded, version, log);
}

}  // namespace

void register_serve(Command root) {
  const Command sub = root.add_subcommand("serve", "the OpenAI-compatible API server");
  const auto sources = add_server_options(sub);
  sub.runs([sources, version = root.version()] { return run(*sources, version); });
}

}  // namespace daybreak::cli
