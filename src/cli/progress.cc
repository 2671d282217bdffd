// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace daybreak::cli {

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::size_t done, std::size_t total) {
  constexpr double kQuietSeconds = 1.0;
  constexpr double kBetweenSeconds = 0.1;
  const Clock::TimePoint now = Clock::steady().now();
  if (!terminal_ || total == 0 || seconds_between(started_, now) < kQuietSeconds ||
      (shown_ && seconds_between(shown_at_, now) < kBetweenSeconds)) {
    return;
  }
  shown_ = true;
  shown_at_ = now;
  fmt::print(stderr, "\r\033[K{} {} / {} ({} %)", what_, done, total, done * 100 / total);
  std::fflush(stderr);
}

void Progress::clear() {
  if (shown_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    shown_ = false;
  }
}

}  // namespace daybreak::cli
