// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_printer.h"

namespace daybreak::cli {

std::string without_controls(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      clean += kReplacement;
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      clean += kReplacement;
      ++i;
    } else {
      clean += text[i];
    }
  }
  return clean;
}

void ChatPrinter::event(const chat::OutputEvent& event) {
  using Kind = chat::OutputEvent::Kind;
  if (event.kind != Kind::kReasoning && event.kind != Kind::kContent) {
    return;  // no tools are declared, so there are no calls
  }
  switch_to(event.kind == Kind::kReasoning ? Mode::kThinking : Mode::kAnswer);
  std::FILE* file = terminal_ || mode_ == Mode::kAnswer ? out_ : log_;
  write(file, terminal_ ? without_controls(event.text) : event.text);
}

void ChatPrinter::end(std::string_view note) {
  // Into a pipe every turn gives a line, also one whose answer is empty.
  const bool open_line = mode_ == Mode::kAnswer || !terminal_;
  switch_to(Mode::kNothing);
  if (open_line) {
    write(out_, "\n");
  }
  if (!note.empty()) {
    write(log_, "[" + std::string(note) + "]\n");
  }
}

void ChatPrinter::switch_to(Mode mode) {
  if (mode == mode_) {
    return;
  }
  if (mode_ == Mode::kThinking && terminal_) {
    write(out_, mode == Mode::kAnswer ? "\033[0m\n\n" : "\033[0m\n");
  } else if (mode_ == Mode::kThinking) {
    write(log_, "\n");
  }
  if (mode == Mode::kThinking && terminal_) {
    write(out_, mode_ == Mode::kAnswer ? "\n\033[2m" : "\033[2m");
  }
  mode_ = mode;
}

void ChatPrinter::write(std::FILE* file, std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  good_ = good_ && (written || file != out_);
}

}  // namespace daybreak::cli
