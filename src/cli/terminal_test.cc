// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

namespace daybreak::cli {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(fds_.data()), 0); }
  ~Pipe() {
    ::close(fds_[0]);
    close_writer();
  }
  int reader() const { return fds_[0]; }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(fds_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_writer() {
    if (fds_[1] >= 0) {
      ::close(fds_[1]);
      fds_[1] = -1;
    }
  }

 private:
  std::array<int, 2> fds_{};
};

TEST(LineInput, SplitsLinesAndKeepsAnUnfinishedLastOne) {
  Interrupts interrupts = *Interrupts::install();
  Pipe pipe;
  pipe.write("one\r\n\ntwo");
  pipe.close_writer();
  LineInput input(pipe.reader(), interrupts);
  EXPECT_EQ(input.next()->text, "one");
  EXPECT_EQ(input.next()->text, "");
  EXPECT_EQ(input.next()->text, "two");
  EXPECT_EQ(input.next()->kind, InputLine::Kind::kEnd);
}

TEST(LineInput, AnInterruptEndsTheWaitAndDropsTheStartedLine) {
  Interrupts interrupts = *Interrupts::install();
  Pipe pipe;
  LineInput input(pipe.reader(), interrupts);
  pipe.write("half");
  std::thread signaller([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::kill(::getpid(), SIGINT);
  });
  EXPECT_EQ(input.next()->kind, InputLine::Kind::kInterrupted);
  signaller.join();
  EXPECT_FALSE(interrupts.take());
  pipe.write("whole\n");
  EXPECT_EQ(input.next()->text, "whole");
}

TEST(LineInput, BoundsALine) {
  Interrupts interrupts = *Interrupts::install();
  Pipe pipe;
  LineInput input(pipe.reader(), interrupts);
  std::thread writer([&] {
    pipe.write(std::string(kMaxInputLineBytes, 'x') + "\n");
    pipe.write(std::string(kMaxInputLineBytes + 1, 'y') + "\n");
    pipe.close_writer();
  });
  EXPECT_EQ(input.next()->text.size(), kMaxInputLineBytes);
  const auto beyond = input.next();
  writer.join();  // what is left fits the pipe
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, Errc::kTooLarge);
}

TEST(Interrupts, AreTakenOnce) {
  Interrupts interrupts = *Interrupts::install();
  EXPECT_FALSE(interrupts.take());
  ::raise(SIGINT);
  ::raise(SIGINT);
  EXPECT_TRUE(interrupts.take());
  EXPECT_FALSE(interrupts.take());
}

}  // namespace
}  // namespace daybreak::cli
