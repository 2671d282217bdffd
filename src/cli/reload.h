// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reloader: changes a running server on SIGHUP and when one of its files changes. Everybody who
// takes part first prepares, which may fail, and only if all have succeeded commits, which cannot:
// a reload that fails changes nothing.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "cli/server_config_sources.h"

namespace daybreak::cli {

// How often the files are looked at: a change is noticed within twice this time.
inline constexpr std::chrono::milliseconds kReloadPoll{500};

// What identifies one state of a file; all zero while there is none.
struct FileStamp {
  std::int64_t modified_ns = 0;
  std::uint64_t size = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Of the file behind links: whoever exchanges a link exchanges the file.
[[nodiscard]] FileStamp stamp_of(const std::string& path);

// One thread at a time.
class Reloader {
 public:
  using Commit = std::function<void()>;
  // Gets ready for `next`. Errors: why the reload cannot be; nothing has changed.
  using Prepare = std::function<Result<Commit>(const ServerConfig& next)>;

  // `log` and `metrics` outlive the reloader. `running`: what the server was started with.
  Reloader(ConfigSources sources, EffectiveConfig running, Log& log, Metrics& metrics);

  // Adds one who takes part; commits run in the order of these calls.
  void on_reload(Prepare prepare) { participants_.push_back(std::move(prepare)); }

  // Reads the configuration again and takes over what can change. `cause` is for the log, which
  // gets one line: the keys that changed, or whose files did, and those that need a restart, or why
  // nothing did.
  void reload(std::string_view cause);
  // Does reload() if a file has changed since it was last read, and not since the last poll(), when
  // it may have been half written: the configuration, the prices, or one of TLS. These are the
  // files that the configuration names now, even if it could not be taken over. Then what on_poll()
  // asked for.
  void poll();
  // Adds what looks for changes of its own at every poll().
  void on_poll(std::function<void()> look) { looks_.push_back(std::move(look)); }

  // What holds now; keys that need a restart keep the value of the start.
  [[nodiscard]] const ServerConfig& running() const { return running_.values; }

 private:
  Result<std::vector<Commit>> prepare(const ServerConfig& next);
  [[nodiscard]] std::vector<FileStamp> stamps() const;
  // Adds the keys whose files are others than those taken over before.
  void add_changed_files(std::vector<std::string_view>& changed) const;

  ConfigSources sources_;
  EffectiveConfig running_;
  Log& log_;
  Metrics& metrics_;
  std::vector<Prepare> participants_;
  std::vector<std::function<void()>> looks_;
  ServerConfig named_;            // of the configuration that was last read: names the files
  std::vector<FileStamp> seen_;   // when they were last read
  std::vector<FileStamp> last_;   // at the last poll()
  std::vector<FileStamp> taken_;  // of the files that hold now
};

}  // namespace daybreak::cli
