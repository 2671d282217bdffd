// SPDX-License-Identifier: Apache-2.0
// From answers to what is printed: tally, minima, saved answers, comparison, text and JSON.

#include "exam/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace daybreak::exam {
namespace {

Question question(const std::string& id, const std::string& skill, const std::string& effort) {
  auto parsed = parse_questions(
      R"({"id":")" + id + R"(","skill":")" + skill +
          R"(","request":{"messages":[{"role":"user","content":"What?"}],"reasoning_effort":")" +
          effort + R"("},"expect":{"any":["yes"]}})",
      "f");
  EXPECT_TRUE(parsed);
  return parsed->front();
}

Answer said(const std::string& content, std::size_t thinking = 0) {
  Answer out;
  out.content = content;
  out.reasoning = "hm";
  out.finish_reason = "stop";
  out.completion_tokens = thinking + 11;
  out.reasoning_tokens = thinking;
  out.first_seconds = 0.5;
  out.seconds = 2.5;
  return out;
}

// Two skills; one wrong answer, one broken, one that is none.
struct Exam {
  std::vector<Question> questions{question("a-0", "a", "low"), question("a-1", "a", "max"),
                                  question("a-2", "a", "max"), question("b-0", "b", "none"),
                                  question("b-1", "b", "max")};
  std::vector<Result<Answer>> answers{said("yes", 4), said("no", 10), said("yes", 20), said("yes"),
                                      Error{Errc::kUnavailable, "HTTP 400: no"}};
  std::vector<Verdict> verdicts;

  Exam() {
    answers[2]->finish_reason = "length";
    answers[3]->calls = {};
    verdicts = judge_all(questions, answers, nullptr);
  }
};

TEST(Tally, CountsSkillBySkill) {
  const Exam exam;
  const Tally found = tally(exam.questions, exam.answers, exam.verdicts);
  ASSERT_EQ(found.skills.size(), 2U);
  const SkillTally& a = found.skills[0];
  EXPECT_EQ(a.skill, "a");
  EXPECT_EQ(a.asked, 3U);
  EXPECT_EQ(a.answered, 3U);
  EXPECT_EQ(a.right, 1U);
  EXPECT_EQ(a.formed, 2U);
  EXPECT_EQ(a.ids_known, 0U);
  EXPECT_EQ(found.skills[1].answered, 1U);
  EXPECT_EQ(found.skills[1].first_error, "HTTP 400: no");
  EXPECT_EQ(found.total.asked, 5U);
  EXPECT_EQ(found.total.right, 2U);
  ASSERT_EQ(found.efforts.size(), 2U);  // thinking that was off has no length
  EXPECT_EQ(found.efforts[0].effort, "low");
  EXPECT_EQ(found.efforts[0].median_tokens, 4.0);
  EXPECT_EQ(found.efforts[1].effort, "max");
  EXPECT_EQ(found.efforts[1].median_tokens, 15.0);
  EXPECT_EQ(found.completion_tokens, 15U + 21 + 31 + 11);
  EXPECT_EQ(found.first_seconds, 0.5);
  EXPECT_EQ(found.tokens_per_second, (14.0 / 2 + 20.0 / 2) / 2);
}

TEST(Minima, CountWhatWasNotAnsweredAsAsked) {
  const Exam exam;
  const Tally found = tally(exam.questions, exam.answers, exam.verdicts);
  EXPECT_TRUE(check_minima(found, std::vector<Minimum>{{"a", 1.0 / 3}, {"b", 0.5}}));
  const Status below = check_minima(found, std::vector<Minimum>{{"a", 0.34}, {"b", 0.51}});
  ASSERT_FALSE(below);
  EXPECT_EQ(exit_code(below.error().code), 1);
  EXPECT_EQ(below.error().message,
            "a: expected a share of 0.34 right, found 0.3333 (1 of 3); b: expected a share of 0.51 "
            "right, found 0.5 (1 of 2)");
  EXPECT_EQ(check_minima(found, std::vector<Minimum>{{"c", 0}}).error().code,
            Errc::kInvalidArgument);
}

TEST(Minima, AreReadFromText) {
  const auto read = parse_minimum("recall_1k=0.95");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->skill, "recall_1k");
  EXPECT_EQ(read->share, 0.95);
  EXPECT_TRUE(parse_minimum("a=0"));
  EXPECT_TRUE(parse_minimum("a=1"));
  for (const char* const text : {"", "a", "a=", "=1", "a=1.01", "a=-0.1", "a=95 %", "a=nan"}) {
    EXPECT_FALSE(parse_minimum(text)) << text;
  }
}

TEST(SavedAnswers, ComeBackAsTheyWere) {
  Exam exam;
  exam.answers[0]->content = "line\n\"quoted\" \xC3\xA9";
  exam.answers[1]->calls = {{"f", "{\"a\": 1}"}};
  const auto saved = parse_saved(saved_text(exam.questions, exam.answers, exam.verdicts), "s");
  ASSERT_TRUE(saved) << saved.error().message;
  ASSERT_EQ(saved->size(), 5U);
  const SavedAnswer& first = saved->at("a-0");
  EXPECT_EQ(first.digest, exam.questions[0].digest);
  EXPECT_EQ(first.answer.content, exam.answers[0]->content);
  EXPECT_TRUE(first.verdict.right);
  EXPECT_EQ(saved->at("a-1").answer.calls, exam.answers[1]->calls);
  EXPECT_EQ(saved->at("a-2").answer.finish_reason, "length");
  EXPECT_EQ(saved->at("b-1").error, "HTTP 400: no");
}

