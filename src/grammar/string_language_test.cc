// SPDX-License-Identifier: Apache-2.0
#include "grammar/string_language.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "grammar/regex.h"

namespace daybreak::grammar {
namespace {

using Language = std::shared_ptr<const StringLanguage>;

std::shared_ptr<const Dfa> regex(std::string_view pattern) {
  Budget budget(1'000'000);
  auto dfa = compile_regex(pattern, RegexMatch::kWhole, budget);
  EXPECT_TRUE(dfa) << pattern;
  return std::make_shared<const Dfa>(dfa ? *std::move(dfa) : Dfa());
}

Language make(std::shared_ptr<const Dfa> dfa, std::uint32_t min, std::uint32_t max = kNoMaxChars) {
  Budget budget(1'000'000);
  auto language = StringLanguage::make(std::move(dfa), min, max, budget);
  EXPECT_TRUE(language);
  return language ? *std::move(language) : nullptr;
}

Language free_language(std::uint32_t min, std::uint32_t max = kNoMaxChars) {
  return make(std::make_shared<const Dfa>(Dfa::all()), min, max);
}

TEST(StringLanguage, IsOneObjectWhenItIsEveryString) {
  EXPECT_EQ(free_language(0), StringLanguage::all());
  EXPECT_TRUE(StringLanguage::all()->free());
  EXPECT_FALSE(StringLanguage::all()->bounded());
  EXPECT_TRUE(StringLanguage::all()->viable(0, 0xFFFFFFFF));
}

TEST(StringLanguage, OfOneContentIsOneObjectWhileItLives) {
  const auto one = free_language(1);
  EXPECT_EQ(free_language(1), one);
  EXPECT_NE(free_language(2)->id(), one->id());
  EXPECT_NE(free_language(1, 9)->id(), one->id());
  EXPECT_EQ(make(regex("ab?"), 0), make(regex("ab|a"), 0));
}

TEST(StringLanguage, CountsCodePointsNotBytes) {
  const auto two = free_language(2, 2);
  EXPECT_TRUE(two->contains("éö"));
  EXPECT_TRUE(two->contains("😀😀"));
  EXPECT_FALSE(two->contains("ab!"));
  EXPECT_FALSE(two->contains("a"));
  EXPECT_TRUE(two->viable(0, 2));
  EXPECT_FALSE(two->viable(0, 3));
  EXPECT_FALSE(two->accepts(0, 1));
  EXPECT_TRUE(two->accepts(0, 2));
}

TEST(StringLanguage, IsNullExactlyWhenEmpty) {
  EXPECT_EQ(free_language(3, 2), nullptr);
  EXPECT_EQ(make(std::make_shared<const Dfa>(), 0), nullptr);
  EXPECT_EQ(make(regex("abc"), 4), nullptr);
  EXPECT_EQ(make(regex("abc"), 0, 2), nullptr);
  EXPECT_NE(make(regex("abc"), 3, 3), nullptr);
  EXPECT_EQ(make(regex("(aa)*"), 3, 3), nullptr);
  EXPECT_NE(make(regex("(aa)*"), 3, 4), nullptr);
  EXPECT_EQ(make(regex("a|abcde"), 2, 4), nullptr);
  EXPECT_EQ(make(regex("(a{7})*b?"), 16, 20), nullptr);
  EXPECT_NE(make(regex("(a{7})*b?"), 15, 20), nullptr);
}

TEST(StringLanguage, KnowsLengthsWithGaps) {
  const auto pairs = make(regex("(aa)*"), 3);
  const Dfa::State odd = pairs->dfa().next(Dfa::kStart, 'a');
  EXPECT_TRUE(pairs->viable(odd, 1));
  EXPECT_FALSE(pairs->accepts(Dfa::kStart, 2));
  EXPECT_TRUE(pairs->accepts(Dfa::kStart, 4));
  const auto fork = make(regex("a|bcdef|b"), 2, 5);
  EXPECT_FALSE(fork->viable(fork->dfa().next(Dfa::kStart, 'a'), 1));
  EXPECT_TRUE(fork->viable(fork->dfa().next(Dfa::kStart, 'b'), 1));
}

TEST(StringLanguage, DropsBoundsThatThePatternImplies) {
  const auto date = make(regex(R"(\d{4}-\d{2})"), 1, 100);
  EXPECT_EQ(date->min_chars(), 0u);
  EXPECT_EQ(date->max_chars(), kNoMaxChars);
  EXPECT_FALSE(date->bounded());
  EXPECT_TRUE(make(regex("[a-z]*"), 1, 100)->bounded());
}

TEST(StringLanguage, CostsNothingForWideBounds) {
  const auto wide = make(regex("[a-z]+(-[a-z]+)*"), 5, 100'000);
  EXPECT_LT(wide->bytes(), 4'096u);
  EXPECT_TRUE(wide->viable(Dfa::kStart, 0));
  EXPECT_EQ(wide->count(Dfa::kStart, 0, 1'000'000), 1'000'000u);
  EXPECT_LT(free_language(100'000, 2'000'000)->bytes(), 4'096u);
  EXPECT_EQ(make(regex("a*"), 5, 2'000'000'000)->count(Dfa::kStart, 0, 1'000'000), 1'000'000u);
}

TEST(StringLanguage, RefusesWhatIsTooLargeToCombine) {
  const auto dfa = regex("([a-z]{3}-){20}x*|y{7}");
  Budget budget(100'000'000);
  const auto too_large = StringLanguage::make(dfa, 999'990, 1'000'000, budget);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, Errc::kUnsupported);
  EXPECT_NE(too_large.error().message.find("minLength 999990 and maxLength 1000000"),
            std::string::npos);
  EXPECT_TRUE(StringLanguage::make(dfa, 999'990, kNoMaxChars, budget));
  EXPECT_TRUE(StringLanguage::make(dfa, kMaxCombinedMinChars, 3'000'000'000, budget));
  EXPECT_FALSE(StringLanguage::make(dfa, kMaxCombinedMinChars + 1, 3'000'000'000, budget));
  const auto pairs = regex("(aa)*");
  EXPECT_TRUE(StringLanguage::make(pairs, kMaxCombinedMinChars, kMaxCombinedMinChars, budget));
  // Edges and states times max_chars just within, and just beyond kMaxLengthSteps.
  const auto wide = regex("(a{64})*");
  const auto at_most = static_cast<std::uint32_t>(kMaxLengthSteps / 128);
  EXPECT_TRUE(StringLanguage::make(wide, at_most - 10, at_most, budget));
  EXPECT_FALSE(StringLanguage::make(wide, at_most - 9, at_most + 1, budget));
  Budget none(1);
  const auto spent = StringLanguage::make(pairs, 10, 10, none);
  ASSERT_FALSE(spent);
  EXPECT_EQ(spent.error().code, Errc::kTooLarge);
}

TEST(StringLanguage, CountsCompletions) {
  EXPECT_EQ(free_language(0, 0)->count(0, 0, 10), 1u);
  EXPECT_EQ(free_language(0, 1)->count(0, 0, 10'000'000), 1u + 0x110000 - 0x800);
  EXPECT_EQ(free_language(0, 1)->count(0, 0, 5), 5u);
  EXPECT_EQ(free_language(0, 1)->count(0, 1, 5), 1u);
  EXPECT_EQ(StringLanguage::all()->count(0, 7, 1'000'000), 1'000'000u);
  EXPECT_EQ(make(regex("[ab]{2}|c"), 0)->count(Dfa::kStart, 0, 100), 5u);
  EXPECT_EQ(make(regex("[ab]*"), 2, 3)->count(Dfa::kStart, 0, 100), 12u);
  EXPECT_EQ(make(regex("[ab]*"), 2, 3)->count(Dfa::kStart, 2, 100), 3u);
  EXPECT_EQ(make(regex("(aa)*"), 3, 9)->count(Dfa::kStart, 0, 100), 3u);
  EXPECT_EQ(make(regex("a*"), 0, 999)->count(Dfa::kStart, 0, 1'000'000), 1'000u);
  EXPECT_EQ(make(regex("a*"), 7)->count(Dfa::kStart, 0, 1'000), 1'000u);
}

TEST(StringLanguage, ComplementOfTheLongestLengthIsNotSpelled) {
  Budget budget(1'000);
  const auto others = complement(*free_language(0, kNoMaxChars - 1), budget);
  ASSERT_TRUE(others);
  EXPECT_TRUE(others->empty());
  const auto none = complement(*StringLanguage::all(), budget);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

}  // namespace
}  // namespace daybreak::grammar
