// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenize_lines.h"

#include <gtest/gtest.h>

#include "testing/paths.h"

namespace daybreak::cli {
namespace {

using std::string_view_literals::operator""sv;

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

TEST_F(TokenizeLines, NullIsAbsent) {
  EXPECT_EQ(tokenize(R"({"text":"a","special":null,"sliced":null})"), tokenize(R"({"text":"a"})"));
  EXPECT_EQ(detokenize(R"({"ids":[65],"skip_special":null})"), detokenize(R"({"ids":[65]})"));
}

TEST_F(TokenizeLines, ABadLineIsToldByField) {
  EXPECT_EQ(tokenize(""), "!not valid JSON: expected a value, found the end at byte 0");
  EXPECT_EQ(tokenize("{\"text\":\"\xFF\"}"), "!not valid JSON: invalid UTF-8 at byte 9");
  EXPECT_EQ(tokenize("[]"), "!request body: expected an object, found an array");
  EXPECT_EQ(tokenize("{}"), "!text: expected a string, found nothing");
  EXPECT_EQ(tokenize(R"({"text":1})"), "!text: expected a string, found 1");
  EXPECT_EQ(tokenize(R"({"text":"a","special":1})"), "!special: expected true or false, found 1");
  EXPECT_EQ(tokenize(R"({"text":"a","Sliced":false})"), "!Sliced: no such field");
  EXPECT_EQ(tokenize(R"({"text":"a","text":"b"})"), "!text: key given more than once");
  EXPECT_EQ(detokenize("{}"), "!ids: expected an array, found nothing");
  EXPECT_EQ(detokenize(R"({"ids":[0,1056]})"),
            "!ids[1]: expected an integer from 0 to 1055, found 1056");
  for (const char* id : {"-1", "1.5", "1e3", "\"1\"", "null", "18446744073709551616"}) {
    EXPECT_TRUE(detokenize(std::string(R"({"ids":[)") + id + "]}").starts_with("!ids[0]: expected"))
        << id;
  }
}

// The message shows what was found, which must not take a stack frame for each level of it.
TEST_F(TokenizeLines, DeepNestingIsRefusedInEveryPlace) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  for (const std::string& line : {deep, R"({"text":)" + deep + "}", R"({"x":)" + deep + "}"}) {
    EXPECT_NE(tokenize(line).find("nested deeper than 64 levels"), std::string::npos);
  }
  EXPECT_NE(detokenize(R"({"ids":)" + deep + "}").find("nested deeper than 64 levels"),
            std::string::npos);
}

TEST_F(TokenizeLines, IdsOfOneLineAreBounded) {
  std::string list = "97";  // a
  for (std::size_t i = 1; i < kMaxDetokenizeIds; ++i) {
    list += ",97";
  }
  EXPECT_EQ(detokenize(R"({"ids":[)" + list + "]}").size(),
            kMaxDetokenizeIds + R"({"text":""})"sv.size());
  EXPECT_EQ(detokenize(R"({"ids":[97,)" + list + "]}"),
            "!ids: expected at most 2097152 items, found 2097153");
}

}  // namespace
}  // namespace daybreak::cli
