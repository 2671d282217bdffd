// SPDX-License-Identifier: Apache-2.0
#include "grammar/regex.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "grammar/regex_ast.h"
#include "grammar/regex_classes.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint64_t kSteps = 1'000'000;

Result<Dfa> compile(const std::string& pattern, RegexMatch match, std::uint64_t steps = kSteps) {
  Budget budget(steps);
  return compile_regex(pattern, match, budget);
}

Dfa whole(const std::string& pattern) {
  auto language = compile(pattern, RegexMatch::kWhole);
  EXPECT_TRUE(language) << pattern << ": " << (language ? "" : language.error().message);
  return language ? *std::move(language) : Dfa();
}

Dfa search(const std::string& pattern) {
  auto language = compile(pattern, RegexMatch::kSearch);
  EXPECT_TRUE(language) << pattern << ": " << (language ? "" : language.error().message);
  return language ? *std::move(language) : Dfa();
}

Error error(const std::string& pattern, std::uint64_t steps = kSteps) {
  const auto language = compile(pattern, RegexMatch::kSearch, steps);
  EXPECT_FALSE(language) << pattern;
  return language ? Error{Errc::kIo, ""} : language.error();
}

std::vector<std::string> listed(const std::string& pattern) {
  return whole(pattern).list(1000).value_or(std::vector<std::string>{"infinite"});
}

using Strings = std::vector<std::string>;

TEST(Regex, RefusesTheClassesOfAnotherDialect) {
  Budget budget(100'000);
  const auto posix = compile_regex("[[:digit:]]{3}", RegexMatch::kWhole, budget);
  ASSERT_FALSE(posix);
  EXPECT_EQ(posix.error().code, Errc::kInvalidArgument);
  EXPECT_NE(posix.error().message.find("at byte 1"), std::string::npos) << posix.error().message;
  EXPECT_TRUE(compile_regex("[[:]", RegexMatch::kWhole, budget));
}

TEST(Regex, ListsSmallLanguages) {
  EXPECT_EQ(listed(""), Strings{""});
  EXPECT_EQ(listed("ab|c"), (Strings{"c", "ab"}));
  EXPECT_EQ(listed("a{2}b?"), (Strings{"aa", "aab"}));
  EXPECT_EQ(listed("(?:a|b){1,2}"), (Strings{"a", "b", "aa", "ab", "ba", "bb"}));
  EXPECT_EQ(listed("a{0}"), Strings{""});
  EXPECT_EQ(listed("[a-c]"), (Strings{"a", "b", "c"}));
  EXPECT_EQ(listed("[]"), Strings());
  EXPECT_EQ(listed("(?<name>x)(y)(?:z)"), Strings{"xyz"});
}

TEST(Regex, SearchIsUnanchoredAndWholeIsNot) {
  EXPECT_TRUE(search("b").contains("a\nb\nc"));
  EXPECT_FALSE(whole("b").contains("abc"));
  EXPECT_EQ(search("^b$"), whole("b"));
  EXPECT_EQ(search(""), Dfa::all());
  EXPECT_EQ(whole("^$|^a$"), whole("a?"));
}

// The trap of an engine that lets $ match before a final newline.
TEST(Regex, DollarIsTheEnd) {
  EXPECT_TRUE(search("^\\n$").contains("\n"));
  EXPECT_FALSE(search("^\\n$").contains(""));
  EXPECT_FALSE(search("^a$").contains("a\n"));
  EXPECT_FALSE(search("^a$").contains("b\na"));
}

TEST(Regex, AnchorsMayStandAnywhere) {
  EXPECT_EQ(search("a^b"), Dfa());
  EXPECT_EQ(search("a$b"), Dfa());
  EXPECT_EQ(search("a*^b"), search("^b"));
  EXPECT_EQ(search("(?:^|,)a(?:,|$)"), search("^a$|^a,|,a,|,a$"));
  EXPECT_EQ(search("a$|^b"), search("(?:^b|a$)"));
}

TEST(Regex, EqualLanguagesAreEqualValues) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"(a|b)*", "(a*b*)*"},
      {"a+", "aa*"},
      {"a{2,4}", "aa(a?){2}"},
      {"[^\\d]", "\\D"},
      {"[\\s\\S]", "[^]"},
      {".", "[^\\n\\r\\u2028\\u2029]"},
      {"\\w", "[0-9A-Za-z_]"},
      {"a*?b+?", "a*b+"},
      {"(?=a)[^]b", "ab"},
      {"(?!a)[a-c]", "[bc]"},
      {"(?!b)(?!a)[a-c]", "c"},
      {"(?:(?!a)[a-c])*", "[bc]*"},
      {"(?=[^]{2}$)a*", "aa"},
      {"(?=(?!b)[ab])[^]", "a"},
      {"\\ba\\b", "a"},
      {"a\\bb", "[]"},
      {"a\\Bb", "ab"},
      {"(?:a\\b|-)*", "a?(?:-a?)*"},
      {"\\B", ""},
      {"\\b", "[]"},
      {"\\x41\\u0042\\u{43}\\cJ", "ABC\\n"},
      {"\\ud83d\\ude00", "\\u{1F600}"},
      {"\\ud83d", "[]"},
      {"[\\ud800-\\udfff]", "[]"},
      {"[\\ud83d\\ude00-\\ud83d\\ude02]", "[\\u{1F600}-\\u{1F602}]"},
      {"\\p{L}", "[\\p{Letter}]"},
      {"\\P{L}", "[^\\p{gc=L}]"},
      {"\\p{General_Category=Nd}", "\\p{digit}"},
      {"\\p{LC}", "[\\p{Lu}\\p{Ll}\\p{Lt}]"},
      {"\\p{Any}", "[^]"},
  };
  for (const auto& [a, b] : pairs) {
    EXPECT_EQ(whole(a), whole(b)) << a << " and " << b;
  }
}

