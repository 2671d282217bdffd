// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenize_lines.h"

#include <gtest/gtest.h>

#include "testing/paths.h"

namespace daybreak::cli {
namespace {

class TokenizeLines : public ::testing::Test {
 protected:
  void SetUp() override {
    auto loaded = tokenizer::Tokenizer::load(daybreak::testing::source_path("testdata/tokenizer"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    tokenizer = *std::move(loaded);
  }

  // Returns the answer, or "!" and the message.
  std::string tokenize(const std::string& line) const {
    const auto answer = tokenize_line(*tokenizer, line);
    return answer ? *answer : "!" + answer.error().message;
  }
  std::string detokenize(const std::string& line) const {
    const auto answer = detokenize_line(*tokenizer, line);
    return answer ? *answer : "!" + answer.error().message;
  }

  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
};

TEST_F(TokenizeLines, SpecialTokensCountOnlyWhenAskedFor) {
  EXPECT_EQ(tokenize(R"({"text":"<|open|><|sep|>","special":true})"), R"({"ids":[803,805]})");
  EXPECT_EQ(detokenize(R"({"ids":[803,805]})"), R"({"text":"<|open|><|sep|>"})");
  const std::string ordinary = tokenize(R"({"text":"<|open|>","special":false})");
  EXPECT_EQ(ordinary.find("803"), std::string::npos);
  EXPECT_EQ(tokenize(R"({"text":"<|open|>"})"), ordinary);
  EXPECT_EQ(detokenize(ordinary), R"({"text":"<|open|>"})");
}

TEST_F(TokenizeLines, SlicingIsOnUnlessSwitchedOff) {
  const std::string text = std::string(24'997, '-') + "message";  // the cut falls into the word
  const auto request = [&](const std::string& more) {
    return tokenize(R"({"text":")" + text + R"(","special":false)" + more + "}");
  };
  EXPECT_TRUE(request("") == request(R"(,"sliced":true)"));
  EXPECT_TRUE(request("") != request(R"(,"sliced":false)"));
}

TEST_F(TokenizeLines, SkipSpecialKeepsMarkers) {
  EXPECT_EQ(detokenize(R"({"ids":[803,805,802],"skip_special":true})"),
            R"({"text":"<|open|><|sep|>"})");
  EXPECT_EQ(detokenize(R"({"ids":[803,805,802]})"), R"({"text":"<|open|><|sep|><|end_of_msg|>"})");
}

TEST_F(TokenizeLines, ALoneSurrogateIsAReplacementCharacter) {
  EXPECT_EQ(tokenize(R"({"text":"a\ud83d"})"), tokenize(R"({"text":"a\ufffd"})"));
  EXPECT_EQ(tokenize(R"({"text":"\ud83d\ude80"})"), tokenize("{\"text\":\"\xF0\x9F\x9A\x80\"}"));
}

TEST_F(TokenizeLines, ABadLineIsToldByField) {
  EXPECT_EQ(tokenize(""), "!expected JSON in UTF-8");
  EXPECT_EQ(tokenize("{"), "!expected JSON in UTF-8");
  EXPECT_EQ(tokenize("{\"text\":\"\xFF\"}"), "!expected JSON in UTF-8");
  EXPECT_EQ(tokenize("[]"), "!expected an object, found array");
  EXPECT_EQ(tokenize("{}"), "!text: expected a string, found nothing");
  EXPECT_EQ(tokenize(R"({"text":1})"), "!text: expected a string, found number");
  EXPECT_EQ(tokenize(R"({"text":"a","special":1})"),
            "!special: expected true or false, found number");
  EXPECT_EQ(tokenize(R"({"text":"a","Sliced":false})"), "!unknown field 'Sliced'");
  EXPECT_EQ(detokenize("{}"), "!ids: expected an array, found nothing");
  EXPECT_EQ(detokenize(R"({"ids":[0,1056]})"),
            "!ids[1]: expected an integer from 0 to 1055, found 1056");
  for (const char* id : {"-1", "1.5", "1e3", "\"1\"", "null", "18446744073709551616"}) {
    EXPECT_TRUE(detokenize(std::string(R"({"ids":[)") + id + "]}").starts_with("!ids[0]: expected"))
        << id;
  }
  // Nesting cannot exhaust the stack.
  EXPECT_EQ(tokenize(std::string(1'000'000, '[')), "!expected JSON in UTF-8");
}

}  // namespace
}  // namespace daybreak::cli
