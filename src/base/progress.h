// SPDX-License-Identifier: Apache-2.0
#pragma once

// A one-line progress bar for work that may take longer than a second: nothing is written before
// that, and nothing at all unless a person watches. The line is erased when the work ends.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace daybreak {

struct ProgressOptions {
  std::uint64_t total = 0;   // bytes; 0: unknown, only bytes and rate are shown
  bool terminal = false;     // false: silent
  std::size_t columns = 80;  // width of the line, at least 40
};

// Not thread-safe. What is done may only grow.
class ProgressBar {
 public:
  static constexpr double kQuietSeconds = 1.0;    // shorter work shows nothing
  static constexpr double kRefreshSeconds = 0.1;  // between two drawings

  // Takes what is to be written to the terminal; the command line gives it stderr.
  using Sink = std::function<void(std::string_view)>;

  // REQUIRES: `clock` outlives this.
  ProgressBar(const ProgressOptions& options, Sink sink, const Clock& clock = Clock::steady());
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  // Reports `done` bytes; `what` names the part being worked on and is shortened to fit.
  void update(std::uint64_t done, std::string_view what);

  // Erases the line. Called by the destructor as well.
  void finish();

 private:
  [[nodiscard]] std::string line(std::uint64_t done, std::string_view what, double seconds) const;

  ProgressOptions options_;
  Sink sink_;
  const Clock& clock_;
  Clock::TimePoint start_;
  std::optional<Clock::TimePoint> drawn_;
};

}  // namespace daybreak