TEST(SavedAnswers, BrokenFilesSayWhere) {
  const Exam exam;
  const std::string good = saved_text(exam.questions, exam.answers, exam.verdicts);
  const auto error = [](const std::string& text) { return parse_saved(text, "s").error().message; };
  EXPECT_EQ(error(good + "{\"id\":\"x\"}\n"), "s: line 6: question: expected a text, found none");
  EXPECT_EQ(error(good + good), "s: line 6: id: expected another than those before");
  EXPECT_EQ(error("{\"id\":\"x\",\"question\":\"y\"}"),
            "s: line 1: right: expected true or false, found none");
  EXPECT_TRUE(error("x").starts_with("s: line 1: "));
  EXPECT_TRUE(parse_saved("", "s")->empty());
}

TEST(Comparison, PairsWhatWasAskedWordForWord) {
  const Exam then;
  Exam now;
  now.answers[0]->content = "no";           // was right
  now.answers[1]->content = "yes";          // was wrong
  now.answers[3]->reasoning = "otherwise";  // same answer
  now.answers[4] = said("yes");             // was none
  now.verdicts = judge_all(now.questions, now.answers, nullptr);
  const auto saved = parse_saved(saved_text(then.questions, then.answers, then.verdicts), "s");
  ASSERT_TRUE(saved);
  const Comparison same = compare(then.questions, then.answers, then.verdicts, *saved);
  EXPECT_EQ(same.pairs, 4U);
  EXPECT_EQ(same.same, 4U);
  EXPECT_EQ(same.same_thinking, 4U);
  EXPECT_EQ(same.both_right, 2U);
  EXPECT_EQ(same.lost + same.gained, 0U);
  EXPECT_EQ(same.not_paired, 1U);
  const Comparison changed = compare(now.questions, now.answers, now.verdicts, *saved);
  EXPECT_EQ(changed.pairs, 4U);
  EXPECT_EQ(changed.same, 2U);
  EXPECT_EQ(changed.same_thinking, 1U);
  EXPECT_EQ(changed.lost, 1U);
  EXPECT_EQ(changed.gained, 1U);
  EXPECT_EQ(changed.both_right, 1U);
  now.questions[0].digest = "other words";
  EXPECT_EQ(compare(now.questions, now.answers, now.verdicts, *saved).pairs, 3U);
}

Report report_of(const Exam& exam) {
  const auto saved = parse_saved(saved_text(exam.questions, exam.answers, exam.verdicts), "s");
  return {.questions = "q.jsonl",
          .endpoint = "m",
          .seconds = 3,
          .tally = tally(exam.questions, exam.answers, exam.verdicts),
          .comparison = compare(exam.questions, exam.answers, exam.verdicts, *saved),
          .wrong = wrong_answers(exam.questions, exam.answers, exam.verdicts, 1)};
}

TEST(Report, TextShowsEverySkill) {
  const std::string text = report_text(report_of(Exam()), Bars::kOn);
  for (const char* const part :
       {"m: 5 questions of q.jsonl\n",
        "a                 1 / 3       33.3 %    6.1 to 79.2     66.7 %       n/a             -"
        "  #######.............\n",
        "b                 1 / 1      100.0 %  20.7 to 100.0    100.0 %       n/a             1"
        "  ####################\n",
        "thinking, median tokens: low 4 (1 answers), max 15 (2 answers)\n",
        "78 tokens in 3.0 s; median of an answer: first token after 500.0 ms, 8.5 tokens/s\n",
        "b: 1 not answered: HTTP 400: no\n",
        "4 pairs, 4 same answers (100.0 %, 95 % 51.0 to 100.0), 4 of them with the same thinking, "
        "0",
        "right before and now 2, only before 0, only now 0: a change of +0.00 points",
        "not compared: 1 ",
        "\na-1\n  asked    \"What?\"\n  expected {\"any\":[\"yes\"]}\n"
        "  found    {\"content\":\"no\",\"finish_reason\":\"stop\"}\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
  EXPECT_EQ(text.find("a-2"), std::string::npos);  // one of each skill was asked for
  EXPECT_EQ(report_text(report_of(Exam()), Bars::kOff).find('#'), std::string::npos);
}

TEST(Report, JsonHasTheSameFigures) {
  const auto found = nlohmann::json::parse(report_json(report_of(Exam())));
  EXPECT_EQ(found["skills"][0]["skill"], "a");
  EXPECT_EQ(found["skills"][0]["right"], 1);
  EXPECT_EQ(found["skills"][0]["interval_95"].size(), 2U);
  EXPECT_EQ(found["skills"][1]["not_answered"], 1);
  EXPECT_EQ(found["skills"][1]["first_error"], "HTTP 400: no");
  EXPECT_EQ(found["all"]["asked"], 5);
  EXPECT_EQ(found["comparison"]["pairs"], 4);
  EXPECT_EQ(found["wrong"].size(), 1U);
  EXPECT_EQ(found["wrong"][0]["expected"]["any"][0], "yes");
  EXPECT_EQ(found["thinking_tokens"][1]["median"], 15.0);
}

TEST(Report, WhatIsNotKnownIsNotMadeUp) {
  Exam exam;
  for (auto& answer : exam.answers) {
    answer = Error{Errc::kIo, "gone"};
  }
  exam.verdicts = judge_all(exam.questions, exam.answers, nullptr);
  Report report{.questions = "q",
                .endpoint = "m",
                .tally = tally(exam.questions, exam.answers, exam.verdicts),
                .comparison = {},
                .wrong = {}};
  const std::string text = report_text(report, Bars::kOn);
  EXPECT_NE(text.find("a                 0 / 0          n/a            n/a        n/a       n/a    "
                      "         3\n"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_TRUE(json["skills"][0]["share"].is_null());
  EXPECT_TRUE(json["median_tokens_per_second"].is_null());
}

}  // namespace
}  // namespace daybreak::exam
