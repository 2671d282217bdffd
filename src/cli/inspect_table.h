// SPDX-License-Identifier: Apache-2.0
#pragma once

// Aligned text for a terminal: columns, headings and, where a person watches, colour.

#include <string>
#include <string_view>
#include <vector>

namespace daybreak::cli {

enum class Colour { kNone, kBold, kDim, kGreen, kYellow, kRed };

// Returns `text` wrapped in escape codes if `enabled`.
[[nodiscard]] std::string paint(std::string_view text, Colour colour, bool enabled);

// Rows of cells; columns are as wide as their widest cell.
class Table {
 public:
  enum class Align { kLeft, kRight };

  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // REQUIRES: as many cells as columns.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Returns all rows, each indented by two spaces and without trailing ones.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace daybreak::cli
