// SPDX-License-Identifier: Apache-2.0
// Prompts against the released encoder's (text and ids) and against official token counts.

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json_tree.h"
#include "chat/python_json.h"
#include "chat/render.h"
#include "chat/render_line.h"
#include "testing/paths.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::chat {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream in(testing::read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::shared_ptr<const tokenizer::Tokenizer> k3_tokenizer() {
  auto loaded = tokenizer::Tokenizer::load(testing::shared_path("tokenizer/kimi-k3"));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return *loaded;
}

std::vector<TokenId> ids_of(const JsonNode& node) {
  std::vector<TokenId> ids;
  for (const JsonNode& item : node.items) {
    ids.push_back(static_cast<TokenId>(number_value(item.raw)));
  }
  return ids;
}

TEST(RenderShared, EqualsTheReleasedEncoder) {
  const auto path = testing::shared_path("render/goldens.jsonl");
  DAYBREAK_SHARED_OR_SKIP(path);
  const auto tokenizer = k3_tokenizer();
  std::size_t equal = 0;
  for (const std::string& line : lines_of(path)) {
    const auto golden = parse_json_tree(line);
    ASSERT_TRUE(golden) << golden.error().message;
    SCOPED_TRACE(golden->find("name")->text);
    const auto request = parse_render_line(line);
    ASSERT_TRUE(request) << request.error().message;
    const auto prompt = render(*request, *tokenizer);
    ASSERT_TRUE(prompt) << prompt.error().message;
    ASSERT_EQ(join_text(prompt->segments), golden->find("text")->text);
    ASSERT_EQ(prompt->ids, ids_of(*golden->find("ids")));
    ++equal;
  }
  EXPECT_EQ(equal, 21U);
  std::cout << "PROOF render_goldens: " << equal << "/21 texts and ids\n";
}

// Prints the figure under `proof`.
void expect_counts(const std::filesystem::path& path, std::size_t cases, std::size_t stub,
                   std::string_view proof) {
  const auto tokenizer = k3_tokenizer();
  std::size_t count = 0;
  for (const std::string& line : lines_of(path)) {
    const auto golden = parse_json_tree(line);
    ASSERT_TRUE(golden) << golden.error().message;
    SCOPED_TRACE(golden->find("id")->text);
    const auto request = parse_chat_request(golden->find("request")->raw);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_TRUE(request->ignored_fields.empty());
    const auto prompt = render(*request, *tokenizer);
    ASSERT_TRUE(prompt) << prompt.error().message;
    ASSERT_EQ(prompt->billed_tokens(), number_value(golden->find("expected_prompt_tokens")->raw));
    ASSERT_EQ(prompt->stub_ids, stub);
    ++count;
  }
  EXPECT_EQ(count, cases);
  std::cout << "PROOF " << proof << ": " << count << "/" << cases << " prompt token counts\n";
}

TEST(RenderShared, CountsEqualTheOfficialOnesWithoutTheStub) {
  const auto path = testing::shared_path("kvv/prompt-token-cases.jsonl");
  DAYBREAK_SHARED_OR_SKIP(path);
  expect_counts(path, 44, 3, "kvv_prompt");
}

TEST(RenderShared, PartialCountsEqualTheOfficialOnes) {
  const auto path = testing::shared_path("kvv/prompt-token-cases.partial.jsonl");
  DAYBREAK_SHARED_OR_SKIP(path);
  expect_counts(path, 8, 0, "kvv_partial");
}

// The verifier's two constants: a question of 18 tokens costs 36 without thinking, and 119 with the
// schema below. Here the question is ours, so what counts is the rest: 18 for the frame, and 83 for
// telling the schema.
TEST(RenderShared, FrameAndSchemaCostWhatTheVerifierSays) {
  const auto path = testing::shared_path("tokenizer/kimi-k3");
  DAYBREAK_SHARED_OR_SKIP(path);
  const auto tokenizer = k3_tokenizer();
  const std::string question = "Is Oslo the capital of Norway? Answer in JSON with a key.";
  std::vector<TokenId> ids;
  tokenizer->encode(question, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
  const auto billed = [&](const std::string& fields) {
    const auto request =
        parse_chat_request(R"({"messages":[{"role":"user","content":")" + question +
                           R"("}],"thinking":{"type":"disabled"})" + fields + "}");
    EXPECT_TRUE(request) << fields;
    const auto prompt = render(*request, *tokenizer);
    EXPECT_TRUE(prompt) << fields;
    return prompt->billed_tokens();
  };
  EXPECT_EQ(billed("") - ids.size(), 36U - 18U);
  EXPECT_EQ(billed(R"(,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{
                "type":"object","properties":{"capital":{"type":"boolean"}},"required":["capital"],
                "additionalProperties":false}}})") -
                billed(""),
            119U - 36U);
}

// As one text the quote would merge with the dot.
TEST(RenderShared, ValuesOfAttributesDoNotMergeWithTheirQuotes) {
  const auto path = testing::shared_path("tokenizer/kimi-k3");
  DAYBREAK_SHARED_OR_SKIP(path);
  const auto request =
      parse_chat_request(R"({"messages":[{"role":"user","name":".hidden","content":"x"}]})");
  ASSERT_TRUE(request);
  const auto prompt = render(*request, *k3_tokenizer());
  ASSERT_TRUE(prompt);
  const std::vector<TokenId> value = {878, 59789, 1};
  EXPECT_FALSE(std::ranges::search(prompt->ids, value).empty());
}

}  // namespace
}  // namespace daybreak::chat
