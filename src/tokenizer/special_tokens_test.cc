// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/special_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace daybreak::tokenizer {
namespace {

// A configuration file whose added_tokens_decoder has `entries`.
std::string config_of(const std::string& entries) {
  return R"({"added_tokens_decoder":{)" + entries + "}}";
}

TEST(SpecialTokens, NamesEverySlotOfTheBlock) {
  const auto tokens = SpecialTokens::parse(
      R"({"model_max_length": 1000000000000000019884624838656, "added_tokens_decoder": {
        "1000": {"content": "[BOS]", "special": true, "lstrip": false},
        "1003": {"content": "<|open|>", "special": false},
        "1255": {"content": "[PAD]", "special": true}}})",
      1000);
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->spelling(1000), "[BOS]");
  EXPECT_EQ(tokens->spelling(1001), "<|reserved_token_1001|>");
  EXPECT_EQ(tokens->spelling(1255), "[PAD]");
  EXPECT_FALSE(tokens->contains(999));
  EXPECT_TRUE(tokens->contains(1000));
  EXPECT_TRUE(tokens->contains(1255));
  EXPECT_FALSE(tokens->contains(1256));
  EXPECT_TRUE(tokens->flagged_special(1000));
  EXPECT_TRUE(tokens->flagged_special(1001));
  EXPECT_FALSE(tokens->flagged_special(1003));
  for (TokenId id = 1000; id < 1256; ++id) {
    EXPECT_EQ(tokens->find(tokens->spelling(id)), id);
  }
  // A named slot has no second name, and numbers are absolute.
  for (const char* absent :
       {"", "<|reserved_token_1000|>", "<|reserved_token_1|>", "[BOS", "[BOS]x", "<|open|"}) {
    EXPECT_EQ(tokens->find(absent), std::nullopt) << absent;
  }
}

TEST(SpecialTokens, MatchesLeftmostThenLongest) {
  const auto tokens = SpecialTokens::parse(
      config_of(
          R"("5":{"content":"<|","special":true},"6":{"content":"|>","special":true},)"
          R"("7":{"content":"<|EOS|>","special":true},"8":{"content":"EOS|>x","special":true})"),
      0);
  ASSERT_TRUE(tokens) << tokens.error().message;
  const auto found = [&](std::string_view text) {
    std::string out;
    std::size_t at = 0;
    while (const auto match = tokens->next_match(text, at)) {
      out += std::to_string(match->begin) + "-" + std::to_string(match->end) + "=" +
             std::to_string(match->id) + " ";
      at = match->end;
    }
    return out;
  };
  EXPECT_EQ(found("<|EOS|>"), "0-7=7 ");
  EXPECT_EQ(found("a<|EOS|>x"), "1-8=7 ");  // leftmost beats the longer EOS|>x inside
  EXPECT_EQ(found("<|EOS|x"), "0-2=5 ");    // falls back to the longest that is complete
  EXPECT_EQ(found("<|<|EOS|>|>"), "0-2=5 2-9=7 9-11=6 ");
  EXPECT_EQ(found("EOS|>x|>"), "0-6=8 6-8=6 ");
  EXPECT_EQ(found("<"), "");
  EXPECT_EQ(found(""), "");
  EXPECT_EQ(found("<|reserved_token_255|>"), "0-22=255 ");
  EXPECT_EQ(found("<|reserved_token_256|>"), "0-2=5 20-22=6 ");
}

