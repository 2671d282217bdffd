// SPDX-License-Identifier: Apache-2.0
// NumberLexer against every spelling of a few bytes, and against NumberSearch on texts of any size.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "grammar/number_lexer.h"
#include "grammar/number_search.h"
#include "grammar/number_test_language.h"

namespace daybreak::grammar {
namespace {

using testing::dec;

constexpr std::string_view kBytes = "0123456789-+.eE";

// Every plain spelling of at most `size` bytes, with its value.
std::vector<std::pair<std::string, Decimal>> spellings(std::size_t size) {
  std::vector<std::pair<std::string, Decimal>> out;
  std::vector<std::string> level{""};
  for (std::size_t length = 1; length <= size; ++length) {
    std::vector<std::string> longer;
    for (const std::string& text : level) {
      for (const char byte : std::string_view("0123456789-.")) {
        const std::string next = text + byte;
        // A prefix of a number becomes one with a digit appended.
        if (Decimal::parse(next) || Decimal::parse(next + "1")) {
          longer.push_back(next);
        }
        if (const auto value = Decimal::parse(next)) {
          out.emplace_back(next, *value);
        }
      }
    }
    level = std::move(longer);
  }
  return out;
}

Decimal random_decimal(Rng& rng, std::size_t digits, std::size_t fraction) {
  std::string text;
  const std::size_t size = 1 + rng.below(static_cast<std::uint32_t>(digits));
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t kind = rng.below(4);
    text += kind == 0 ? '0' : kind == 1 ? '9' : static_cast<char>('0' + rng.below(10));
  }
  return Decimal::scaled(rng.below(3) == 0, text,
                         -std::int64_t{rng.below(static_cast<std::uint32_t>(fraction + 1))});
}

std::vector<Decimal> random_set(Rng& rng, std::uint32_t size, std::size_t digits,
                                std::size_t fraction) {
  std::set<Decimal> out;
  for (std::uint32_t i = 0; i < size; ++i) {
    out.insert(random_decimal(rng, digits, fraction));
  }
  return {out.begin(), out.end()};
}

std::vector<Decimal> random_steps(Rng& rng, std::uint32_t size, std::size_t digits,
                                  std::size_t fraction) {
  std::vector<Decimal> out = random_set(rng, size, digits, fraction);
  std::erase_if(out, [](const Decimal& value) { return value <= Decimal(); });
  return out;
}

NumberLanguage random_language(Rng& rng, std::size_t digits, std::size_t fraction) {
  NumberLanguage out;
  out.integers = static_cast<NumberLanguage::Integers>(rng.below(3));
  if (rng.below(3) != 0) {
    out.low = NumberBound{random_decimal(rng, digits, fraction), rng.below(2) == 0};
  }
  if (rng.below(3) != 0) {
    out.high = NumberBound{random_decimal(rng, digits, fraction), rng.below(2) == 0};
  }
  if (out.low && out.high && out.low->value > out.high->value && rng.below(4) != 0) {
    std::swap(out.low, out.high);
  }
  if (rng.below(2) == 0) {
    out.multiples = random_steps(rng, 1 + rng.below(2), std::min<std::size_t>(digits, 3), fraction);
  }
  if (rng.below(3) == 0) {
    out.not_multiples = random_steps(rng, 1 + rng.below(2), 2, fraction);
  }
  if (rng.below(3) == 0) {
    out.excluded = random_set(rng, 1 + rng.below(6), digits, fraction);
  }
  return out;
}

bool excluded(const std::vector<Decimal>& also, const Decimal& value) {
  return std::ranges::binary_search(also, value);
}

// Walks every viable prefix and compares with the members there are; returns how many were asked.
void expect_all(const NumberLanguage& language, std::size_t size, const std::vector<Decimal>& also,
                const std::vector<std::pair<std::string, Decimal>>& all) {
  std::set<std::string> members;
  std::set<std::string> prefixes;
  std::set<Decimal> values;
  for (const auto& [text, value] : all) {
    if (contains(language, value)) {
      values.insert(value);
      if (!excluded(also, value)) {
        members.insert(text);
        for (std::size_t i = 0; i <= text.size(); ++i) {
          prefixes.insert(text.substr(0, i));
        }
      }
    }
  }
  EXPECT_EQ(NumberSearch(language, size).count(1'000'000), values.size());
  const NumberLexer lexer(language, size);
  std::vector<std::pair<std::string, NumberState>> level{{"", NumberState()}};
  while (!level.empty()) {
    std::vector<std::pair<std::string, NumberState>> longer;
    for (const auto& [text, state] : level) {
      ASSERT_EQ(lexer.accepts(state, also), members.contains(text)) << text;
      for (const char byte : std::string_view("0123456789-+.")) {
        auto next = lexer.next(state, byte, also);
        ASSERT_EQ(next.has_value(), prefixes.contains(text + byte)) << text + byte;
        if (next) {
          longer.emplace_back(text + byte, *std::move(next));
        }
      }
    }
    level = std::move(longer);
  }
}

TEST(NumberProperty, EveryPrefixIsViableExactlyIfASpellingOfAFewBytesCompletesIt) {
  const auto three = spellings(3);
  const auto four = spellings(4);
  Rng rng(1);
  for (int i = 0; i < 260; ++i) {
    SCOPED_TRACE(i);
    NumberLanguage language = random_language(rng, 2, 2);
    const bool wide = i % 20 == 0;
    if (language.plain()) {
      continue;  // has exponents
    }
    const auto also =
        rng.below(3) == 0 ? random_set(rng, 1 + rng.below(12), 2, 1) : std::vector<Decimal>{};
    expect_all(language, wide ? 4 : 3, also, wide ? four : three);
    if (::testing::Test::HasFatalFailure()) {
      return;
    }
  }
}

// Whether a member begins with `text`, asked of the text itself.
bool viable(const NumberSearch& search, std::string_view text, const std::vector<Decimal>& also) {
  if (text.size() > kMaxNumberBytes) {
    return false;
  }
  const std::size_t left = kMaxNumberBytes - text.size();
  const bool negative = text.starts_with('-');
  std::string_view rest = text.substr(negative ? 1 : 0);
  if (rest.empty()) {
    return search.any(negative, also);
  }
  const std::size_t point = rest.find('.');
  std::string digits(rest.substr(0, point));
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0') ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  const bool whole = point == std::string_view::npos;
  const std::string_view behind = whole ? "" : rest.substr(point + 1);
  if (behind.find_first_not_of("0123456789") != std::string_view::npos ||
      (!whole && behind.empty() && left == 0)) {
    return false;
  }
  digits += behind;
  const std::size_t most = whole && digits != "0" ? left : 0;
  for (std::size_t more = 0; more <= most; ++more) {
    const BigNatural scale = BigNatural::pow10(search.digits() - behind.size() + more);
    const BigNatural first = BigNatural::from_digits(digits) * scale;
    if (first > search.half(negative).high) {
      return false;
    }
    const std::size_t fraction = !whole             ? behind.size() + left
                                 : left - more <= 1 ? 0
                                                    : left - more - 1;
    if (search.exists(negative, {first, first + scale - BigNatural(1)}, fraction,
                      NumberSearch::Bounds::kAsked, also)) {
      return true;
    }
  }
  return false;
}

// One random way through a language; every byte is asked at every place.
void expect_walk(const NumberLanguage& language, const std::vector<Decimal>& also, Rng& rng,
                 std::size_t length) {
  const NumberLexer lexer(language);
  const NumberSearch search(language);
  NumberState state(NumberText::kKeep);
  std::string text;
  while (text.size() < length) {
    std::vector<std::pair<char, NumberState>> choices;
    for (const char byte : kBytes) {
      auto next = lexer.next(state, byte, also);
      if (byte != 'e' && byte != 'E' && byte != '+') {
        ASSERT_EQ(next.has_value(), viable(search, text + byte, also)) << text + byte;
        if (next) {
          choices.emplace_back(byte, *std::move(next));
        }
      }
    }
    const auto value = Decimal::parse(text);
    ASSERT_EQ(lexer.accepts(state, also),
              value && contains(language, *value) && !excluded(also, *value))
        << text;
    if (lexer.accepts(state, also)) {
      ASSERT_EQ(state.value(), *value);
    }
    ASSERT_TRUE(!choices.empty() || lexer.accepts(state, also)) << text;
    if (choices.empty()) {
      return;
    }
    // Bounds are met by following their digits: prefer the ends of what is possible.
    const std::uint32_t kind = rng.below(3);
    const std::size_t at = kind == 0   ? 0
                           : kind == 1 ? choices.size() - 1
                                       : rng.below(static_cast<std::uint32_t>(choices.size()));
    text += choices[at].first;
    state = choices[at].second;
  }
}

TEST(NumberProperty, StepsAgreeWithTheSearchOnNumbersOfAnySize) {
  Rng rng(2);
  for (std::size_t i = 0; i < 150; ++i) {
    SCOPED_TRACE(i);
    const std::size_t digits = std::vector<std::size_t>{2, 4, 8, 20, 45}[i % 5];
    const std::size_t fraction = rng.below(2) == 0 ? 3 : digits;
    const NumberLanguage language = random_language(rng, digits, fraction);
    const auto also =
        rng.below(3) == 0 ? random_set(rng, 1 + rng.below(9), 3, 2) : std::vector<Decimal>{};
    Budget budget(1'000'000);
    const auto own = intersect(language, {}, budget);
    ASSERT_TRUE(own);
    const NumberSearch search(language);
    ASSERT_EQ(own->has_value(), search.any(false, {}) || search.any(true, {}));
    ASSERT_EQ(own->has_value(), count(language, 1) == 1);
    if (!*own || !(search.any(false, also) || search.any(true, also))) {
      continue;
    }
    for (int walk = 0; walk < 2; ++walk) {
      expect_walk(walk == 0 ? language : **own, also, rng, 24);
      if (::testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }
}

TEST(NumberProperty, BooleanOperationsAreThoseOfSets) {
  Rng rng(3);
  std::vector<Decimal> values;
  for (int i = -300; i < 300; ++i) {
    values.push_back(Decimal::scaled(i < 0, std::to_string(i < 0 ? -i : i), -(i % 3 == 0 ? 1 : 0)));
  }
  for (int i = 0; i < 300; ++i) {
    const NumberLanguage a = random_language(rng, 2, 1);
    const NumberLanguage b = random_language(rng, 2, 1);
    Budget budget(1'000'000);
    const auto both = intersect(a, b, budget);
    ASSERT_TRUE(both);
    const auto others = *complement(a, budget);
    for (const Decimal& value : values) {
      const bool in_both = contains(a, value) && contains(b, value);
      ASSERT_EQ(*both && contains(**both, value), in_both) << value.to_string();
      ASSERT_EQ(std::ranges::any_of(
                    others, [&](const NumberLanguage& one) { return contains(one, value); }),
                !contains(a, value))
          << value.to_string();
    }
  }
}

}  // namespace
}  // namespace daybreak::grammar
