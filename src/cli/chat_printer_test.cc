// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_printer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace daybreak::cli {
namespace {

using Kind = chat::OutputEvent::Kind;

// A FILE that ends up in a string.
class Memory {
 public:
  Memory() : file_(::open_memstream(&data_, &size_)) {}
  ~Memory() {
    std::fclose(file_);
    std::free(data_);
  }
  std::FILE* file() { return file_; }
  std::string text() {
    std::fflush(file_);
    return {data_, size_};
  }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

chat::OutputEvent event(Kind kind, std::string text) {
  return {.kind = kind, .text = std::move(text), .name = {}, .index = 0};
}

TEST(ChatPrinter, OnATerminalThinkingIsDimAndControlsAreReplaced) {
  Memory out;
  Memory log;
  ChatPrinter printer(out.file(), log.file(), true);
  printer.event(event(Kind::kReasoning, "hm\033[31m"));
  printer.event(event(Kind::kContent, "yes"));
  printer.end("");
  EXPECT_EQ(out.text(), "\033[2mhm\xEF\xBF\xBD[31m\033[0m\n\nyes\n");
  EXPECT_EQ(log.text(), "");
}

TEST(ChatPrinter, IntoAPipeGoesTheAnswerAlone) {
  Memory out;
  Memory log;
  ChatPrinter printer(out.file(), log.file(), false);
  printer.event(event(Kind::kReasoning, "hm"));
  printer.event(event(Kind::kContent, "yes\033"));
  printer.end("stopped");
  EXPECT_EQ(out.text(), "yes\033\n");
  EXPECT_EQ(log.text(), "hm\n[stopped]\n");
}

TEST(ChatPrinter, AnAnswerOfThinkingAloneEndsDimmingAndGivesItsLine) {
  Memory terminal;
  Memory log;
  ChatPrinter dim(terminal.file(), log.file(), true);
  dim.event(event(Kind::kReasoning, "hm"));
  dim.end("");
  EXPECT_EQ(terminal.text(), "\033[2mhm\033[0m\n");
  Memory pipe;
  ChatPrinter plain(pipe.file(), log.file(), false);
  plain.event(event(Kind::kReasoning, "hm"));
  plain.end("");
  EXPECT_EQ(pipe.text(), "\n");
}

TEST(WithoutControls, KeepsTextAndReplacesC0C1AndDelete) {
  EXPECT_EQ(without_controls("a\tb\nc\xC3\xA9"), "a\tb\nc\xC3\xA9");
  EXPECT_EQ(without_controls("\r\x7F\xC2\x9B"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(without_controls("\xC2\xA0"), "\xC2\xA0");
}

}  // namespace
}  // namespace daybreak::cli
