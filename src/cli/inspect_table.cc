// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_table.h"

#include <algorithm>
#include <array>

namespace daybreak::cli {

std::string paint(std::string_view text, Colour colour, bool enabled) {
  constexpr std::array<std::string_view, 6> kCodes = {"", "1", "2", "32", "33", "31"};
  if (!enabled || colour == Colour::kNone) {
    return std::string(text);
  }
  return "\x1b[" + std::string(kCodes[static_cast<std::size_t>(colour)]) + "m" + std::string(text) +
         "\x1b[0m";
}

std::string Table::text() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], cells[i].size());
    }
  }
  std::string out;
  for (const auto& cells : rows_) {
    std::string line = "  ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - cells[i].size(), ' ');
      line += columns_[i] == Align::kRight ? padding + cells[i] : cells[i] + padding;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace daybreak::cli