TEST(SpecialTokens, RefusesABadFileNamingTheField) {
  struct Row {
    std::string config;
    std::string message;
  };
  const std::string one = R"("300":{"content":"a","special":true})";
  const Row rows[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"{\"a\":\"\xFF\"}", "not JSON"},
      {R"({"a":"\ud800"})", "not JSON"},
      {"[]", "expected an object, found array"},
      {"{}", "added_tokens_decoder: expected an object, found nothing"},
      {R"({"added_tokens_decoder":[]})", "added_tokens_decoder: expected an object, found array"},
      {config_of(one + "," + one), "expected each key once, found '300' twice"},
      {R"({"a":1,"a":1,"added_tokens_decoder":{}})", "expected each key once, found 'a' twice"},
      {R"({"\u001b[2J":1,"\u001b[2J":1})", "expected each key once, found '?[2J' twice"},
      {config_of('"' + std::string(1'000, '7') + R"(":{"content":"a","special":true})"),
       ("added_tokens_decoder['" + std::string(120, '7') +
        "...']: expected an id from 300 to 555 "
        "(the 256 that follow the ranks), found '" +
        std::string(120, '7') + "...'")},
      {config_of(R"("300":{"content":"\n","special":true},"301":{"content":"\n","special":true})"),
       "added_tokens_decoder: expected spellings that differ, found '?' for ids 300 and 301"},
      {config_of(R"("299":{"content":"a","special":true})"),
       "added_tokens_decoder['299']: expected an id from 300 to 555 (the 256 that follow the "
       "ranks), found '299'"},
      {config_of(R"("556":{"content":"a","special":true})"),
       "added_tokens_decoder['556']: expected an id from 300 to 555 (the 256 that follow the "
       "ranks), found '556'"},
      {config_of(R"("0300":{"content":"a","special":true})"),
       "added_tokens_decoder['0300']: expected an id from 300 to 555 (the 256 that follow the "
       "ranks), found '0300'"},
      {config_of(R"("99999999999":{"content":"a","special":true})"),
       "added_tokens_decoder['99999999999']: expected an id from 300 to 555 (the 256 that follow "
       "the ranks), found '99999999999'"},
      {config_of(R"("x":{"content":"a","special":true})"),
       "added_tokens_decoder['x']: expected an id from 300 to 555 (the 256 that follow the ranks), "
       "found 'x'"},
      {config_of(R"("300":"a")"), "added_tokens_decoder['300']: expected an object, found string"},
      {config_of(R"("300":{"special":true})"),
       "added_tokens_decoder['300'].content: expected a string, found nothing"},
      {config_of(R"("300":{"content":1,"special":true})"),
       "added_tokens_decoder['300'].content: expected a string, found number"},
      {config_of(R"("300":{"content":"","special":true})"),
       "added_tokens_decoder['300'].content: expected a spelling, found an empty string"},
      {config_of(R"("300":{"content":"a"})"),
       "added_tokens_decoder['300'].special: expected true or false, found nothing"},
      {config_of(R"("300":{"content":"a","special":1})"),
       "added_tokens_decoder['300'].special: expected true or false, found number"},
      {config_of(R"("300":{"content":"a","special":true},"301":{"content":"a","special":true})"),
       "added_tokens_decoder: expected spellings that differ, found 'a' for ids 300 and 301"},
      {config_of(R"("300":{"content":"<|reserved_token_301|>","special":true})"),
       "added_tokens_decoder: expected spellings that differ, found '<|reserved_token_301|>' for "
       "ids 300 and 301"},
  };
  for (const Row& row : rows) {
    const auto tokens = SpecialTokens::parse(row.config, 300);
    ASSERT_FALSE(tokens) << row.config;
    EXPECT_EQ(tokens.error(), (Error{Errc::kCorrupt, "tokenizer_config.json: " + row.message}));
  }
}

TEST(SpecialTokens, AcceptsEachBoundAndRefusesOnePastIt) {
  const auto with_length = [](std::size_t length) {
    return SpecialTokens::parse(
        config_of(R"("0":{"content":")" + std::string(length, 'x') + R"(","special":true})"), 0);
  };
  EXPECT_TRUE(with_length(kMaxSpellingBytes));
  ASSERT_FALSE(with_length(kMaxSpellingBytes + 1));
  EXPECT_EQ(with_length(kMaxSpellingBytes + 1).error().message,
            "tokenizer_config.json: added_tokens_decoder['0'].content: at most 256 bytes expected, "
            "found 257");

  std::string file = config_of("");
  file.resize(kMaxConfigBytes, ' ');
  EXPECT_TRUE(SpecialTokens::parse(file, 0));
  file += ' ';
  ASSERT_FALSE(SpecialTokens::parse(file, 0));
  EXPECT_EQ(SpecialTokens::parse(file, 0).error().code, Errc::kTooLarge);

  const auto nested = [](std::size_t depth) {
    return SpecialTokens::parse(R"({"added_tokens_decoder":{},"a":)" + std::string(depth, '[') +
                                    std::string(depth, ']') + "}",
                                0);
  };
  EXPECT_TRUE(nested(63));
  ASSERT_FALSE(nested(64));
  EXPECT_EQ(nested(64).error().message,
            "tokenizer_config.json: expected at most 64 levels of nesting");
  EXPECT_FALSE(nested(2'000'000));
}

}  // namespace
}  // namespace daybreak::tokenizer
