// SPDX-License-Identifier: Apache-2.0
// `daybreak serve`: loads a model and serves it until SIGTERM or SIGINT. The first signal drains,
// the second ends at once. SIGHUP reloads.

#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/service.h"
#include "base/cpu_quota.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cli/cache_events.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/disk_cache.h"
#include "cli/lora_modules.h"
#include "cli/otlp_options.h"
#include "cli/reload.h"
#include "cli/runner_options.h"
#include "cli/serve_reload.h"
#include "cli/server_access.h"
#include "cli/server_config_sources.h"
#include "cli/stop_signals.h"
#include "engine/engine.h"
#include "grammar/formats.h"
#include "http/server.h"
#include "kernels/dispatch.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

// Answers that were cut still have to reach their clients.
constexpr std::chrono::milliseconds kFlushTime{5'000};
std::chrono::milliseconds seconds(std::size_t count) { return std::chrono::seconds(count); }

std::vector<std::string> model_names(const ServerConfig& config, const LoadedModel& loaded) {
  if (!config.served_model_name.empty()) {
    return config.served_model_name;
  }
  const auto path = std::filesystem::weakly_canonical(loaded.path);
  const std::string name = path.filename().string();
  return {name.empty() ? "model" : name};
}

// Some that end a program signal it and then its process group (`timeout`): that is one wish.
// Nobody presses a key twice within this time.
constexpr std::chrono::milliseconds kOneSignal{100};

// Runs `finish`, which lets running answers finish and writes down what they took. A second signal
// ends the process here and now.
void drain(const std::function<void()>& finish, const access::AccessPolicy* access, Log& log) {
  const sigset_t signals = stop_signals();
  std::atomic<bool> drained{false};
  std::thread drainer([&] {
    finish();
    drained = true;
  });
  constexpr timespec kPoll{.tv_sec = 0, .tv_nsec = 20'000'000};
  const Clock::TimePoint first = Clock::steady().now();
  while (!drained) {
    if (::sigtimedwait(&signals, nullptr, &kPoll) > 0 &&
        Clock::steady().now() - first >= kOneSignal) {
      const access::Ledger* const ledger = access == nullptr ? nullptr : access->ledger();
      const std::size_t lost = ledger == nullptr ? 0 : ledger->stats().queued;
      log.warning("second signal: ending now",
                  {{"usage_entries_lost", static_cast<std::int64_t>(lost)}});
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

// Waits for a signal to stop and reloads meanwhile. Returns the signal.
int wait_for_stop(const sigset_t& signals, Reloader& reloader) {
  constexpr timespec kPoll{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kReloadPoll).count()};
  for (;;) {
    const int received = ::sigtimedwait(&signals, nullptr, &kPoll);
    if (received == SIGHUP) {
      reloader.reload("SIGHUP");
    } else if (received > 0) {
      return received;
    }
    reloader.poll();  // also after a SIGHUP: many of them must not keep a revoked key alive
  }
}

Status serve(const ConfigSources& sources, const EffectiveConfig& effective,
             const LoadedModel& loaded, const std::string& version, Log& log) {
  const ServerConfig& config = effective.values;
  Metrics metrics;
  // Before anything slow: stamps the files, and reads those of TLS.
  Reloader reloader(sources, effective, log, metrics);
  DAYBREAK_TRY(http::ServerOptions options, http_options(config));
  DAYBREAK_TRY(auto telemetry, otlp_options(config, version, sources.environment));
  DAYBREAK_TRY(auto tokenizer, tokenizer::Tokenizer::load(loaded.path));
  DAYBREAK_TRY(const auto events_config, events::parse_kv_events_config(config.kv_events_config));
  // From here on threads start.
  const sigset_t signals = block_stop_signals({SIGHUP});
  // Beside the start of the server, so that the first schema with a format need not wait.
  const std::jthread formats([] { grammar::prepare_formats(); });
  const RunnerOptions runner_options{.model = config.model,
                                     .threads = config.threads,
                                     .numerics = config.numerics,
                                     .isa = config.isa};
  DAYBREAK_TRY(
      auto runner,
      make_runner(loaded, runner_options,
                  {.sequences = config.max_sequences,
                   .positions = config.max_positions,
                   .checkpoints = config.prefix_reuse == "on" ? config.state_checkpoints : 0,
                   .guesses = config.speculation == "ngram" ? config.num_speculative_tokens : 0}));
  const std::vector<std::string> names = model_names(config, loaded);
  DAYBREAK_TRY(std::shared_ptr<cache::EventSink> cache_events,
               publish_cache_events(events_config, metrics, log));
  DAYBREAK_CHECK_OK(log_model(names.front(), config, loaded, *runner, log));
  DAYBREAK_TRY(std::shared_ptr<access::AccessPolicy> access, open_access(config, names.front()));
  DAYBREAK_TRY(std::optional<engine::DiskOptions> disk, disk_options(config, loaded, log));
  DAYBREAK_TRY(const auto engine,
               engine::Engine::start(
                   std::move(runner),
                   {.max_queue = config.max_queue,
                    .step_tokens = config.step_tokens,
                    .prefix_reuse = config.prefix_reuse == "on" ? engine::PrefixReuse::kOn
                                                                : engine::PrefixReuse::kOff,
                    .kept_age = std::chrono::seconds(config.kept_sequence_seconds),
                    .checkpoint_interval = config.linear_cache_interval,
                    .speculation = {.method = config.speculation == "ngram"
                                                  ? engine::SpeculationMethod::kNgram
                                                  : engine::SpeculationMethod::kNone,
                                    .most = config.num_speculative_tokens,
                                    .min_match = config.prompt_lookup_min},
                    .cache_events = std::move(cache_events),
                    .disk = std::move(disk),
                    .owner_valid = owner_valid(access),
                    .timeline_steps = config.step_timeline}));
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(since).count();
  DAYBREAK_TRY(api::LoraOptions lora, open_adapters(config, loaded, names, now, log));
  DAYBREAK_TRY(const auto service,
               api::Service::create(
                   {.model_names = names,
                    .version = version,
                    .created = now,
                    .limits = {.contract = config.vendor_compat == "on" ? chat::Contract::kVendor
                                                                        : chat::Contract::kOpen},
                    .max_tokens = config.max_tokens,
                    .model_context = loaded.model->config().max_positions,
                    .workers = config.workers,
                    .keep_alive_comments = seconds(config.keep_alive_comments),
                    .responses = {.max_bytes = config.response_store_mb << 20U,
                                  .max_age = std::chrono::seconds(config.response_store_seconds)},
                    .replays = {.grace = seconds(config.retry_grace_seconds),
                                .max_bytes = config.retry_store_mb << 20U,
                                .max_age = std::chrono::seconds(config.retry_store_seconds)},
                    .batches = {.directory = config.files_dir,
                                .max_bytes = std::uint64_t{config.files_mb} << 20U,
                                .owner_share = {.percent = config.files_owner_percent},
                                .in_flight = config.batch_in_flight},
                    .content_log = {.file = config.content_log,
                                    .max_file_bytes = std::uint64_t{config.content_log_mb} << 20U},
                    .access = access,
                    .slots = engine.get(),
                    .slot_save_path = config.slot_save_path,
                    .lora = std::move(lora),
                    .telemetry = std::move(telemetry),
                    .grammars = {.threads = config.grammar_threads,
                                 .cache_bytes = config.grammar_cache_mb << 20U,
                                 .limits = {.steps = config.grammar_steps}}},
                   std::move(tokenizer), *engine, metrics, log));
  raise_descriptor_limit(config.max_connections, log);
  service->attach(options);
  attach_handshake_report(options, log, metrics);
  DAYBREAK_TRY(const auto server, http::Server::start(std::move(options), service->router()));
  warn_if_open(config, server->on_loopback(), log);
  std::printf("listening on %s\n", server->url().c_str());
  std::fflush(stdout);

  attach_reload(reloader, *server, *service, names, log);
  attach_price_reload(reloader, access.get(), names.front());
  reloader.on_poll(key_poll(access.get(), *engine, log));
  const int received = wait_for_stop(signals, reloader);
  const std::size_t drain_seconds = reloader.running().drain_seconds;
  log.info("draining", {{"signal", std::int64_t{received}},
                        {"drain_seconds", static_cast<std::int64_t>(drain_seconds)}});
  const auto until = std::chrono::steady_clock::now() + seconds(drain_seconds);
  service->start_draining();
  const auto finish = [&] {
    const std::size_t cut = engine->stop(seconds(drain_seconds));
    log.info("drained", {{"cut", static_cast<std::int64_t>(cut)}});
    server->drain(kFlushTime);
    server->stop();
    service->stop_workers(until);
  };
  drain(finish, access.get(), log);
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
  return serve(sources, effective, loaded, version, log);
}

}  // namespace

void register_serve(Command root) {
  const Command sub = root.add_subcommand("serve", "the OpenAI-compatible API server");
  const auto sources = add_server_options(sub);
  sub.runs([sources, version = root.version()] { return run(*sources, version); });
}

}  // namespace daybreak::cli
