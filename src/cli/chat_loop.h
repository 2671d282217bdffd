// SPDX-License-Identifier: Apache-2.0
#pragma once

// ChatLoop: reads what the user types, answers it, obeys slash commands, and keeps the session
// file.

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/chat_request.h"
#include "cli/chat_printer.h"
#include "cli/chat_session.h"
#include "cli/terminal.h"

namespace daybreak::cli {

// Returns what "low", "high", "max" or "off" mean. Errors: kInvalidArgument.
Result<chat::Thinking> parse_effort(std::string_view text);

struct ChatLoopOptions {
  int in = 0;
  std::FILE* out = stdout;
  std::FILE* log = stderr;
  bool in_terminal = false;            // a person types: prompts, and errors do not end the loop
  bool out_terminal = false;           // a person reads: see ChatPrinter
  std::filesystem::path session_file;  // empty: none
};

// Not thread-safe.
class ChatLoop {
 public:
  // Both must outlive the loop.
  ChatLoop(ChatSession& session, Interrupts& interrupts, ChatLoopOptions options);

  // Runs until /exit, the end of the input, or two interrupts in a row without an answer between
  // them; then writes the session file. Errors: of the file, of input and output; and, unless a
  // person types, the first failing message.
  Status run();

 private:
  Status load();
  Status loop();
  // Returns whether to go on.
  Result<bool> obey(std::string_view command);
  Status ask(const std::string& text);
  // Leaves the line of a prompt that nothing was typed at.
  void end_prompt_line();
  void note(std::string_view text);

  ChatSession* session_;
  Interrupts* interrupts_;
  ChatLoopOptions options_;
  LineInput input_;
  int interrupts_in_a_row_ = 0;
};

}  // namespace daybreak::cli
