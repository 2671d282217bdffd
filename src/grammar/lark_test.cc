// SPDX-License-Identifier: Apache-2.0
// What Lark texts mean, shown by the texts they accept and refuse, and every message.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "grammar/test_grammar_text.h"

namespace daybreak::grammar {
namespace {

TEST(Lark, Items) {
  const std::vector<GrammarCase> cases{
      {R"(start: "a")", {"a"}, {"", "b"}},
      {R"(start: "a" B | c
B: "b"
c: "c")",
       {"ab", "c"},
       {"a", "abc"}},
      {R"(start: ("a" | "b") "c")", {"ac", "bc"}, {"c"}},
      {R"(start: "a" ["b"])", {"a", "ab"}, {"abb"}},
      {R"(start: "a"? "b"* "c"+)", {"c", "abbcc"}, {"a", "aac"}},
      {R"(start: "a"~2 "b" ~ 1..2)", {"aab", "aabb"}, {"ab", "aabbb"}},
      {R"(start: "a"{2} "b"{1,})", {"aab", "aabbb"}, {"aa"}},
      {R"(start: "a".."c")", {"a", "c"}, {"d", "ab"}},
      {R"(start: "Ab-1"i)", {"ab-1", "AB-1", "aB-1"}, {"ab_1"}},
      {R"(start: "\"\\\n\t\r\f\x41\u00e9\U0001F600")", {"\"\\\n\t\r\fAé😀"}, {}},
      {R"(start: "é")", {"é"}, {}},
      {R"(start: )", {""}, {"a"}},
      {"start:\n  | \"a\"\n  | \"b\"", {"", "a", "b"}, {"ab"}},
  };
  for (const GrammarCase& test : cases) {
    expect_language(test);
  }
}

TEST(Lark, WhatOnlyShapesTheTreeIsIgnored) {
  expect_language({R"(
// comment
# comment
?start: sum        // inline when it has one child
!sum: sum "+" _term -> add   # keep tokens
    | _term
?_term: "1" -> one
      | "2"
)",
                   {"1", "1+2+1"},
                   {"", "1+", "+1"}});
}

