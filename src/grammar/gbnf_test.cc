// SPDX-License-Identifier: Apache-2.0
// What GBNF texts mean, shown by the texts they accept and refuse, and every message.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "grammar/test_grammar_text.h"

namespace daybreak::grammar {
namespace {

TEST(Gbnf, Items) {
  const std::vector<GrammarCase> cases{
      {R"(root ::= "a")", {"a"}, {"", "b", "aa"}},
      {R"(root ::= "a" "b" | "c")", {"ab", "c"}, {"a", "abc"}},
      {R"(root ::= "a" ("b" | "c") "d")", {"abd", "acd"}, {"ad", "abcd"}},
      {R"(root ::= "\"\\\n\t\r\[\]\x41\u00e9\U0001F600")", {"\"\\\n\t\r[]Aé😀"}, {""}},
      {R"(root ::= "\ud83d\ude00")", {"😀"}, {}},
      {R"(root ::= "\x4142")", {"A42"}, {}},
      {R"(root ::= "é" "")", {"é"}, {"e"}},
      {R"(root ::= [a-c])", {"a", "b", "c"}, {"", "d", "-", "ab"}},
      {R"(root ::= [^a-c])", {"d", "\n", "é", "😀"}, {"a", "c", ""}},
      {R"(root ::= [\]\\^\x41-\x43"-])", {"]", "\\", "^", "B", "\"", "-"}, {"D", "x"}},
      {R"(root ::= [^\]\n])", {"a", "["}, {"]", "\n"}},
      {R"(root ::= [a-])", {"a", "-"}, {"b"}},
      {R"(root ::= [😀-😂é])", {"😁", "é"}, {"😃", "e"}},
      {"root ::= .", {"a", "\n", "😀"}, {"", "ab"}},
      {R"(root ::= "a"*)", {"", "a", "aaaa"}, {"b"}},
      {R"(root ::= "a"+)", {"a", "aa"}, {"", "b"}},
      {R"(root ::= "a" ?)", {"", "a"}, {"aa"}},
      {R"(root ::= "ab"{2})", {"abab"}, {"ab", "ababab", "abb"}},
      {R"(root ::= "a"{2,})", {"aa", "aaaaa"}, {"a", ""}},
      {R"(root ::= [ab]{1, 3})", {"a", "bab"}, {"", "abab"}},
      {R"(root ::= "a"{0})", {""}, {"a"}},
      {R"(root ::= "x" | )", {"", "x"}, {"xx"}},
      {R"(root ::= | "x" | ("y" |) "z")", {"", "x", "z", "yz"}, {"y"}},
      {"root ::=", {""}, {"a"}},
      {R"(root ::= ("a"*)* "b")", {"b", "ab", "aaab"}, {"a", ""}},
  };
  for (const GrammarCase& test : cases) {
    expect_language(test);
  }
}

TEST(Gbnf, RulesOverSeveralLines) {
  const std::vector<GrammarCase> cases{
      {"root ::= x-1 _y\nx-1 ::= \"a\"\n_y ::= \"b\"\n", {"ab"}, {"a", "b"}},
      {"# comment\nroot ::= (  # open\n  \"a\" |\n  \"b\"\n) # close\n  x\nx ::=\n  \"#\" # end",
       {"a#", "b#"},
       {"a", "#"}},
      {"root ::= \"a\"\n  | \"b\"\r\n  | \"c\"", {"a", "b", "c"}, {""}},
      {"root ::= x\n\n  \"b\" x\n\tx ::= \"a\"", {"aba"}, {"a"}},
      {"x ::= \"a\"\nroot ::= x x", {"aa"}, {"a"}},
      {"root ::= \"a\" # root ::= \"b\"", {"a"}, {"b"}},
  };
  for (const GrammarCase& test : cases) {
    expect_language(test);
  }
}

TEST(Gbnf, LeftRecursion) {
  const std::vector<GrammarCase> cases{
      {"root ::= root \"x\" | \"y\"", {"y", "yx", "yxxx"}, {"", "x", "xy"}},
      {"root ::= e\ne ::= e \"+\" t | t\nt ::= t \"*\" f | f\nf ::= \"(\" e \")\" | [0-9]",
       {"1", "1+2*3", "(1+2)*3", "((1))"},
       {"", "+", "1+", "(1", "1 2"}},
      {"root ::= a\na ::= b \"x\" | \"p\"\nb ::= a \"y\" | \"q\"",
       {"p", "qx", "pyx", "qxyx"},
       {"q", "py", "px"}},
      {"root ::= n root \"a\" | \"b\"\nn ::= \"c\"?",
       {"b", "ba", "cba", "ccbaa", "cbaa"},
       {"a", "cb", "ccba"}},
      {"root ::= root root | \"a\" | \"\"", {"", "a", "aaaa"}, {"b"}},
      {"root ::= root | \"a\"", {"a"}, {"", "aa"}},
      {"root ::= x | \"a\"\nx ::= x \"b\"", {"a"}, {"b", "ab"}},
  };
  for (const GrammarCase& test : cases) {
    expect_language(test);
  }
}

TEST(Gbnf, Json) {
  expect_language({R"gbnf(
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws

object ::=
  "{" ws (
            string ":" ws value
    ("," ws string ":" ws value)*
  )? "}" ws

array  ::=
  "[" ws (
            value
    ("," ws value)*
  )? "]" ws

string ::=
  "\"" (
    [^"\\\x7F\x00-\x1F] |
    "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
  )* "\"" ws

number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws

# Optional space: by convention, applied in this grammar after literal chars when allowed
ws ::= | " " | "\n" [ \t]{0,20}
)gbnf",
                   {"{}", R"({"a": [1, -2.5e+3, "x\u00e9\n"], "b":{"c":null}})", "{ }\n  "},
                   {"", "[]", "{\"a\"}", "{\"a\":01}", "{\"a\":\"\n\"}"}});
}

