// SPDX-License-Identifier: Apache-2.0
#include "grammar/string_lexer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace daybreak::grammar {
namespace {

// A language of the strings given, or of every string if none is.
std::shared_ptr<const StringLanguage> language(std::vector<std::string> strings,
                                               std::uint32_t least = 0,
                                               std::uint32_t most = kNoMaxChars) {
  Budget budget(1'000'000);
  auto dfa = strings.empty() ? Dfa::all() : *Dfa::strings(strings, budget);
  return *StringLanguage::make(std::make_shared<const Dfa>(std::move(dfa)), least, most, budget);
}

// Returns what the last byte of `text` does, or nothing if an earlier one ended the string.
std::optional<StringStep> last_step(const StringLanguage& language, std::string_view text,
                                    StringCoding coding = StringCoding::kJson) {
  StringState state;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const StringStep stepped = step(language, coding, state, static_cast<std::uint8_t>(text[at]));
    if (at + 1 == text.size()) {
      return stepped;
    }
    if (stepped != StringStep::kInside) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

TEST(StringLexer, ReadsEveryEscape) {
  const auto odd = language({"\"\\/\b\f\n\r\t\xE2\x82\xAC\xF0\x9F\x98\x80"});
  EXPECT_EQ(last_step(*odd, R"(\"\\\/\b\f\n\r\t\u20aC\uD83d\uDe00")"), StringStep::kClosed);
  EXPECT_EQ(
      last_step(*odd,
                "\\u0022\\u005c/\\u0008\\u000C\\u000a\\u000d\\u0009\xE2\x82\xAC\xF0\x9F\x98\x80\""),
      StringStep::kClosed);
  EXPECT_EQ(last_step(*odd, "\\x"), StringStep::kDead);
}

TEST(StringLexer, RefusesWhatIsNotJson) {
  const auto any = StringLanguage::all();
  for (const std::string_view text :
       {std::string_view("\0", 1),        std::string_view("\n"),
        std::string_view("\x1F"),         std::string_view("\\U"),
        std::string_view("\\'"),          std::string_view("\\u00g"),
        std::string_view("\\ud83dx"),     std::string_view("\\ud83d\\n"),
        std::string_view("\\ud83d\\udb"), std::string_view("\\udc"),
        std::string_view("\\uDF"),        std::string_view("\x80"),
        std::string_view("\xC1"),         std::string_view("\xE0\x9F"),
        std::string_view("\xED\xA0"),     std::string_view("\xF0\x8F"),
        std::string_view("\xF4\x90"),     std::string_view("\xF5"),
        std::string_view("\xC3\""),       std::string_view("\\ud83d\"")}) {
    EXPECT_EQ(last_step(*any, text), StringStep::kDead) << ::testing::PrintToString(text);
  }
  for (const std::string_view text : {"\x7F", "\\ud83d\\udf", "\xED\x9F", "\xF4\x8F", "\xF0\x90"}) {
    EXPECT_EQ(last_step(*any, text), StringStep::kInside) << ::testing::PrintToString(text);
  }
}

TEST(StringLexer, TakesControlCharactersAndQuotesInRawText) {
  const auto any = StringLanguage::all();
  for (const std::string_view text : {std::string_view("\0", 1), std::string_view("\n"),
                                      std::string_view("\""), std::string_view("\\x")}) {
    EXPECT_EQ(last_step(*any, text, StringCoding::kRaw), StringStep::kInside);
  }
  EXPECT_EQ(last_step(*any, "\xED\xA0", StringCoding::kRaw), StringStep::kDead);
}

// An escape is entered only where it can end in the language.
TEST(StringLexer, LooksAheadWithinACodePoint) {
  const auto letter = language({"a"});
  EXPECT_EQ(last_step(*letter, "\\u006"), StringStep::kInside);
  EXPECT_EQ(last_step(*letter, "\\u0061\""), StringStep::kClosed);
  for (const std::string_view text : {"\\n", "\\u1", "\\u01", "\\u007", "\\u0062", "\xC3", "b"}) {
    EXPECT_EQ(last_step(*letter, text), StringStep::kDead) << text;
  }
  const auto face = language({"\xF0\x9F\x98\x80"});
  EXPECT_EQ(last_step(*face, "\xF0\x9F\x98"), StringStep::kInside);
  EXPECT_EQ(last_step(*face, "\xF0\x9F\x99"), StringStep::kDead);
  EXPECT_EQ(last_step(*face, "\\ud83d\\ude0"), StringStep::kInside);
  EXPECT_EQ(last_step(*face, "\\ud83e"), StringStep::kDead);
  EXPECT_EQ(last_step(*face, "\\ud83d\\udd"), StringStep::kDead);
  EXPECT_EQ(last_step(*face, "\\u0"), StringStep::kDead);
  EXPECT_EQ(last_step(*language({"a", "b\xC3\xA9"}), "a\\"), StringStep::kDead);
}

TEST(StringLexer, CountsCodePoints) {
  const auto two = language({}, 1, 2);
  EXPECT_EQ(last_step(*two, "\""), StringStep::kDead);
  EXPECT_EQ(last_step(*two, "\\ud83d\\ude00\xC3\xA9\""), StringStep::kClosed);
  EXPECT_EQ(last_step(*two, "abc"), StringStep::kDead);
  EXPECT_EQ(last_step(*two, "ab\\"), StringStep::kDead);
  EXPECT_EQ(last_step(*two, "ab\xC3"), StringStep::kDead);
}

TEST(StringLexer, StopsCountingWhereNothingDependsOnIt) {
  const auto long_enough = language({}, 3);
  StringState state;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(step(*long_enough, StringCoding::kJson, state, 'x'), StringStep::kInside);
    EXPECT_EQ(state.chars, std::min<std::uint32_t>(3, static_cast<std::uint32_t>(i) + 1));
    EXPECT_EQ(can_close(*long_enough, state), i >= 2);
  }
}

}  // namespace
}  // namespace daybreak::grammar