TEST(Lark, Regex) {
  const std::vector<GrammarCase> cases{
      {R"(start: /[a-c]+\/\d/)", {"a/1", "abc/9"}, {"/1", "a/", "d/1"}},
      {R"(start: /ab|cd/ "e")", {"abe", "cde"}, {"abcde", "ab"}},
      {R"(start: /\"[^\"\-]*\"/ /\-?/)", {"\"a\"", "\"\"-"}, {"\"-\""}},
      {R"(start: /x*/ "y" /(a|b)*c/)", {"yc", "xxyabc"}, {"y", "xc"}},
      {R"(start: N ("," N)*
N: /[1-9]/ /[0-9]/*)",
       {"1", "10,2", "7,80,900"},
       {"0", "1,", "01"}},
      {R"(start: /é+|😀{2}/)", {"é", "éé", "😀😀"}, {"😀"}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    expect_language(cases[i]);
  }
}

TEST(Lark, IgnoredTextStandsBetweenTerminalsOnly) {
  expect_language({R"(
start: WORD ("," WORD)*
WORD: LETTER LETTER+
%import common.LETTER
%import common.WS_INLINE
%ignore WS_INLINE
%ignore "#"
)",
                   {"ab", "ab,cd", " ab , cd ", "##ab#,# cd\t"},
                   {"", "a b", "ab cd", "ab,", "ab\n"}});
  // Nothing but ignored text is a text of the empty derivation.
  expect_language({"start: \"a\"*\n%ignore / */", {"", "  ", "a a ", " aa"}, {"b"}});
  // The text of the directive inside a string makes no difference.
  expect_language({"start: \"%ignore\" \"a\"", {"%ignorea"}, {"%ignore a"}});
}

TEST(Lark, CommonTerminals) {
  const auto terminal = [](std::string_view name) {
    return "start: " + std::string(name) + "\n%import common." + std::string(name);
  };
  struct Common {
    std::string_view name;
    std::vector<std::string_view> accepted;
    std::vector<std::string_view> refused;
  };
  const std::vector<Common> cases{
      {"DIGIT", {"0", "9"}, {"10", "a"}},
      {"HEXDIGIT", {"0", "f", "F"}, {"g"}},
      {"INT", {"0", "007"}, {"", "-1"}},
      {"SIGNED_INT", {"1", "-1", "+1"}, {"--1"}},
      {"DECIMAL", {"1.", "1.5", ".5"}, {".", "1"}},
      {"FLOAT", {"1e5", "1.5", "1.E-3", ".5e+1"}, {"1", "e5"}},
      {"SIGNED_FLOAT", {"-1.5", "1e5"}, {"-1"}},
      {"NUMBER", {"1", "1.5", "2e9"}, {"-1"}},
      {"SIGNED_NUMBER", {"-1", "+1.5", "1"}, {"-"}},
      {"ESCAPED_STRING", {R"("")", R"("a\"b\\")"}, {R"("a"b")", R"("\")", "\"\n\"", "a"}},
      {"LCASE_LETTER", {"a"}, {"A"}},
      {"UCASE_LETTER", {"A"}, {"a"}},
      {"LETTER", {"a", "Z"}, {"1", "é"}},
      {"WORD", {"Word"}, {"", "two words"}},
      {"CNAME", {"_a1", "x"}, {"1a", "a-b"}},
      {"WS_INLINE", {" ", "\t "}, {"\n", ""}},
      {"WS", {" \t\f\r\n"}, {"", "a"}},
      {"CR", {"\r"}, {"\n"}},
      {"LF", {"\n"}, {"\r"}},
      {"NEWLINE", {"\n", "\r\n\n"}, {"\r", ""}},
      {"SH_COMMENT", {"#", "# a"}, {"#\n"}},
      {"CPP_COMMENT", {"// a"}, {"/ a", "//\n"}},
      {"C_COMMENT", {"/**/", "/* * \n **/"}, {"/*/", "/* */ */"}},
      {"SQL_COMMENT", {"-- a"}, {"- a"}},
  };
  for (const Common& test : cases) {
    expect_language({terminal(test.name), test.accepted, test.refused});
  }
  expect_language(
      {"%import common.INT -> N\n%import common (WORD, LF)\nstart: N WORD LF", {"1a\n"}, {"1a"}});
}

TEST(Lark, Errors) {
  const auto invalid = [](std::string_view grammar, std::string_view message) {
    expect_error(grammar, Errc::kInvalidArgument, message);
  };
  invalid("x: \"a\"", "grammar: line 1, column 7: expected a rule that is defined, found 'start'");
  invalid("start: x", "grammar: line 1, column 8: expected a rule that is defined, found 'x'");
  invalid("start: X", "grammar: line 1, column 8: expected a rule that is defined, found 'X'");
  invalid("start: \"a\"\nstart: \"b\"",
          "grammar: line 2, column 1: expected one definition of 'start', found a second one");
  invalid("%import common.INT\nINT: \"1\"\nstart: INT",
          "grammar: line 2, column 1: expected one definition of 'INT', found a second one");
  invalid("start: xY", "grammar: line 1, column 8: expected an item, found 'x'");
  invalid("start: \"a\"\nRule: \"b\"", "grammar: line 2, column 1: expected an item, found 'R'");
  invalid("start: \"a\" )", "grammar: line 1, column 12: expected an item, found ')'");
  invalid("start: (\"a\" ]", "grammar: line 1, column 13: expected ')', found ']'");
  invalid("start: [\"a\"", "grammar: line 1, column 12: expected ']', found the end of the text");
  invalid("start: \"a\"*?", "grammar: line 1, column 12: expected an item, found '?'");
  invalid("start: \"\\d\"",
          "grammar: line 1, column 10: expected an escape that this notation knows, found 'd'");
  invalid("start: \"a",
          "grammar: line 1, column 10: expected '\"' at the end of the string, found the end of "
          "the text");
  invalid("start: \"a\"ix",
          "grammar: line 1, column 11: expected the flag i or a space after the string, found 'i'");
  invalid("start: \"ab\"..\"c\"",
          "grammar: line 1, column 8: expected a range of two characters that goes up, found "
          "\"ab\"..\"c\"");
  invalid("start: \"b\"..\"a\"",
          "grammar: line 1, column 8: expected a range of two characters that goes up, found "
          "\"b\"..\"a\"");
  invalid("start: \"a\"..b",
          "grammar: line 1, column 13: expected '\"' at the other end of the range, found 'b'");
  invalid("start: \"a\"~3..2",
          "grammar: line 1, column 12: expected a range of repetitions that goes up, found 3..2");
  invalid("start: \"a\" -> 1", "grammar: line 1, column 15: expected a name after '->', found '1'");
  invalid("start: \"a\" -> x \"b\"",
          "grammar: line 1, column 17: expected the end of the alternative after its alias, found "
          "'\"'");
  invalid("start: A\nA: \"a\" b\nb: \"b\"",
          "grammar: line 2, column 8: expected only terminals inside a terminal, found the rule "
          "'b'");
  invalid("start: C\nC: A\nA: B \"a\"\nB: \"b\" | A",
          "grammar: line 3, column 1: expected a terminal that does not contain itself, found "
          "'A'");
  invalid("start: \"a\" %ignore \" \"",
          "grammar: line 1, column 12: expected directives at the beginning of a line, found "
          "%ignore");
  invalid("start: /a",
          "grammar: line 1, column 10: expected '/' at the end of the regular "
          "expression, found the end of the text");
  invalid("start: start \"a\"",
          "grammar: rule 'start': expected a rule that some finite text matches, found that none "
          "does");
  invalid("start: /[^\\s\\S]/",
          "grammar: line 1, column 8: expected a regular expression that some text matches, found "
          "/[^\\s\\S]/");
  invalid("%import common.int\nstart: \"a\"",
          "grammar: line 1, column 19: expected the name of a terminal, found the end of the line");
}

TEST(Lark, WhatIsNotSupportedIsNamed) {
  const auto unsupported = [](std::string_view grammar, std::string_view what) {
    expect_error(grammar, Errc::kUnsupported,
                 "grammar: " + std::string(what) + " is not supported");
  };
  unsupported("start.2: \"a\"", "line 1, column 6: a priority");
  unsupported("start: A\nA.2: \"a\"", "line 2, column 2: a priority");
  unsupported("start: list{\"a\"}", "line 1, column 12: a template rule");
  unsupported("list{x}: x x\nstart: list{\"a\"}", "line 1, column 5: a template rule");
  unsupported("start[lazy]: \"a\"", "line 1, column 6: a rule attribute");
  unsupported("%declare A\nstart: A", "line 1, column 1: %declare");
  unsupported("start: %json { \"type\": \"object\" }", "line 1, column 8: %json");
  unsupported("%llguidance {}\nstart: \"a\"", "line 1, column 1: %llguidance");
  unsupported("%import python.NAME\nstart: NAME",
              "line 1, column 9: %import of anything but common");
  unsupported("%import .other.NAME\nstart: NAME",
              "line 1, column 9: %import of anything but common");
  unsupported("%import common.NOPE\nstart: NOPE", "line 1, column 16: %import common.NOPE");
  unsupported("start: /a/i", "line 1, column 11: a flag of a regular expression ('i')");
  unsupported("start: \"é\"i", "line 1, column 8: the flag i with characters outside ASCII");
  unsupported("start: <|think|>", "line 1, column 8: a token reference (<...>)");
  unsupported("start: A\nA: ~\"a\"", "line 2, column 4: a set operation on terminals ('~', '&')");
  unsupported("start: A\nA: \"a\" & \"b\"",
              "line 2, column 8: a set operation on terminals ('~', '&')");
}

}  // namespace
}  // namespace daybreak::grammar
