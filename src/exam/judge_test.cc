// SPDX-License-Identifier: Apache-2.0
// The judge against testdata/exam/answers.jsonl, to which tools/train/data_judge.py is held too.

#include "exam/judge.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "chat/output_shapes.h"
#include "exam/format_check.h"
#include "testing/paths.h"

namespace daybreak::exam {
namespace {

using nlohmann::json;
namespace shapes = chat::shapes;

// The question a case of the table answers.
Question question_of(const json& row) {
  const json line = {{"id", "q"},
                     {"skill", "s"},
                     {"request",
                      {{"messages", {{{"role", "user"}, {"content", "x"}}}},
                       {"thinking", {{"type", row["thinking"] ? "enabled" : "disabled"}}}}},
                     {"expect", row["expect"]}};
  auto parsed = parse_questions(line.dump(), row["name"].get<std::string>());
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed->front();
}

// What the API would show of generated ids.
Answer answer_of(const tokenizer::Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                 bool thinking) {
  const chat::OutputParserOptions options{.initial = thinking ? chat::Channel::kThink
                                                              : chat::Channel::kResponse};
  const auto parsed = shapes::parse(tokenizer, ids, options, chat::StopCause::kStopToken);
  Answer out;
  out.content = parsed.message.content;
  out.reasoning = parsed.message.reasoning_content;
  for (const auto& call : parsed.message.tool_calls) {
    out.calls.push_back({call.name, call.arguments});
  }
  out.finish_reason = parsed.finish_reason;
  out.completion_tokens = ids.size();
  out.ids = ids;
  return out;
}

TEST(Judge, AgreesWithTheTableThatTheTrainingsJudgeIsHeldTo) {
  const auto tokenizer = shapes::load_tokenizer();
  std::istringstream lines(testing::read_file(testing::source_path("testdata/exam/answers.jsonl")));
  std::size_t cases = 0;
  std::size_t rights = 0;
  for (std::string line; std::getline(lines, line); ++cases) {
    const json row = json::parse(line);
    const auto ids = shapes::encode(*tokenizer, row["text"]);
    const Answer answer = answer_of(*tokenizer, ids, row["thinking"]);
    const Verdict found = judge(question_of(row), answer, tokenizer.get());
    EXPECT_EQ(found.formed, row["formed"]) << row["name"] << ": " << found.fault;
    EXPECT_EQ(found.markers, row["formed"]) << row["name"];
    EXPECT_EQ(found.right, row["right"]) << row["name"] << ": " << found.fault;
    EXPECT_EQ(found.fault.empty(), found.formed);
    rights += found.right ? 1 : 0;
  }
  EXPECT_GE(cases, 60U);
  EXPECT_GE(rights, 15U);
  EXPECT_LE(rights, cases - 30);
}

Answer said(const std::string& content) {
  Answer answer;
  answer.content = content;
  answer.finish_reason = "stop";
  return answer;
}

TEST(Judge, WithoutIdsTheShapeOfTheAnswerCounts) {
  const Question question = question_of(
      json{{"name", "n"}, {"thinking", false}, {"expect", {{"any", {"yes", "<|sep|>"}}}}});
  EXPECT_TRUE(judge(question, said("yes"), nullptr).right);
  EXPECT_EQ(judge(question, said("yes"), nullptr).markers, std::nullopt);
  EXPECT_FALSE(judge(question, said("no"), nullptr).right);
  EXPECT_TRUE(judge(question, said("no"), nullptr).formed);

  const Verdict leaked = judge(question, said("<|sep|>"), nullptr);
  EXPECT_FALSE(leaked.formed || leaked.right);
  EXPECT_EQ(leaked.fault, "a marker in the text: <|sep|>");
  Answer cut = said("yes");
  cut.finish_reason = "length";
  EXPECT_EQ(judge(question, cut, nullptr).fault,
            "finish_reason: expected stop or tool_calls, found length");
  Answer thought = said("yes");
  thought.reasoning = "so <|close|>think";
  EXPECT_FALSE(judge(question, thought, nullptr).formed);
}

TEST(Judge, ArgumentsThatAreNoObjectAreBroken) {
  const Question question =
      question_of(json{{"name", "n"},
                       {"thinking", false},
                       {"expect", {{"calls", {{{"name", "go"}, {"arguments", json::object()}}}}}}});
  Answer answer = said("");
  answer.finish_reason = "tool_calls";
  for (const auto& [arguments, right] :
       {std::pair("{}", true), std::pair("{\"a\":1}", false), std::pair("[]", false),
        std::pair("{", false), std::pair("", false)}) {
    answer.calls = {{"go", arguments}};
    const Verdict found = judge(question, answer, nullptr);
    EXPECT_EQ(found.right, right) << arguments;
    EXPECT_EQ(found.formed, std::string(arguments).starts_with("{\"a") || right) << arguments;
  }
  answer.calls = {{"", "{}"}};
  EXPECT_FALSE(judge(question, answer, nullptr).formed);
}

// The API tells ids up to the last one with text only, and how many there were.
TEST(FormatCheck, TheEndThatIsNotToldMustHaveTheRightLength) {
  const auto tokenizer = shapes::load_tokenizer();
  const std::string text =
      "I call.<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|><|open|>tools"
      "<|sep|><|open|>call tool=\"go\" index=\"1\"<|sep|><|open|>argument key=\"a\" "
      "type=\"number\"<|sep|>12<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
      "<|close|>message<|sep|><|end_of_msg|>";
  const auto ids = shapes::encode(*tokenizer, text);
  const std::string_view cuts[] = {"I call.", "tools<|sep|>", "index=\"1\"<|sep|>",
                                   "type=\"number\"<|sep|>12", "<|close|>call<|sep|>"};
  for (const std::string_view cut : cuts) {
    const auto told =
        shapes::encode(*tokenizer, text.substr(0, text.find(cut) + cut.size())).size();
    const std::span<const TokenId> first = std::span(ids).first(told);
    const std::size_t shortest = format_fault(*tokenizer, first, 0, Thinking::kOn).empty() ? 0 : 1;
    EXPECT_EQ(shortest, 1U);
    // Where the shortest end is the one that came, its length fits, and no other does.
    if (cut == "type=\"number\"<|sep|>12" || cut == "<|close|>call<|sep|>") {
      EXPECT_EQ(format_fault(*tokenizer, first, ids.size(), Thinking::kOn), "") << cut;
      EXPECT_NE(format_fault(*tokenizer, first, ids.size() - 1, Thinking::kOn), "") << cut;
    } else {
      EXPECT_NE(format_fault(*tokenizer, first, ids.size(), Thinking::kOn), "") << cut;
    }
  }
  EXPECT_EQ(format_fault(*tokenizer, ids, ids.size(), Thinking::kOn), "");
  EXPECT_NE(format_fault(*tokenizer, ids, ids.size(), Thinking::kOff), "");
}

TEST(FormatCheck, IdsOutsideOfTheVocabularyAreNoText) {
  const auto tokenizer = shapes::load_tokenizer();
  const TokenId outside[] = {static_cast<TokenId>(tokenizer->vocab_size())};
  EXPECT_NE(format_fault(*tokenizer, outside, 8, Thinking::kOff).find("expected one below"),
            std::string::npos);
}

}  // namespace
}  // namespace daybreak::exam