// Not of the u flag's grammar, but written by people and without a second meaning.
TEST(Regex, ToleratesWhatCannotMeanAnythingElse) {
  EXPECT_EQ(listed("\\-\\_\\@\\/\\\"\\#"), Strings{"-_@/\"#"});
  EXPECT_EQ(listed("{a}]x{y"), Strings{"{a}]x{y"});
  EXPECT_EQ(whole("[\\d-x]"), whole("[-0-9x]"));
  EXPECT_EQ(whole("[+-]"), whole("\\+|-"));
  EXPECT_EQ(whole("(?:^)*a"), whole("a"));
}

TEST(Regex, LookaheadInsideARepeat) {
  const Dfa language = search("^(?:(?!foo).)*$");
  EXPECT_TRUE(language.contains("fofo oo"));
  EXPECT_FALSE(language.contains("a foo"));
  EXPECT_FALSE(language.contains("a\n"));
  EXPECT_EQ(language.states(), 3U);
}

TEST(Regex, PasswordRules) {
  const Dfa language = search("^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d).{8,}$");
  EXPECT_TRUE(language.contains("aB345678"));
  EXPECT_FALSE(language.contains("aB34567"));
  EXPECT_FALSE(language.contains("ab345678"));
}

TEST(Regex, NamesWhatIsNotAPattern) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a)", "at byte 1: expected no ')'"},
      {"(a", "at byte 0: expected a ')'"},
      {"[a", "at byte 0: expected a ']'"},
      {"*a", "at byte 0: expected something to repeat"},
      {"a**", "at byte 2: expected something to repeat"},
      {"a{2}{3}", "at byte 4: expected something to repeat"},
      {"{2}", "at byte 0: expected something to repeat"},
      {"a{3,2}", "at byte 0: expected a quantifier"},
      {"a{,2}", "at byte 1: expected {0,m}"},
      {"^*", "at byte 1: expected no quantifier after an assertion"},
      {"(?=a)*", "at byte 5: expected no quantifier after an assertion"},
      {"[b-a]", "at byte 1: expected a range"},
      {"\\", "at byte 0: expected something after"},
      {"\\a", "found \\a"},
      {"\\z", "found \\z"},
      {"[\\B]", "found \\B"},
      {"\\01", "found \\0"},
      {"\\c1", "found \\c"},
      {"\\x4", "two hexadecimal digits"},
      {"\\u12", "expected \\uHHHH"},
      {"\\u{110000}", "10FFFF"},
      {"\\u{}", "10FFFF"},
      {"\\p", "expected \\p{...}"},
      {"\\1", "expected a group for backreference \\1, found 0 groups"},
      {"(?P<n>a)", "at byte 0: expected (?:"},
      {"(?<1>a)", "expected a group name"},
      {"(?<>a)", "expected (?<name>"},
      {"\xFF", "expected UTF-8"},
  };
  for (const auto& [pattern, message] : cases) {
    const Error found = error(pattern);
    EXPECT_EQ(found.code, Errc::kInvalidArgument) << pattern;
    EXPECT_NE(found.message.find(message), std::string::npos) << pattern << ": " << found.message;
  }
}

