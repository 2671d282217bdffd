// SPDX-License-Identifier: Apache-2.0
#pragma once

// Progress: one line on stderr that shows how far something is, if stderr is a terminal and it
// takes longer than a second. Silent otherwise, so that logs and pipes stay clean.

#include <cstddef>
#include <string>

#include "base/clock.h"

namespace daybreak::cli {

class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(std::size_t done, std::size_t total);
  void clear();  // removes the line

 private:
  const std::string what_;
  const bool terminal_;
  const Clock::TimePoint started_ = Clock::steady().now();
  Clock::TimePoint shown_at_{};
  bool shown_ = false;
};

}  // namespace daybreak::cli
