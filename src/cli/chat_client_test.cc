// SPDX-License-Identifier: Apache-2.0
// The chat and generate commands as a user runs them: the built program, on a pseudo-terminal or
// through pipes, with the bundled model.

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "testing/paths.h"

namespace daybreak::cli {
namespace {

// The program on a terminal of its own.
class OnTerminal {
 public:
  explicit OnTerminal(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::getenv("DAYBREAK_BINARY"));
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    pid_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }
  ~OnTerminal() {
    ::kill(pid_, SIGKILL);
    ::close(fd_);
  }

  void type(const std::string& text) const {
    EXPECT_EQ(::write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // Reads until `text` has appeared after what earlier calls consumed; false after a minute.
  bool wait_for(const std::string& text) {
    while (true) {
      if (const std::size_t at = seen_.find(text); at != std::string::npos) {
        seen_.erase(0, at + text.size());
        return true;
      }
      pollfd wait{.fd = fd_, .events = POLLIN, .revents = 0};
      std::array<char, 4096> bytes;
      ssize_t count = 0;
      if (::poll(&wait, 1, 60'000) <= 0 || (count = ::read(fd_, bytes.data(), bytes.size())) <= 0) {
        ADD_FAILURE() << "waited for '" << text << "', saw: " << seen_;
        return false;
      }
      seen_.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

  int exit_code() const {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  int fd_ = -1;
  pid_t pid_ = -1;
  std::string seen_;
};

struct Output {
  std::string text;
  int exit_code = -1;
};

// Runs a shell line in which $D is the program.
Output shell(const std::string& line) {
  const std::string command = "D='" + std::string(std::getenv("DAYBREAK_BINARY")) + "'; " + line;
  Output output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> bytes;
  while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
    output.text.append(bytes.data(), count);
  }
  const int status = ::pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

#define DAYBREAK_BINARY_OR_SKIP()                             \
  if (std::getenv("DAYBREAK_BINARY") == nullptr) {            \
    GTEST_SKIP() << "DAYBREAK_BINARY names no built program"; \
  }                                                           \
  static_assert(true)

TEST(ChatClient, ControlCStopsTheAnswerOnlyAndTheSecondOneLeaves) {
  DAYBREAK_BINARY_OR_SKIP();
  OnTerminal chat({"chat", "--seed", "1", "--max-tokens", "8000", "--threads", "1"});
  ASSERT_TRUE(chat.wait_for("> "));
  chat.type("Hello\n");
  ASSERT_TRUE(chat.wait_for("\033[2m"));  // thinking is dim
  chat.type("\003");
  ASSERT_TRUE(chat.wait_for("\n> "));  // stopped or just finished: either way a new prompt
  chat.type("/effort off\n");
  ASSERT_TRUE(chat.wait_for("[effort off]"));
  chat.type("Hello\n");
  ASSERT_TRUE(chat.wait_for("daybreak serve"));
  ASSERT_TRUE(chat.wait_for("> "));
  chat.type("\003");
  ASSERT_TRUE(chat.wait_for("once more leaves"));
  ASSERT_TRUE(chat.wait_for("> "));
  chat.type("\003");
  EXPECT_EQ(chat.exit_code(), 0);
}

TEST(ChatClient, ThroughAPipeEachLineIsAMessageAndEachAnswerALine) {
  DAYBREAK_BINARY_OR_SKIP();
  const Output output =
      shell("printf 'Hello\\n/effort off\\nAgain\\n' | \"$D\" chat --seed 1 2>/dev/null");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(std::count(output.text.begin(), output.text.end(), '\n'), 2);
  EXPECT_EQ(output.text.find('\033'), std::string::npos);
  const Output wrong = shell("echo /nonsense | \"$D\" chat 2>&1");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.text.find("/nonsense"), std::string::npos);
}

TEST(ChatClient, ASessionFileContinuesTheConversation) {
  DAYBREAK_BINARY_OR_SKIP();
  const std::string file =
      (std::filesystem::temp_directory_path() / ("daybreak_chat_" + std::to_string(::getpid())))
          .string();
  const std::string chat = "\"$D\" chat --seed 1 --session " + file;
  const Output whole = shell("printf 'Hello\\nAgain\\n' | \"$D\" chat --seed 1 2>/dev/null");
  const Output first = shell("echo Hello | " + chat + " 2>/dev/null");
  const Output second = shell("echo Again | " + chat + " 2>/dev/null");
  EXPECT_EQ(first.text + second.text, whole.text);
  const Output note = shell("printf '' | " + chat + " 2>&1");
  EXPECT_NE(note.text.find("session restored: 4 messages"), std::string::npos) << note.text;
  const Output damaged = shell("echo x >> " + file + "; echo Hi | " + chat + " 2>&1");
  EXPECT_EQ(damaged.exit_code, 1);
  std::filesystem::remove(file);
}

TEST(ChatClient, ASessionThatCannotBeKeptIsRefusedBeforeAnyAnswer) {
  DAYBREAK_BINARY_OR_SKIP();
  const Output output = shell("echo Hi | \"$D\" chat --session /nonexistent/s 2>&1");
  EXPECT_NE(output.exit_code, 0);
  EXPECT_EQ(output.text.rfind("error: session /nonexistent/s", 0), 0U) << output.text;
}

TEST(ChatClient, ASystemMessageThatARestoredSessionDoesNotTakeIsToldOf) {
  DAYBREAK_BINARY_OR_SKIP();
  const std::string file =
      (std::filesystem::temp_directory_path() / ("daybreak_system_" + std::to_string(::getpid())))
          .string();
  const std::string chat = "\"$D\" chat --session " + file + " --system ";
  EXPECT_EQ(shell("echo /quit | " + chat + "one 2>&1").exit_code, 0);
  EXPECT_EQ(shell("echo /quit | " + chat + "one 2>&1").text.find("--system"), std::string::npos);
  const Output other = shell("echo /quit | " + chat + "two 2>&1");
  EXPECT_NE(other.text.find("--system is not used"), std::string::npos) << other.text;
  std::filesystem::remove(file);
}

TEST(GenerateClient, WritesTheContractsJsonAndTheLogitsFile) {
  DAYBREAK_BINARY_OR_SKIP();
  const std::string model = testing::source_path("testdata/checkpoints/k3-all-on").string();
  const std::string file =
      (std::filesystem::temp_directory_path() / ("daybreak_logits_" + std::to_string(::getpid())))
          .string();
  const Output output =
      shell("\"$D\" generate " + model + " --ids 1,2,3 --max-tokens 4 --json --logits-out " + file +
            " 2>/dev/null");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.text.rfind(R"({"prompt_ids":[1,2,3],"ids":[)", 0), 0U) << output.text;
  EXPECT_NE(output.text.find(R"("text":null,"finish_reason":"length"})"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(file), 96 * sizeof(float));
  std::filesystem::remove(file);
  for (const char* threads : {"1", "2", "3"}) {
    for (const char* isa : {"scalar", ""}) {
      const std::string choice = *isa == '\0' ? "" : std::string(" --isa ") + isa;
      EXPECT_EQ(shell("\"$D\" generate " + model + " --ids 1,2,3 --max-tokens 4 --json --threads " +
                      threads + choice + " 2>/dev/null")
                    .text,
                output.text);
    }
  }
}

TEST(InspectClient, AFileThatIsNoConfigIsToldWhatToGive) {
  DAYBREAK_BINARY_OR_SKIP();
  const std::string file = testing::source_path("testdata/tokenizer/tiktoken.model").string();
  const Output output = shell("\"$D\" inspect " + file + " 2>&1");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_NE(output.text.find("give the snapshot's directory or its config.json"), std::string::npos)
      << output.text;
}

TEST(GenerateClient, BadInputNamesItselfAndExitsWithTwo) {
  DAYBREAK_BINARY_OR_SKIP();
  const std::pair<const char*, const char*> cases[] = {
      {"--ids 1,x", "--ids: item 1: expected a token id, found 'x'"},
      {"--ids 1,999999", "prompt[1]: expected a token id below"},
      {"--ids ''", "prompt: expected at least one token"},
      {"--ids 1 --numerics fast", "--numerics"},
      {"--ids 1 --isa none", "--isa"},
      {"--ids 1 --temperature 3", "temperature: expected a number in [0, 2], found 3"},
      {"--ids 1 --logprobs 2", "--logprobs"},
      {"--ids 1 --max-tokens 99999999", "max_tokens: expected at most"},
      {"--ids 1 --max-tokens 99999999999", "max_tokens: expected at most"},
      {"--ids 1 --max-tokens -1", "--max-tokens: expected an integer of at least 0"},
      {"--prompt-file /nonexistent", "/nonexistent"},
      {"--ids 1 --prompt x", "prompt"},
      {"/nonexistent --ids 1", "/nonexistent"},
  };
  for (const auto& [arguments, message] : cases) {
    const Output output = shell(std::string("\"$D\" generate ") + arguments + " 2>&1");
    EXPECT_EQ(output.exit_code, 2) << arguments;
    EXPECT_NE(output.text.find(message), std::string::npos) << arguments << ": " << output.text;
  }
}

}  // namespace
}  // namespace daybreak::cli
