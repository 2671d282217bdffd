// SPDX-License-Identifier: Apache-2.0
#pragma once

// StopMatcher: finds stop strings in text that arrives in pieces. Text that may be the beginning of
// a stop string is held back, so that no part of one is ever delivered.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::api {

// The stop string that ends first wins; of several ending at the same byte, the longest. What is
// delivered does not depend on how the text was cut. Holds back less than the longest stop string.
class StopMatcher {
 public:
  // Empty strings are ignored.
  explicit StopMatcher(std::vector<std::string> stops);

  // Appends to `out` what is certainly not part of a stop string. After a match nothing more.
  void push(std::string_view text, std::string& out);
  // Appends what was held back: no more text can follow it.
  void flush(std::string& out);
  [[nodiscard]] bool matched() const { return !match_.empty(); }
  // The stop string that was found, empty before a match.
  [[nodiscard]] const std::string& match() const { return match_; }

 private:
  [[nodiscard]] std::size_t match_ending_at(std::size_t end) const;
  [[nodiscard]] std::size_t held_suffix() const;

  std::vector<std::string> stops_;
  std::string text_;  // held back, then new
  std::string match_;
};

}  // namespace daybreak::api