TEST(Gbnf, Errors) {
  const auto invalid = [](std::string_view grammar, std::string_view message) {
    expect_error(grammar, Errc::kInvalidArgument, message);
  };
  invalid("",
          "grammar: line 1, column 1: expected a rule, \"root ::= ...\" (GBNF) or \"start: "
          "...\" (Lark), found the end of the text");
  invalid("root = \"a\"",
          "grammar: line 1, column 6: expected \"::=\" (GBNF) or \":\" (Lark) after the first "
          "rule's name, found '='");
  invalid("main ::= \"a\"",
          "grammar: line 1, column 13: expected a rule that is defined, found 'root'");
  invalid("root ::= é", "grammar: line 1, column 10: expected an item, found 'é'");
  invalid("root ::= \"é\" )", "grammar: line 1, column 14: expected an item, found ')'");
  invalid("root ::= a\nb ::= \"b\"",
          "grammar: line 1, column 10: expected a rule that is defined, found 'a'");
  invalid("root ::= \"a\"\nroot ::= \"b\"",
          "grammar: line 2, column 1: expected one definition of 'root', found a second one");
  invalid("root ::= \"a\" b ::= \"b\"",
          "grammar: line 1, column 14: expected a rule at the beginning of a line, found 'b'");
  invalid("root ::= (\"a\"\nb ::= \"b\"", "grammar: line 2, column 1: expected ')', found 'b'");
  invalid("root ::= \"a",
          "grammar: line 1, column 12: expected '\"' at the end of the string, found the end of "
          "the text");
  invalid("root ::= \"a\n\"",
          "grammar: line 1, column 12: expected a character (a line end is written \\n), found "
          "the end of the line");
  invalid(R"(root ::= "\q")",
          "grammar: line 1, column 12: expected an escape that this notation knows, found 'q'");
  invalid(R"(root ::= "\x4")",
          "grammar: line 1, column 14: expected a hexadecimal digit, found '\"'");
  invalid(R"(root ::= "\ud800")",
          "grammar: line 1, column 11: expected a Unicode character, found \\ud800");
  invalid(R"(root ::= "\ud800\u0041")",
          "grammar: line 1, column 11: expected a low surrogate after a high one, found "
          "\\ud800\\u0041");
  invalid(R"(root ::= "\U00110000")",
          "grammar: line 1, column 11: expected a Unicode character, found \\U00110000");
  invalid("root ::= []",
          "grammar: line 1, column 11: expected a character in the class, found ']'");
  invalid("root ::= [b-a]", "grammar: line 1, column 11: expected a range that goes up, found b-a");
  invalid("root ::= [a",
          "grammar: line 1, column 12: expected a character (a line end is written \\n), found "
          "the end of the text");
  invalid("root ::= * \"a\"", "grammar: line 1, column 10: expected an item, found '*'");
  invalid("root ::= \"a\"*?", "grammar: line 1, column 14: expected an item, found '?'");
  invalid("root ::= \"a\"{x}", "grammar: line 1, column 14: expected a number, found 'x'");
  invalid("root ::= \"a\"{2",
          "grammar: line 1, column 15: expected '}', found the end of the text");
  invalid("root ::= \"a\"{3,2}",
          "grammar: line 1, column 14: expected a range of repetitions that goes up, found {3,2}");
  invalid("root ::= \"a\"{1000001}",
          "grammar: line 1, column 14: expected a number of at most 1000000, found a larger one");
  invalid("root ::= x.\nx ::= \"a\"",
          "grammar: line 1, column 11: expected a space between a name and '.', found '.'");
  invalid("root ::= \"\xFF\"",
          "grammar: line 1, column 11: expected valid UTF-8, found a byte that is not");
  invalid("root ::= root",
          "grammar: rule 'root': expected a rule that some finite text matches, found that none "
          "does");
  invalid("root ::= \"a\" x\nx ::= \"b\" x",
          "grammar: rule 'root': expected a rule that some finite text matches, found that none "
          "does");
  const auto unsupported = [](std::string_view grammar, std::string_view message) {
    expect_error(grammar, Errc::kUnsupported, message);
  };
  unsupported("root ::= <[1000]>",
              "grammar: line 1, column 10: a token reference (<...>) is not supported");
  unsupported("root ::= \"a\" (= \"b\")",
              "grammar: line 1, column 14: a lookahead assertion (=...) is not supported");
}

TEST(Gbnf, GroupsInGroupsAreBounded) {
  const auto nested = [](int depth) {
    const auto count = static_cast<std::size_t>(depth);
    return "root ::= " + std::string(count, '(') + "\"a\"" + std::string(count, ')');
  };
  expect_language({nested(100), {"a"}, {""}});
  expect_error(nested(101), Errc::kInvalidArgument,
               "grammar: line 1, column 110: expected at most 100 nested groups, found one more");
}

TEST(Gbnf, BudgetEndsTheWork) {
  std::string text = "root ::= \"\"";
  for (int i = 0; i < 1000; ++i) {
    text += " | \"abc\"";
  }
  Budget budget(9000);
  const auto rules = parse_grammar(text, budget);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak::grammar
