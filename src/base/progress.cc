// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <algorithm>
#include <utility>

#include "base/human_units.h"

namespace daybreak {
namespace {

constexpr std::size_t kMinColumns = 40;
constexpr std::size_t kBarCells = 16;
constexpr std::string_view kEraseLine = "\r\x1b[K";

std::string bar(double fraction) {
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(kBarCells));
  return "[" + std::string(filled, '#') + std::string(kBarCells - filled, '.') + "]";
}

// Keeps the end, where file names differ.
std::string shortened(std::string_view text, std::size_t columns) {
  if (text.size() <= columns) {
    return std::string(text);
  }
  return columns < 3 ? std::string() : ".." + std::string(text.substr(text.size() - columns + 2));
}

}  // namespace

ProgressBar::ProgressBar(const ProgressOptions& options, Sink sink, const Clock& clock)
    : options_(options), sink_(std::move(sink)), clock_(clock), start_(clock.now()) {
  options_.columns = std::max(options_.columns, kMinColumns);
}

ProgressBar::~ProgressBar() { finish(); }

void ProgressBar::update(std::uint64_t done, std::string_view what) {
  if (!options_.terminal) {
    return;
  }
  const auto now = clock_.now();
  const double seconds = seconds_between(start_, now);
  if (seconds < kQuietSeconds || (drawn_ && seconds_between(*drawn_, now) < kRefreshSeconds)) {
    return;
  }
  drawn_ = now;
  sink_(std::string(kEraseLine) + line(done, what, seconds));
}

void ProgressBar::finish() {
  if (drawn_) {
    sink_(kEraseLine);
    drawn_.reset();
  }
}

std::string ProgressBar::line(std::uint64_t done, std::string_view what, double seconds) const {
  const double rate = static_cast<double>(done) / seconds;
  std::string text;
  if (options_.total > 0) {
    const double fraction =
        std::min(1.0, static_cast<double>(done) / static_cast<double>(options_.total));
    text = bar(fraction) + " " + std::to_string(static_cast<int>(fraction * 100)) + "%  ";
  }
  text += human_bytes(done) + "  " + human_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  if (options_.total > done && rate >= 1) {
    const double left = static_cast<double>(options_.total - done) / rate;
    text += "  " + human_duration(static_cast<std::uint64_t>(left)) + " left";
  }
  // One column stays free: writing the last one wraps on some terminals.
  const std::size_t room = options_.columns - 1;
  if (text.size() + 2 < room) {
    text += "  " + shortened(what, room - text.size() - 2);
  }
  return text.substr(0, room);
}

}  // namespace daybreak
