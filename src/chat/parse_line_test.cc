// SPDX-License-Identifier: Apache-2.0
#include "chat/parse_line.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "chat/output_shapes.h"

namespace daybreak::chat {
namespace {

class ParseLine : public ::testing::Test {
 protected:
  Result<std::string> parse(const std::string& line) const {
    return parse_line(line, *tokenizer_, markers_);
  }
  // Returns the line for `text`; `rest` follows the ids.
  std::string line(const std::string& text, const std::string& rest = "") const {
    std::string out = "{\"ids\":[";
    for (const TokenId id : shapes::encode(*tokenizer_, text)) {
      out += (out.back() == '[' ? "" : ",") + std::to_string(id);
    }
    return out + "]" + rest + "}";
  }

  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_ = shapes::load_tokenizer();
  MarkerIds markers_ = shapes::load_markers(*tokenizer_);
};

constexpr const char* kOutput =
    "why<|close|>think<|sep|><|open|>response<|sep|>hi<|close|>response<|sep|>"
    "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>"
    "<|open|>argument key=\"a\" type=\"number\"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|>"
    "<|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>";

TEST_F(ParseLine, AnswersWithMessageEventsAndFinishReason) {
  const auto answer = parse(line(kOutput, R"(,"thinking":true,"tools":true)"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(
      *answer,
      R"({"message":{"reasoning_content":"why","content":"hi","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},)"
      R"("events":[{"type":"reasoning","text":"why"},{"type":"content","text":"hi"},{"type":"tool_call","index":0,"name":"f"},)"
      R"({"type":"arguments","index":0,"text":"{\"a\":1}"},{"type":"tool_call_end","index":0}],"finish_reason":"tool_calls"})");
}

TEST_F(ParseLine, ChunksChangeEventsButNotTheMessage) {
  const std::string whole = *parse(line(kOutput));
  const std::string message = whole.substr(0, whole.find("\"events\""));
  for (const std::string chunks : {"[]", "[1]", "[1,1,1,1,1,1,1]", "[3,0,2]", "[1000]"}) {
    const auto answer = parse(line(kOutput, ",\"chunks\":" + chunks));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->substr(0, answer->find("\"events\"")), message) << chunks;
  }
}

TEST_F(ParseLine, ThinkingAndToolsSayWhatThePromptOpened) {
  EXPECT_NE(parse(line("x", R"(,"thinking":false)"))->find(R"("content":"x")"), std::string::npos);
  EXPECT_NE(parse(line("x"))->find(R"("reasoning_content":"x")"), std::string::npos);
  EXPECT_NE(parse(line(kOutput, R"(,"tools":false)"))->find(R"("tool_calls":[]},"events":)"),
            std::string::npos);
  EXPECT_TRUE(parse(line("x"))->ends_with(R"("finish_reason":"length"})"));
}

TEST_F(ParseLine, RefusesNamingTheField) {
  const std::string last = std::to_string(tokenizer_->vocab_size() - 1);
  struct Case {
    std::string line;
    std::string message;
  };
  const std::array cases = {
      Case{"{}", "ids: expected an array of token ids, found nothing"},
      Case{R"({"ids":[-1]})", "ids[0]: expected an integer from 0 to " + last + ", found -1"},
      Case{R"({"ids":[)" + std::to_string(tokenizer_->vocab_size()) + "]}",
           "ids[0]: expected an integer from 0 to " + last + ", found " +
               std::to_string(tokenizer_->vocab_size())},
      Case{R"({"ids":[],"chunks":[1.5]})",
           "chunks[0]: expected an integer from 0 to 2097152, found 1.5"},
      Case{R"({"ids":[],"thinking":1})", "thinking: expected true or false, found 1"},
      Case{R"({"ids":[],"chunk":[]})", "chunk: no such field"},
      Case{"[", "[0]: not valid JSON: expected a value, found the end at byte 1"},
  };
  for (const Case& c : cases) {
    const auto answer = parse(c.line);
    ASSERT_FALSE(answer) << c.line;
    EXPECT_EQ(answer.error().message, c.message);
  }
}

}  // namespace
}  // namespace daybreak::chat
