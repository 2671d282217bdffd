// SPDX-License-Identifier: Apache-2.0
#include "base/json_tree.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <random>
#include <string>

namespace daybreak {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonTree, KeepsSpellingOrderAndBytes) {
  const std::string text = R"( {"b": 1e2 , "a":[ 1,-0.50 ]} )";
  const auto tree = parse_json_tree(text);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->raw, R"({"b": 1e2 , "a":[ 1,-0.50 ]})");
  EXPECT_EQ(tree->keys, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(tree->items[0].raw, "1e2");
  EXPECT_EQ(tree->items[1].items[1].raw, "-0.50");
}

TEST(JsonTree, LastOfEqualKeysWinsInTheFirstPlaceAndIsRemembered) {
  const auto tree = parse_json_tree(R"({"a":1,"b":2,"a":3,"c":4,"b":5,"a":6})");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->keys, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(tree->items[0].raw, "6");
  EXPECT_EQ(tree->items[1].raw, "5");
  EXPECT_EQ(tree->items[2].raw, "4");
  ASSERT_NE(tree->duplicate, JsonNode::kNoDuplicate);
  EXPECT_EQ(tree->keys[tree->duplicate], "a");
}

TEST(JsonTree, NamesThePlaceAndTheReason) {
  struct Case {
    const char* text;
    const char* message;
  };
  const std::array cases = {
      Case{"", "not valid JSON: expected a value, found the end at byte 0"},
      Case{"{\"a\":[1,{\"b\":x}]}", "a[1].b: not valid JSON: expected a value at byte 13"},
      Case{"{\"a\" 1}", "not valid JSON: expected ':' at byte 5"},
      Case{"[1 2]", "not valid JSON: expected ',' or ']' at byte 3"},
      Case{"{\"a\":1 \"b\"}", "not valid JSON: expected ',' or '}' at byte 7"},
      Case{"{a:1}", "not valid JSON: expected a key in quotes at byte 1"},
      Case{"[1,]", "[1]: not valid JSON: expected a value at byte 3"},
      Case{"tru", "not valid JSON: expected 'true' at byte 0"},
      Case{"1 2", "not valid JSON: unexpected text after the value at byte 2"},
      Case{"01", "not valid JSON: unexpected text after the value at byte 1"},
      Case{"-", "not valid JSON: expected a value at byte 0"},
      Case{"1.", "not valid JSON: expected a digit after '.' at byte 2"},
      Case{"1e+", "not valid JSON: expected a digit in the exponent at byte 3"},
      Case{"\"abc", "not valid JSON: string without an end at byte 0"},
      Case{"\"a\nb\"", "not valid JSON: control character in a string at byte 2"},
      Case{"\"\\x\"", "not valid JSON: unknown escape at byte 1"},
      Case{"\"\\u12g4\"", "not valid JSON: \\u without four hex digits at byte 1"},
      Case{"{\"m\":\"\\ud800\"}", "m: not valid JSON: lone surrogate \\ud800 at byte 6"},
      Case{"\"\\udc00\"", "not valid JSON: lone surrogate \\udc00 at byte 1"},
      Case{"\"\\ud800\\u0041\"", "not valid JSON: lone surrogate \\ud800 at byte 1"},
      Case{"\"\xC3(\"", "not valid JSON: invalid UTF-8 at byte 1"},
      Case{"\"\xED\xA0\x80\"", "not valid JSON: invalid UTF-8 at byte 1"},
      Case{"\xEF\xBB\xBF{}", "not valid JSON: expected a value at byte 0"},
      Case{"NaN", "not valid JSON: expected a value at byte 0"},
  };
  for (const Case& c : cases) {
    const auto tree = parse_json_tree(c.text);
    ASSERT_FALSE(tree) << c.text;
    EXPECT_EQ(tree.error().message, c.message);
    EXPECT_EQ(tree.error().code, Errc::kInvalidArgument);
  }
}

TEST(JsonTree, BoundsHoldAtTheLimitAndNotPast) {
  EXPECT_TRUE(parse_json_tree(nested(64)));
  const auto deep = parse_json_tree(nested(65));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, Errc::kInvalidArgument);
  EXPECT_FALSE(parse_json_tree(std::string(1'000'000, '[')));
  EXPECT_TRUE(parse_json_tree("[1,2,3]", {.max_values = 4}));
  EXPECT_FALSE(parse_json_tree("[1,2,3,4]", {.max_values = 4}));
  EXPECT_TRUE(parse_json_tree(std::string(4'300, '1')));
  EXPECT_FALSE(parse_json_tree(std::string(4'301, '1')));
}

TEST(JsonTree, NulBytesAreNoEnd) {
  EXPECT_FALSE(parse_json_tree(std::string_view("1\0", 2)));
  EXPECT_FALSE(parse_json_tree(std::string_view("[1,\0]", 5)));
  EXPECT_FALSE(parse_json_tree(std::string_view("\"a\0b\"", 5)));
}

// simdjson is strict and not ours. It refuses numbers beyond 64 bits, which are not made here.
TEST(JsonTree, AcceptsExactlyWhatAnotherStrictParserAccepts) {
  static constexpr std::string_view kPieces[] = {"{",           "}",           "[",
                                                 "]",           ":",           ",",
                                                 "\"a\"",       "\"\\u00e9\"", "\"\\ud83d\\ude00\"",
                                                 "\"\\ud83d\"", "1",           "-0",
                                                 "0.5",         "1e3",         "01",
                                                 "-",           "true",        "false",
                                                 "null",        "nul",         " ",
                                                 "\n",          "\"",          "\\",
                                                 "\"a\":",      "\"a\":1",     "[1,2]",
                                                 "{}",          "\xC3\xA9",    "\"\xC3\xA9\"",
                                                 "\x01"};
  std::mt19937_64 random(3);
  simdjson::dom::parser parser;
  std::size_t accepted = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string text;
    for (std::size_t n = 1 + random() % 7; n > 0; --n) {
      text += kPieces[random() % std::size(kPieces)];
    }
    const bool theirs = parser.parse(text).error() == simdjson::SUCCESS;
    ASSERT_EQ(parse_json_tree(text).has_value(), theirs) << text;
    accepted += theirs ? 1 : 0;
  }
  EXPECT_GT(accepted, 1'000U);
}

}  // namespace
}  // namespace daybreak
