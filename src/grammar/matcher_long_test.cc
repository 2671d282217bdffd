// SPDX-License-Identifier: Apache-2.0
// Answers of many thousand ids: the state stays small, and all that is needed stays in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/message_rules.h"
#include "grammar/test_matcher.h"

namespace daybreak::grammar {
namespace {

constexpr std::size_t kFewBytes = std::size_t{2} << 20;

// Reads `text`, keeps the masks on the way and goes back to them now and then.
void read_with_detours(Matcher& matcher, std::string_view text) {
  const std::vector<TokenId> ids = test_tokens().ids(text);
  std::vector<Row> masks;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i % 97 == 0) {
      masks.push_back(copy(matcher.mask()));
    }
    ASSERT_TRUE(matcher.accept(ids[i])) << i;
    ASSERT_LE(matcher.state_bytes(), kFewBytes) << i;
    if (i % 9'700 == 9'650) {
      const std::size_t back = (i + 1) % 97 + 97;
      matcher.rollback(back);
      ASSERT_EQ(copy(matcher.mask()), masks[(i + 1 - back) / 97]) << i;
      for (std::size_t again = i + 1 - back; again <= i; ++again) {
        ASSERT_TRUE(matcher.accept(ids[again])) << again;
      }
    }
  }
}

std::string repeated(std::string_view element, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += element;
  }
  return text;
}

TEST(MatcherLong, ReadsManyMembersAndElements) {
  Matcher matcher = matcher_of(*compile_schema(
      R"({"type":"array","items":{"anyOf":[
            {"type":"object","properties":{"a":{"type":"integer"},"kind":{"const":"x"}},"required":["kind"]},
            {"type":"object","properties":{"a":{"type":"number"},"kind":{"const":"y"}},"required":["kind"]}]}})"));
  read_with_detours(matcher, "[" + repeated(R"({"a":12,"b":"c\n","kind":"y"},)", 4'000));
  EXPECT_FALSE(matcher.accept_bytes(R"({"a":1.5,"kind":"x"},)"));
  EXPECT_TRUE(matcher.accept_bytes(R"({"a":1.5,"kind":"y"}])"));
  EXPECT_TRUE(matcher.complete());
}

TEST(MatcherLong, RemembersTheKeysOfAnOpenObject) {
  Matcher matcher = matcher_of(*compile_schema(R"({"type":"object"})"));
  std::string text = R"({"first":0)";
  for (int i = 0; i < 2'000; ++i) {
    text += ",\"k" + std::to_string(i) + "\":[[1,2],{\"a\":3}]";
  }
  read_with_detours(matcher, text);
  EXPECT_FALSE(matcher.accept_bytes(R"(,"first":)"));
  EXPECT_FALSE(matcher.accept_bytes(R"(,"k1234":)"));
  EXPECT_TRUE(matcher.accept_bytes(R"(,"k2000":1})"));
}

TEST(MatcherLong, RemembersTheItemsOfAnOpenArray) {
  Matcher matcher = matcher_of(*compile_schema(
      R"({"type":"array","uniqueItems":true,"items":{"type":["string","integer","boolean"]}})"));
  std::string text = "[true";
  for (int i = 0; i < 300; ++i) {
    text += "," + std::to_string(i) + ",\"s" + std::to_string(i) + "\"";
  }
  read_with_detours(matcher, text);
  for (const std::string_view again : {",true", ",299,", R"(,"s0")"}) {
    EXPECT_FALSE(matcher.accept_bytes(again)) << again;
  }
  EXPECT_TRUE(matcher.accept_bytes(R"(,false,300,"s300"])"));
}

TEST(MatcherLong, ReadsLongTextsOfAGrammar) {
  Matcher matcher =
      matcher_of(*compile_text_grammar("root ::= line+ \"end\"\nline ::= word (\" \" word)* "
                                       "\"\\n\"\nword ::= [a-z]+ | \"(\" word \")\""));
  read_with_detours(matcher, repeated("some (words) of ((a)) line\n", 3'000));
  EXPECT_TRUE(matcher.accept_bytes("end"));
  EXPECT_TRUE(matcher.complete());
}

TEST(MatcherLong, MasksOfAnAmbiguousGrammarLeaveNothingBehind) {
  Matcher matcher = matcher_of(
      *compile_text_grammar("root ::= root \"+\" root | root \"-\" | [0-9] | \"(\" root \")\""));
  const std::string text = repeated("1+(2-+(3))-+", 12) + "4";
  for (const TokenId id : test_tokens().ids(text)) {
    const Row mask = copy(matcher.mask());
    ASSERT_TRUE((mask[id / 32] >> (id % 32) & 1U) != 0);
    ASSERT_TRUE(matcher.accept(id));
    ASSERT_TRUE(matcher.accept_bytes(""));
    matcher.rollback(1);
    ASSERT_EQ(copy(matcher.mask()), mask);
    ASSERT_TRUE(matcher.accept(id));
  }
  EXPECT_TRUE(matcher.complete());
  EXPECT_FALSE(matcher.accept_bytes(")"));
}

TEST(MatcherLong, NestsDeeperThanTheStackOfCalls) {
  Matcher matcher = matcher_of(*compile_schema("{\"type\":\"array\"}"));
  constexpr std::size_t kDeep = 20'000;
  for (std::size_t i = 0; i < kDeep; ++i) {
    ASSERT_TRUE(matcher.accept_bytes("["));
  }
  for (std::size_t i = 0; i < kDeep; ++i) {
    ASSERT_FALSE(matcher.complete());
    ASSERT_TRUE(matcher.accept_bytes("]"));
  }
  EXPECT_TRUE(matcher.complete());
}

}  // namespace
}  // namespace daybreak::grammar
