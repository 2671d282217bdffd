// SPDX-License-Identifier: Apache-2.0
#pragma once

// ChatPrinter: how an answer looks. On a terminal thinking is dim and precedes the answer; into a
// pipe the answer alone goes to stdout, and thinking to stderr.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "chat/output_event.h"

namespace daybreak::cli {

// Replaces control characters other than line feed and tab, so that what a model writes cannot
// steer the terminal. `text` is UTF-8; C1 controls (U+0080 to U+009F) count.
[[nodiscard]] std::string without_controls(std::string_view text);

class ChatPrinter {
 public:
  // `terminal`: whether `out` is one. Both must stay open.
  ChatPrinter(std::FILE* out, std::FILE* log, bool terminal)
      : out_(out), log_(log), terminal_(terminal) {}

  void event(const chat::OutputEvent& event);
  // Ends the answer's last line; `note` (may be empty) is shown in brackets on `log`.
  void end(std::string_view note);
  [[nodiscard]] bool good() const { return good_; }  // false when `out` took no more

 private:
  enum class Mode : std::uint8_t { kNothing, kThinking, kAnswer };

  void switch_to(Mode mode);
  void write(std::FILE* file, std::string_view text);

  std::FILE* out_;
  std::FILE* log_;
  bool terminal_;
  Mode mode_ = Mode::kNothing;
  bool good_ = true;
};

}  // namespace daybreak::cli
