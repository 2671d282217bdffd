// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_loop.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/progress.h"

namespace daybreak::cli {
namespace {

constexpr std::string_view kHelp =
    "/effort low|high|max|off  how much the model thinks\n"
    "/reset                    forget the conversation\n"
    "/exit, /quit              leave (also: end of input, Ctrl-C twice)\n"
    "/help                     this text\n"
    "//text                    a message that begins with a slash\n"
    "Ctrl-C stops an answer.\n";

}  // namespace

Result<chat::Thinking> parse_effort(std::string_view text) {
  if (text == "low") {
    return chat::Thinking{.enabled = true, .effort = chat::Effort::kLow};
  }
  if (text == "high") {
    return chat::Thinking{.enabled = true, .effort = chat::Effort::kHigh};
  }
  if (text == "max") {
    return chat::Thinking{.enabled = true, .effort = chat::Effort::kMax};
  }
  if (text == "off") {
    return chat::Thinking{.enabled = false, .effort = {}};
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("effort: expected low, high, max or off, found '{}'", text)};
}

ChatLoop::ChatLoop(ChatSession& session, Interrupts& interrupts, ChatLoopOptions options)
    : session_(&session),
      interrupts_(&interrupts),
      options_(std::move(options)),
      input_(options_.in, interrupts) {}

void ChatLoop::note(std::string_view text) {
  fmt::print(options_.log, "[{}]\n", without_controls(text));
  std::fflush(options_.log);
}

Status ChatLoop::run() {
  if (!options_.session_file.empty()) {
    DAYBREAK_CHECK_OK(load());
  }
  if (options_.in_terminal) {
    note("/help lists commands, Ctrl-C stops an answer");
  }
  Status status = loop();
  if (!options_.session_file.empty()) {
    // Also after an error: what was said so far is not to be lost.
    DAYBREAK_CHECK_OK(
        engine::write_sequence_file(kSessionFile, options_.session_file, session_->save()));
  }
  return status;
}

Status ChatLoop::load() {
  const auto saved = engine::read_sequence_file(kSessionFile, options_.session_file);
  if (!saved) {
    return saved.error().code == Errc::kNotFound ? ok() : saved.error();
  }
  DAYBREAK_TRY(const bool state_fits, session_->restore(*saved));
  if (state_fits) {
    note(fmt::format("session restored: {} messages, {} tokens of state", session_->messages(),
                     saved->ids.size()));
  } else {
    note("the session's state was made by another model: its conversation will be read again");
  }
  if (session_->ignores_system()) {
    note("--system is not used: the session has its own system message; /reset takes the new one");
  }
  return ok();
}

void ChatLoop::end_prompt_line() {
  if (options_.in_terminal) {
    fmt::print(options_.out, "\n");
    std::fflush(options_.out);
  }
}

Status ChatLoop::loop() {
  while (true) {
    if (options_.in_terminal) {
      fmt::print(options_.out, "> ");
      std::fflush(options_.out);
    }
    DAYBREAK_TRY(const InputLine line, input_.next());
    if (line.kind == InputLine::Kind::kEnd) {
      end_prompt_line();
      return ok();
    }
    if (line.kind == InputLine::Kind::kInterrupted) {
      end_prompt_line();
      if (++interrupts_in_a_row_ >= 2) {
        return ok();
      }
      note("Ctrl-C once more leaves");
      continue;
    }
    interrupts_in_a_row_ = 0;
    if (line.text.empty()) {
      continue;
    }
    const bool slash = line.text.starts_with('/') && !line.text.starts_with("//");
    Result<bool> go_on = true;
    if (slash) {
      go_on = obey(line.text);
    } else if (Status status = ask(line.text.starts_with("//") ? line.text.substr(1) : line.text);
               !status) {
      go_on = std::move(status).error();
    }
    if (!go_on && (!options_.in_terminal || go_on.error().code == Errc::kIo)) {
      return std::move(go_on).error();
    }
    if (!go_on) {
      note(go_on.error().message);
    } else if (!*go_on) {
      return ok();
    }
  }
}

Result<bool> ChatLoop::obey(std::string_view command) {
  if (command == "/exit" || command == "/quit") {
    return false;
  }
  if (command == "/help") {
    fmt::print(options_.log, "{}", kHelp);
    std::fflush(options_.log);
    return true;
  }
  if (command == "/reset") {
    session_->reset();
    note("conversation forgotten");
    return true;
  }
  constexpr std::string_view kEffort = "/effort ";
  if (command.starts_with(kEffort)) {
    DAYBREAK_TRY(const chat::Thinking thinking, parse_effort(command.substr(kEffort.size())));
    session_->set_thinking(thinking);
    note(fmt::format("effort {}", command.substr(kEffort.size())));
    return true;
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("command: expected one that /help lists, found '{}'", command)};
}

Status ChatLoop::ask(const std::string& text) {
  // An interrupt that came before the question does not stop its answer.
  static_cast<void>(interrupts_->take());
  ChatPrinter printer(options_.out, options_.log, options_.out_terminal);
  Progress progress("reading");
  TurnCallbacks callbacks;
  callbacks.on_prompt = [&](std::size_t done, std::size_t total) {
    progress.show(done, total);
    if (done == total) {
      progress.clear();
    }
  };
  callbacks.on_event = [&](const chat::OutputEvent& event) { printer.event(event); };
  callbacks.interrupted = [&] {
    if (interrupts_->take()) {
      ++interrupts_in_a_row_;
      return true;
    }
    return !printer.good();
  };
  DAYBREAK_TRY(const Turn turn, session_->ask(text, callbacks));
  std::string_view why;
  if (turn.finish == engine::FinishReason::kLength) {
    why = "cut at the length limit";
  } else if (!turn.answered) {
    why = "stopped before the answer began; the message was taken back";
  } else if (turn.finish == engine::FinishReason::kCancelled) {
    why = "stopped";
  }
  printer.end(why);
  if (!printer.good()) {
    return Error{Errc::kIo, fmt::format("standard output: {}", std::strerror(errno))};
  }
  return ok();
}

}  // namespace daybreak::cli
