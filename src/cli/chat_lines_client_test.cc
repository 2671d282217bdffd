// SPDX-License-Identifier: Apache-2.0
// `daybreak render` and `daybreak parse` as scripts use them: the built program, through pipes.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "testing/paths.h"

namespace daybreak::cli {
namespace {

struct Output {
  std::string text;
  int exit_code = -1;
};

// Runs the program with `lines` as its input and the small test vocabulary as its model.
Output run(const std::string& command, const std::string& lines) {
  const char* binary = std::getenv("DAYBREAK_BINARY");
  if (binary == nullptr) {
    ADD_FAILURE() << "DAYBREAK_BINARY is not set";
    return {};
  }
  const std::string path = ::testing::TempDir() + "/chat_lines_" + std::to_string(::getpid());
  std::ofstream(path) << lines;
  const std::string line = std::string(binary) + " " + command + " " +
                           testing::source_path("testdata/tokenizer").string() + " --jsonl < " +
                           path + " 2>/dev/null";
  Output output;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.text.append(buffer.data(), n);
  }
  const int status = ::pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::remove(path.c_str());
  return output;
}

TEST(ChatLinesClient, RenderAnswersEveryLineAndFailsAtTheEndIfOneFailed) {
  const std::string good =
      R"({"messages":[{"role":"user","content":"a"}],"kwargs":{"thinking":false}})";
  const Output output = run("render", good + "\n{}\n" + good + "\n");
  EXPECT_EQ(output.exit_code, 1);
  const std::size_t first = output.text.find('\n');
  const std::size_t second = output.text.find('\n', first + 1);
  const std::string answer = output.text.substr(0, first);
  EXPECT_TRUE(answer.starts_with(
      R"({"text":"<|open|>message role=\"user\"<|sep|>a<|close|>message<|sep|><|end_of_msg|>)"
      R"(<|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|>","ids":[803,)"))
      << answer;
  EXPECT_EQ(output.text.substr(first + 1, second - first - 1),
            R"({"error":"messages: expected an array, found nothing"})");
  EXPECT_EQ(output.text.substr(second + 1), answer + "\n");
  EXPECT_EQ(run("render", good).exit_code, 0);
}

TEST(ChatLinesClient, ParseReadsWhatTheEngineWrites) {
  const Output output =
      run("parse", R"({"ids":[97,98,804,805,802],"thinking":false,"tools":true})");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_NE(output.text.find(R"("finish_reason":"stop"})"), std::string::npos) << output.text;
  EXPECT_EQ(run("parse", R"({"ids":[1000000]})").exit_code, 1);
}

}  // namespace
}  // namespace daybreak::cli
