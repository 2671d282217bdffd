// SPDX-License-Identifier: Apache-2.0
// Schemas whose alternatives are decided late, at every level of nesting: what conforms is taken
// however deep it is, and the alternatives in progress do not multiply.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "grammar/message_rules.h"

namespace daybreak::grammar {
namespace {

// An expression whose operator may come after its operands: a kind per operator.
std::string expression_schema(int operators) {
  std::string kinds;
  for (int i = 0; i < operators; ++i) {
    kinds +=
        R"({"type":"object","properties":{"l":{"$ref":"#"},"r":{"$ref":"#"},"op":{"const":"o)" +
        std::to_string(i) + R"("}},"required":["l","r","op"],"additionalProperties":false},)";
  }
  return R"({"anyOf":[)" + kinds + R"({"type":"integer"}]})";
}

std::string tree(int depth, std::string_view last) {
  if (depth == 0) {
    return "7";
  }
  return R"({"l":)" + tree(depth - 1, R"("o1")") + R"(,"r":)" + tree(0, "") + R"(,"op":)" +
         std::string(last) + "}";
}

TEST(AutomatonDepth, TakesAnExpressionWhoseOperatorsComeLast) {
  const auto grammar = compile_schema(expression_schema(12));
  ASSERT_TRUE(grammar) << grammar.error().message;
  for (const int depth : {1, 3, 8, 30}) {
    EXPECT_TRUE(accepts(**grammar, tree(depth, R"("o0")"))) << depth;
    EXPECT_TRUE(accepts(**grammar, tree(depth, R"("o11")"))) << depth;
    EXPECT_FALSE(accepts(**grammar, tree(depth, R"("o12")"))) << depth;
    EXPECT_FALSE(accepts(**grammar, tree(depth, "1"))) << depth;
  }
}

TEST(AutomatonDepth, TakesArraysOfManyKindsWithinEachOther) {
  // 60 kinds of arrays, told apart by their last element only.
  std::string kinds;
  for (int i = 0; i < 60; ++i) {
    kinds += R"({"type":"array","prefixItems":[{"$ref":"#"},{"const":)" + std::to_string(i) +
             R"(}],"items":false,"minItems":2},)";
  }
  const auto grammar = compile_schema(R"({"anyOf":[)" + kinds + R"({"type":"null"}]})");
  ASSERT_TRUE(grammar) << grammar.error().message;
  const auto nested = [](int depth, std::string_view innermost) {
    std::string text(static_cast<std::size_t>(depth), '[');
    text += "null,";
    text += innermost;
    text += ']';
    for (int i = 1; i < depth; ++i) {
      text += "," + std::to_string(59 - i % 60) + "]";
    }
    return text;
  };
  for (const int depth : {1, 2, 3, 20, 100}) {
    EXPECT_TRUE(accepts(**grammar, nested(depth, "59"))) << depth;
    EXPECT_FALSE(accepts(**grammar, nested(depth, "60"))) << depth;
  }
}

TEST(AutomatonDepth, UniqueItemsStillTellsWhatIsInsideApart) {
  // Two arrays of the same items in progress, one of which refuses what it has seen.
  const auto grammar = compile_schema(
      R"({"anyOf":[{"type":"array","items":{"type":["string","integer"]},"uniqueItems":true},
                   {"type":"array","items":{"type":["string","integer"]},"minItems":3}]})");
  ASSERT_TRUE(grammar) << grammar.error().message;
  EXPECT_TRUE(accepts(**grammar, R"(["a","a",1])"));
  EXPECT_TRUE(accepts(**grammar, R"([1,1,"a"])"));
  EXPECT_TRUE(accepts(**grammar, R"(["a",1])"));
  EXPECT_FALSE(accepts(**grammar, R"(["a","a"])"));
  EXPECT_FALSE(accepts(**grammar, R"([1,1])"));
}

TEST(AutomatonDepth, ReturnsFromASharedRuleToEveryPlaceItWasCalledFrom) {
  const auto grammar = compile_text_grammar(
      "root ::= wrap \"x\" | wrap \"y\" | \"z!\" \"w\"\n"
      "wrap ::= inner \"!\"\ninner ::= \"(\" inner \")\" | \"z\"");
  ASSERT_TRUE(grammar) << grammar.error().message;
  for (const std::string_view text : {"z!x", "z!y", "z!w", "((z))!x", "((z))!y"}) {
    EXPECT_TRUE(accepts(**grammar, text)) << text;
  }
  for (const std::string_view text : {"z!v", "((z))!w", "z!", "z!xy", "(z!x"}) {
    EXPECT_FALSE(accepts(**grammar, text)) << text;
  }
}

TEST(AutomatonDepth, TakesLongTextsOfAnAmbiguousGrammar) {
  // Every way to bracket a sum is a derivation; all of them are followed as one.
  const auto grammar = compile_text_grammar("root ::= root \"+\" root | [0-9]+ | \"(\" root \")\"");
  ASSERT_TRUE(grammar) << grammar.error().message;
  std::string sum = "1";
  for (int i = 0; i < 200; ++i) {
    sum += i % 3 == 0 ? "+(2+3)" : "+4";
  }
  EXPECT_TRUE(accepts(**grammar, sum));
  EXPECT_FALSE(accepts(**grammar, sum + "+"));
  EXPECT_FALSE(accepts(**grammar, sum + ")"));
  const std::string deep = std::string(150, '(') + sum + std::string(150, ')');
  EXPECT_TRUE(accepts(**grammar, deep));
  EXPECT_FALSE(accepts(**grammar, deep + ")"));
}

}  // namespace
}  // namespace daybreak::grammar
