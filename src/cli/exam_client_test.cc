// SPDX-License-Identifier: Apache-2.0
// `daybreak exam` as a user runs it: on the bundled model, and on a server with scripted answers.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/api_test_server.h"
#include "cli/serve_child.h"
#include "exam/endpoint.h"
#include "exam/judge.h"
#include "testing/paths.h"
#include "testing/temporary_directory.h"

namespace daybreak::cli {
namespace {

using nlohmann::json;

struct Exit {
  int code = 0;
  std::string output;
  std::string errors;
};

Exit examine(std::vector<std::string> more) {
  std::vector<std::string> arguments = {binary(), "exam"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Child child(std::move(arguments));
  Exit out;
  for (std::string line; !(line = child.read_line()).empty();) {
    out.output += line + "\n";
  }
  out.errors = child.read_errors();
  out.code = child.wait();
  return out;
}

const std::string kNano = testing::source_path("models/nano").string();

TEST(ExamClient, TheBundledModelAnswersInShapeTheSameAgain) {
  const testing::TemporaryDirectory directory;
  const std::string saved = (directory.path() / "saved.jsonl").string();
  const Exit first = examine({kNano, "--limit", "2", "--skill", "chat", "--skill", "pictures",
                              "--json", "--threads", "1", "--save", saved, "--min", "chat=0"});
  ASSERT_EQ(first.code, 0) << first.errors;
  const json report = json::parse(first.output);
  ASSERT_EQ(report["skills"].size(), 2U);
  EXPECT_EQ(report["skills"][0]["asked"], 2);
  EXPECT_EQ(report["skills"][0]["answered"], 2);
  EXPECT_EQ(report["skills"][0]["well_formed"], 2);
  EXPECT_EQ(report["skills"][0]["ids_known"], 2);
  EXPECT_EQ(report["skills"][0]["markers_to_the_letter"], 2);

  const Exit again = examine({kNano, "--limit", "2", "--skill", "chat", "--json", "--threads", "2",
                              "--concurrency", "2", "--compare", saved});
  ASSERT_EQ(again.code, 0) << again.errors;
  const json comparison = json::parse(again.output)["comparison"];
  EXPECT_EQ(comparison["pairs"], 2);
  EXPECT_EQ(comparison["same_thinking"], 2);
  EXPECT_EQ(comparison["not_paired"], 0);

  const Exit below =
      examine({kNano, "--limit", "1", "--skill", "arithmetic", "--min", "arithmetic=1"});
  EXPECT_EQ(below.code, 1);
  EXPECT_NE(below.errors.find("arithmetic: expected a share of 1 right"), std::string::npos)
      << below.errors;
}

TEST(ExamClient, MistakesAreToldBeforeAnythingIsAsked) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{kNano, "--skill", "dancing"}, "--skill: expected one of chat, tools,"},
      {{kNano, "--min", "chat"}, "--min: expected SKILL=SHARE"},
      {{kNano, "--skill", "chat", "--min", "json=1"}, "--min: expected a skill that is asked"},
      {{"--url", "http://127.0.0.1:1"}, "expected --url URL and --model NAME together"},
      {{kNano, "--model", "m"}, "expected --url URL and --model NAME together"},
      {{"--url", "h", "--model", "m"}, "--url: expected http://HOST"},
      {{"--url", "http://127.0.0.1:1", "--threads", "1"}, "--threads"},
      {{kNano, "--api-key-env", "DAYBREAK_NO_SUCH"}, "--api-key-env"},
      {{kNano, "--questions", kNano + "/config.json"}, "config.json: line 1: "},
      {{kNano, "--compare", kNano + "/none"}, "none"},
      {{kNano + "/none"}, "no such directory"}};
  for (const auto& [arguments, part] : mistakes) {
    const Exit found = examine(arguments);
    EXPECT_NE(found.code, 0) << part;
    EXPECT_NE(found.errors.find(part), std::string::npos) << found.errors;
    EXPECT_EQ(found.output, "");
  }
}

TEST(ExamClient, NobodyThereIsAnErrorAndReplacesNoSavedAnswers) {
  const testing::TemporaryDirectory directory;
  const std::string kept = (directory.path() / "kept.jsonl").string();
  const std::string none = (directory.path() / "none.jsonl").string();
  std::ofstream(kept) << "the baseline";
  const auto ask = [](const std::string& save) {
    return examine(
        {"--url", "http://127.0.0.1:1", "--model", "m", "--concurrency", "1", "--save", save});
  };
  const Exit found = ask(kept);
  std::ifstream file(kept);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "the baseline");
  EXPECT_NE(found.errors.find(kept + ": not written, since no question was answered"),
            std::string::npos);
  ask(none);
  EXPECT_FALSE(std::filesystem::exists(none));
  EXPECT_EQ(found.code, 1);
  EXPECT_NE(found.errors.find("5 questions in a row found no connection"), std::string::npos)
      << found.errors;
}

TEST(ExamClient, AServerThatCannotStartIsAnError) {
  const Exit found = examine({kNano, "--isa", "abacus"});
  EXPECT_EQ(found.code, 1);
  EXPECT_NE(found.errors.find("the server ended before it listened"), std::string::npos)
      << found.errors;
  EXPECT_NE(found.errors.find("abacus"), std::string::npos);
}

// Every case of the judge's table through the whole API: what streams tell of ids and texts is
// enough to come to the same verdict.
TEST(ExamClient, TheApiTellsEnoughToJudge) {
  // The end that follows the last text is not told, only how long it is.
  const std::set<std::string> unseen = {"a tag that is none"};
  std::istringstream lines(testing::read_file(testing::source_path("testdata/exam/answers.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    const json question = {{"id", "q"},
                           {"skill", "s"},
                           {"request",
                            {{"messages", {{{"role", "user"}, {"content", "x"}}}},
                             {"tools", {{{"type", "function"}, {"function", {{"name", "open"}}}}}},
                             {"thinking", {{"type", row["thinking"] ? "enabled" : "disabled"}}}}},
                           {"expect", row["expect"]}};
    const auto parsed = exam::parse_questions(question.dump(), row["name"]);
    ASSERT_TRUE(parsed) << parsed.error().message;
    const api::TestApi server(api::TestApi::says(row["text"]));
    exam::EndpointOptions options;
    options.url = *exam::chat_url(server.server->url());
    options.model = "nano";
    options.ask_for_ids = true;
    auto endpoint = exam::Endpoint::create(options);
    ASSERT_TRUE(endpoint);
    const auto answer = endpoint->ask(parsed->front().request, [] { return false; });
    ASSERT_TRUE(answer) << row["name"] << ": " << answer.error().message;
    const exam::Verdict found = exam::judge(parsed->front(), *answer, server.tokenizer.get());
    if (!unseen.contains(row["name"])) {
      EXPECT_EQ(found.formed, row["formed"]) << row["name"] << ": " << found.fault;
      EXPECT_EQ(found.right, row["right"]) << row["name"] << ": " << found.fault;
    }
  }
}

}  // namespace
}  // namespace daybreak::cli
