// SPDX-License-Identifier: Apache-2.0
#include "exam/question.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "testing/paths.h"

namespace daybreak::exam {
namespace {

const std::string kRequest = R"({"messages":[{"role":"user","content":"x"}]})";

std::string line(const std::string& id, const std::string& expect,
                 const std::string& request = kRequest) {
  return R"({"id":")" + id + R"(","skill":"chat","request":)" + request + R"(,"expect":)" + expect +
         "}\n";
}

std::string error_of(const std::string& text) {
  const auto parsed = parse_questions(text, "f.jsonl");
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().message;
}

TEST(Questions, OfTheBundledFileAreReadWhole) {
  const auto questions = read_questions(testing::source_path("models/nano/exam.jsonl").string());
  ASSERT_TRUE(questions) << questions.error().message;
  EXPECT_EQ(questions->size(), 820U);
  std::set<std::string> skills;
  std::set<std::string> efforts;
  for (const Question& question : *questions) {
    skills.insert(question.skill);
    efforts.insert(question.effort);
    EXPECT_EQ(question.digest.size(), 16U);
  }
  EXPECT_EQ(skills.size(), 13U);
  EXPECT_EQ(efforts, (std::set<std::string>{"off", "low", "high", "max"}));
}

TEST(Questions, RequestsKeepTheirBytes) {
  const std::string request =
      R"({"messages": [{"role":"user","content":"caf\u00e9"}],  "tools":[{"x":1.50e0}]})";
  const auto questions = parse_questions(line("a", R"({"any":["y"]})", request), "f");
  ASSERT_TRUE(questions) << questions.error().message;
  EXPECT_EQ(questions->front().request, request);
}

TEST(Questions, EffortIsThatOfTheRequest) {
  const auto effort = [](const std::string& more) {
    const auto read =
        parse_questions(line("a", R"({"any":["y"]})", R"({"messages":[{}],)" + more + "}"), "f");
    EXPECT_TRUE(read) << read.error().message;
    return read ? read->front().effort : "";
  };
  EXPECT_EQ(effort(R"("thinking":{"type":"disabled"})"), "off");
  EXPECT_EQ(effort(R"("thinking":{"type":"enabled","effort":"low"})"), "low");
  EXPECT_EQ(effort(R"("thinking":{"type":"enabled"})"), "max");
  EXPECT_EQ(effort(R"("reasoning_effort":"high")"), "high");
  EXPECT_EQ(effort(R"("reasoning_effort":"none")"), "off");
}

TEST(Questions, ErrorsNameLineAndField) {
  const std::string good = line("a", R"({"any":["y"]})");
  EXPECT_EQ(error_of(""), "f.jsonl: expected questions, found an empty file");
  EXPECT_EQ(error_of(good + "{\"id\":\"b\"}\n"),
            "f.jsonl: line 2: skill: expected a value, found none");
  EXPECT_EQ(error_of(good + good),
            "f.jsonl: line 2: id: expected another than those before, found \"a\"");
  EXPECT_TRUE(error_of(good + "\n").starts_with("f.jsonl: line 2: "));
  EXPECT_TRUE(error_of("{\"id\":").starts_with("f.jsonl: line 1: "));
  EXPECT_EQ(error_of(line("a", "{}")),
            "f.jsonl: line 1: expect: expected calls, json or any that an answer can be held to, "
            "found an object");
  EXPECT_TRUE(error_of(line("a", R"({"any":"y"})")).starts_with("f.jsonl: line 1: expect.any: "));
  EXPECT_TRUE(
      error_of(line("a", R"({"any":["y",3]})")).starts_with("f.jsonl: line 1: expect.any[1]: "));
  EXPECT_TRUE(error_of(line("a", R"({"calls":[{"name":"f","arguments":"{}"}]})"))
                  .starts_with("f.jsonl: line 1: expect.calls[0].arguments: "));
  EXPECT_TRUE(error_of(line("a", R"({"json":1e999})"))
                  .starts_with("f.jsonl: line 1: expect.json: expected numbers below 1e308"));
  EXPECT_TRUE(error_of(line("a", R"({"right":1})")).starts_with("f.jsonl: line 1: expect"));
  EXPECT_TRUE(error_of(line("a", R"({"any":["y"]})", R"({"messages":[]})"))
                  .starts_with("f.jsonl: line 1: request.messages: expected at least one"));
  EXPECT_EQ(error_of(line("a", R"({"any":["y"]})", R"({"messages":[{}],"temperature":1})")),
            "f.jsonl: line 1: request.temperature: the exam decides this, expected no such member");
}

TEST(Questions, JsonMayBeExpectedToBeNull) {
  const auto questions = parse_questions(line("a", R"({"json":null})"), "f");
  ASSERT_TRUE(questions) << questions.error().message;
  EXPECT_TRUE(questions->front().expect.json.has_value());
}

TEST(Questions, BoundsHold) {
  const std::string name(kMaxNameBytes, 'n');
  EXPECT_TRUE(parse_questions(line(name, R"({"any":["y"]})"), "f"));
  EXPECT_FALSE(parse_questions(line(name + "n", R"({"any":["y"]})"), "f"));
  const std::string empty = line("a", R"({"any":[""]})");
  const auto padded = [&](std::size_t bytes) {
    return line("a", R"({"any":[")" + std::string(bytes - (empty.size() - 1), 'y') + "\"]}");
  };
  EXPECT_TRUE(parse_questions(padded(kMaxQuestionBytes), "f"));
  const auto too_long = parse_questions(padded(kMaxQuestionBytes + 1), "f");
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error(), (Error{Errc::kTooLarge, "f: line 1: expected at most 1 MiB"}));

  std::string many;
  for (std::size_t i = 0; i < kMaxQuestions; ++i) {
    many += line(std::to_string(i), R"({"any":["y"]})");
  }
  EXPECT_TRUE(parse_questions(many, "f"));
  const auto one_more = parse_questions(many + line("x", R"({"any":["y"]})"), "f");
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak::exam
