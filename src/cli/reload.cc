// SPDX-License-Identifier: Apache-2.0
#include "cli/reload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

namespace daybreak::cli {

FileStamp stamp_of(const std::string& path) {
  struct stat found{};
  if (path.empty() || ::stat(path.c_str(), &found) != 0) {
    return {};
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {.modified_ns = found.st_mtim.tv_sec * kNanoseconds + found.st_mtim.tv_nsec,
          .size = static_cast<std::uint64_t>(found.st_size),
          .inode = found.st_ino};
}

Reloader::Reloader(ConfigSources sources, EffectiveConfig running, Log& log, Metrics& metrics)
    : sources_(std::move(sources)),
      running_(std::move(running)),
      log_(log),
      metrics_(metrics),
      seen_(stamps()) {}

std::vector<FileStamp> Reloader::stamps() const {
  const ServerConfig& config = running_.values;
  return {stamp_of(sources_.file), stamp_of(config.tls_certificate), stamp_of(config.tls_key),
          stamp_of(config.tls_client_ca), stamp_of(config.prices)};
}

void Reloader::poll() {
  if (stamps() != seen_) {
    reload("file");
  }
  for (const std::function<void()>& look : looks_) {
    look();
  }
}

Result<std::vector<Reloader::Commit>> Reloader::prepare(const ServerConfig& next) {
  std::vector<Commit> commits;
  for (const Prepare& participant : participants_) {
    DAYBREAK_TRY(Commit commit, participant(next));
    commits.push_back(std::move(commit));
  }
  return commits;
}

void Reloader::reload(std::string_view cause) {
  // Before anything is read: what changes after this is seen by the next poll().
  seen_ = stamps();
  Result<EffectiveConfig> read = effective_config(sources_);
  std::vector<std::string_view> changed;
  std::vector<std::string_view> waiting;
  EffectiveConfig next = running_;
  Result<std::vector<Commit>> commits = std::vector<Commit>();
  if (read) {
    for (const ServerKey& key : server_keys()) {
      const std::string value = key.value(read->values);
      if (value == key.value(running_.values)) {
        continue;
      }
      (key.reload == Reload::kLive ? changed : waiting).push_back(key.name);
      if (key.reload == Reload::kLive) {
        // It was read by the same rule a moment ago.
        (void)key.set(next.values, value);
        next.origins[std::string(key.name)] = read->origins.at(std::string(key.name));
      }
    }
    commits = prepare(next.values);
  }
  const bool good = read && commits;
  metrics_
      .counter("daybreak_config_reloads_total", "Reloads of the configuration",
               {{"result", good ? "ok" : "failed"}})
      .add();
  if (!good) {
    const std::string& error = read ? commits.error().message : read.error().message;
    const std::vector<LogField> fields = {{"cause", cause}, {"error", std::string_view(error)}};
    return log_.write(LogLevel::kError, "reload failed, nothing changed", fields);
  }
  for (const Commit& commit : *commits) {
    commit();
  }
  const bool other_files = next.values.tls_certificate != running_.values.tls_certificate ||
                           next.values.tls_key != running_.values.tls_key ||
                           next.values.tls_client_ca != running_.values.tls_client_ca ||
                           next.values.prices != running_.values.prices;
  running_ = std::move(next);
  if (other_files) {
    seen_ = stamps();
  }
  const std::string changes = fmt::format("{}", fmt::join(changed, ","));
  const std::string restart = fmt::format("{}", fmt::join(waiting, ","));
  log_.write(waiting.empty() ? LogLevel::kInfo : LogLevel::kWarning, "reloaded",
             std::vector<LogField>{{"cause", cause},
                                   {"changed", std::string_view(changes)},
                                   {"needs_restart", std::string_view(restart)}});
}

}  // namespace daybreak::cli