TEST(Regex, NamesWhatIsNotSupported) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"(a)\\1", "backreferences such as \\1"},
      {"\\1(a)", "backreferences such as \\1"},
      {"(?<n>a)\\k<n>", "named backreferences"},
      {"(?<=a)b", "lookbehind"},
      {"(?<!a)b", "lookbehind"},
      {"\\p{Greek}", "\\p{Greek}"},
      {"[\\P{Lm}]", "\\P{Lm}"},
      {"(?i:a)", "(?i:"},
  };
  for (const auto& [pattern, message] : cases) {
    const Error found = error(pattern);
    EXPECT_EQ(found.code, Errc::kUnsupported) << pattern;
    EXPECT_NE(found.message.find(message), std::string::npos) << pattern << ": " << found.message;
  }
}

TEST(Regex, NestingIsBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "a" + std::string(depth, ')');
  };
  EXPECT_EQ(whole(nested(kMaxRegexDepth)), whole("a"));
  EXPECT_EQ(error(nested(kMaxRegexDepth + 1)).code, Errc::kInvalidArgument);
}

TEST(Regex, CountedRepeatsCostWhatTheyCount) {
  Budget cheap(10'000);
  EXPECT_EQ((*compile_regex("^[a-z]{0,64}$", RegexMatch::kSearch, cheap)).states(), 65U);
  Budget long_one(400'000);
  EXPECT_EQ((*compile_regex("^.{1,4000}$", RegexMatch::kSearch, long_one)).states(), 4001U);
  for (const char* pattern : {"(?:){1000000000}", "(?:a{1,1000}){1,100000}", "a{99999999999999999}",
                              "^(?:a|b)*a(?:a|b){40}$", "(((((?:){99}){99}){99}){99}){99}"}) {
    EXPECT_EQ(error(pattern).code, Errc::kTooLarge) << pattern;
  }
}

TEST(Regex, EveryBudgetEndsInAnErrorOrTheAnswer) {
  const std::string pattern = "^(?:(?!foo)\\p{L}|\\b[^a-f]{2,5}$)+";
  const Dfa expected = search(pattern);
  for (std::uint64_t steps = 0; steps < 40'000; steps += 997) {
    const auto language = compile(pattern, RegexMatch::kSearch, steps);
    EXPECT_TRUE(language ? *language == expected : language.error().code == Errc::kTooLarge);
  }
}

TEST(RegexClasses, AreThoseOfEcma262) {
  for (std::uint32_t code : {0x09U, 0x0BU, 0x20U, 0xA0U, 0x1680U, 0x2028U, 0x3000U, 0xFEFFU}) {
    EXPECT_TRUE(space_class().contains(code)) << code;
  }
  EXPECT_FALSE(space_class().contains(0x85));    // White_Space, but not \s
  EXPECT_FALSE(space_class().contains(0x180E));  // Zs before Unicode 6.3
  EXPECT_FALSE(dot_class().contains(0x2028));
  EXPECT_TRUE(dot_class().contains(0x85));
  EXPECT_FALSE(word_class().contains(0xE4));
  EXPECT_EQ(property_class("Nd")->ranges().size(), 71U);  // 116D0 is followed by a second ten
  EXPECT_TRUE(property_class("Lt")->contains(0x1C5));
  EXPECT_FALSE(property_class("Lu")->contains(0x1C5));
  EXPECT_EQ(property_class("gc=Any"), nullptr);
  EXPECT_EQ(property_class("letter"), nullptr);
}

}  // namespace
}  // namespace daybreak::grammar
