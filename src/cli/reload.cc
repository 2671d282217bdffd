// SPDX-License-Identifier: Apache-2.0
#include "cli/reload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace daybreak::cli {
namespace {

// Files that are read again without the configuration having changed, by the key that names them.
struct WatchedFile {
  std::string_view name;
  std::string ServerConfig::* path;
};
constexpr WatchedFile kWatchedFiles[] = {{"tls_certificate", &ServerConfig::tls_certificate},
                                         {"tls_key", &ServerConfig::tls_key},
                                         {"tls_client_ca", &ServerConfig::tls_client_ca},
                                         {"prices", &ServerConfig::prices}};

}  // namespace

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
      named_(running_.values),
      seen_(stamps()),
      last_(seen_),
      taken_(seen_) {}

std::vector<FileStamp> Reloader::stamps() const {
  std::vector<FileStamp> out = {stamp_of(sources_.file)};
  for (const WatchedFile& file : kWatchedFiles) {
    out.push_back(stamp_of(named_.*file.path));
  }
  return out;
}

void Reloader::add_changed_files(std::vector<std::string_view>& changed) const {
  for (std::size_t i = 0; i < std::size(kWatchedFiles); ++i) {
    const std::string_view name = kWatchedFiles[i].name;
    if (seen_[i + 1] != taken_[i + 1] && std::ranges::find(changed, name) == changed.end()) {
      changed.push_back(name);
    }
  }
}

void Reloader::poll() {
  const std::vector<FileStamp> now = stamps();
  const std::vector<FileStamp> before = std::exchange(last_, now);
  if (now != seen_ && now == before) {
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
  // Before anything is read: what changes after this is seen by a later poll().
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
    named_ = next.values;
    const FileStamp configuration = seen_.front();
    seen_ = stamps();
    seen_.front() = configuration;
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
  running_ = std::move(next);
  add_changed_files(changed);
  taken_ = seen_;
  const std::string changes = fmt::format("{}", fmt::join(changed, ","));
  const std::string restart = fmt::format("{}", fmt::join(waiting, ","));
  log_.write(waiting.empty() ? LogLevel::kInfo : LogLevel::kWarning, "reloaded",
             std::vector<LogField>{{"cause", cause},
                                   {"changed", std::string_view(changes)},
                                   {"needs_restart", std::string_view(restart)}});
}

}  // namespace daybreak::cli
