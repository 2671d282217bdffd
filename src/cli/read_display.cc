// SPDX-License-Identifier: Apache-2.0
#include "cli/read_display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace daybreak::cli {
namespace {

std::size_t terminal_columns() {
  winsize size = {};
  constexpr std::size_t kDefault = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefault;
}

void write_to_stderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

ReadDisplay::ReadDisplay()
    : ReadDisplay(::isatty(STDERR_FILENO) == 1, terminal_columns(), write_to_stderr,
                  Clock::steady()) {}

ReadDisplay::ReadDisplay(bool terminal, std::size_t columns, ProgressBar::Sink sink,
                         const Clock& clock)
    : terminal_(terminal), columns_(columns), sink_(std::move(sink)), clock_(&clock) {}

bool ReadDisplay::operator()(const model::ReadProgress& progress) {
  if (!bar_) {
    bar_ = std::make_unique<ProgressBar>(
        ProgressOptions{.total = progress.total_bytes, .terminal = terminal_, .columns = columns_},
        sink_, *clock_);
  }
  bar_->update(progress.done_bytes,
               fmt::format("{}/{} {}", progress.shard + 1, progress.shards, progress.file));
  return true;
}

}  // namespace daybreak::cli
