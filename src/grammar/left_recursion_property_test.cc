// SPDX-License-Identifier: Apache-2.0
// Random rules keep their language, compared string by string with an enumerator that knows nothing
// of the rewriting: least fixpoints over the strings of at most five letters.

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "grammar/expression.h"

namespace daybreak::grammar {
namespace {

using Kind = Expression::Kind;

// A set of the 63 strings over {a, b} of at most kLongest letters. The string with the bits b
// (a: 0, b: 1) has the number (1 b in binary) - 1, so that the empty string is bit 0.
using Strings = std::uint64_t;
constexpr unsigned kLongest = 5;

unsigned code_of(const std::string& text) {
  unsigned code = 1;
  for (const char c : text) {
    code = code * 2 + (c == 'b' ? 1 : 0);
  }
  return code;
}

unsigned length_of(unsigned code) { return static_cast<unsigned>(std::bit_width(code)) - 1; }

Strings one(const std::string& text) {
  return text.size() > kLongest ? 0 : Strings{1} << (code_of(text) - 1);
}

Strings joined(Strings first, Strings second) {
  Strings all = 0;
  for (Strings a = first; a != 0; a &= a - 1) {
    const auto x = static_cast<unsigned>(std::countr_zero(a)) + 1;
    for (Strings b = second; b != 0; b &= b - 1) {
      const auto y = static_cast<unsigned>(std::countr_zero(b)) + 1;
      const unsigned length = length_of(y);
      if (length_of(x) + length <= kLongest) {
        all |= Strings{1} << ((x << length | (y - (1U << length))) - 1);
      }
    }
  }
  return all;
}

Strings strings_of(const Expression& e, const std::vector<Strings>& rules) {
  Strings all = 0;
  switch (e.kind) {
    case Kind::kBytes:
      return one(e.bytes);
    case Kind::kChars:
      return (e.chars.contains('a') ? one("a") : 0) | (e.chars.contains('b') ? one("b") : 0);
    case Kind::kRule:
      return rules[e.rule];
    case Kind::kChoice:
      for (const auto& item : e.items) {
        all |= strings_of(*item, rules);
      }
      return all;
    case Kind::kSequence:
      all = one("");
      for (const auto& item : e.items) {
        all = joined(all, strings_of(*item, rules));
      }
      return all;
    default:
      break;
  }
  const Strings item = strings_of(*e.items.front(), rules);
  Strings power = one("");
  for (std::uint32_t i = 0; i < e.min; ++i) {
    power = joined(power, item);
  }
  all = power;
  for (std::uint32_t i = e.min; i < e.max && i < e.min + 2 * kLongest; ++i) {
    power = joined(power, item);
    all |= power;
  }
  return all;
}

std::vector<Strings> languages(const RuleSet& set) {
  std::vector<Strings> rules(set.rules.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const Strings now = strings_of(*set.rules[i], rules);
      changed = changed || now != rules[i];
      rules[i] = now;
    }
  }
  return rules;
}

// The rules `e` may call before a letter, and whether it repeats the empty string without end.
void first_calls(const Expression& e, const std::vector<Strings>& rules,
                 std::vector<std::uint32_t>& calls, bool& repeats_empty) {
  if (e.kind == Kind::kRule) {
    calls.push_back(e.rule);
  }
  if (e.kind == Kind::kRepeat && e.max == Expression::kNoMax) {
    repeats_empty = repeats_empty || (strings_of(*e.items.front(), rules) & 1) != 0;
  }
  bool first = true;
  for (const auto& item : e.items) {
    std::vector<std::uint32_t> later;
    first_calls(*item, rules, first ? calls : later, repeats_empty);
    first = first && (e.kind != Kind::kSequence || (strings_of(*item, rules) & 1) != 0);
  }
}

void expect_no_circles(const RuleSet& set, const std::string& where) {
  const std::vector<Strings> rules = languages(set);
  const std::size_t count = rules.size();
  std::vector<std::vector<bool>> reach(count, std::vector<bool>(count, false));
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::uint32_t> calls;
    bool repeats_empty = false;
    first_calls(*set.rules[i], rules, calls, repeats_empty);
    EXPECT_FALSE(repeats_empty) << where << ": rule " << set.names[i];
    for (const std::uint32_t called : calls) {
      ASSERT_LT(called, count) << where;
      reach[i][called] = true;
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; reach[i][k] && j < count; ++j) {
        reach[i][j] = reach[i][j] || reach[k][j];
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_FALSE(reach[i][i]) << where << ": rule " << set.names[i];
  }
}

class RandomRules {
 public:
  explicit RandomRules(std::uint64_t seed) : rng_(seed) {}

  // Rules that nearly all call each other first, some behind what can be empty.
  RuleSet make_circles() {
    RuleSet set;
    count_ = 2 + rng_.below(4);
    for (std::uint32_t i = 0; i < count_; ++i) {
      std::vector<ExpressionPtr> alternatives;
      for (std::uint32_t left = 1 + rng_.below(3); left > 0; --left) {
        std::vector<ExpressionPtr> sequenced;
        if (rng_.below(3) == 0) {
          sequenced.push_back(optional(expression(1)));
        }
        if (rng_.below(4) != 0) {
          sequenced.push_back(rule(rng_.below(count_)));
        }
        if (rng_.below(2) == 0) {
          sequenced.push_back(expression(1));
        }
        alternatives.push_back(sequence(std::move(sequenced)));
      }
      set.rules.push_back(choice(std::move(alternatives)));
      set.names.push_back("r" + std::to_string(i));
    }
    set.start = rule(0);
    return set;
  }

  RuleSet make() {
    RuleSet set;
    count_ = 1 + rng_.below(4);
    for (std::uint32_t i = 0; i < count_; ++i) {
      set.rules.push_back(expression(3));
      set.names.push_back("r" + std::to_string(i));
    }
    set.start = rng_.below(3) == 0 ? expression(2) : rule(0);
    return set;
  }

 private:
  std::vector<ExpressionPtr> items(int depth, std::uint32_t least) {
    std::vector<ExpressionPtr> all;
    for (std::uint32_t i = least + rng_.below(3); i > 0; --i) {
      all.push_back(expression(depth - 1));
    }
    return all;
  }

  ExpressionPtr expression(int depth) {
    switch (rng_.below(depth == 0 ? 4 : 9)) {
      case 0:
        return bytes(std::vector<std::string>{"", "a", "b", "ab"}[rng_.below(4)]);
      case 1:
        return chars(CharSet({{'a', rng_.below(2) == 0 ? U'a' : U'b'}}));
      case 2:
      case 3:
        return rule(rng_.below(count_));
      case 4:
      case 5:
        return sequence(items(depth, 1));
      case 6:
      case 7:
        return choice(items(depth, rng_.below(8) == 0 ? 0 : 1));
      default: {
        const std::uint32_t min = rng_.below(3);
        const std::uint32_t max = rng_.below(2) == 0 ? Expression::kNoMax : min + rng_.below(3);
        return repeat(expression(depth - 1), min, max);
      }
    }
  }

  Rng rng_;
  std::uint32_t count_ = 1;
};

constexpr std::uint64_t kCases = 6000;
constexpr std::uint64_t kCircleCases = 800;  // each takes longer

struct Seen {
  std::size_t empty = 0;      // start rules that derive nothing
  std::size_t rewritten = 0;  // rule sets that grew
};

void check(const RuleSet& given, const std::string& where, Seen& seen) {
  const Strings expected = strings_of(*given.start, languages(given));
  Budget budget(1'000'000);
  const auto result = without_left_recursion(given, budget);
  if (!result) {
    EXPECT_EQ(result.error().code, Errc::kInvalidArgument) << where << result.error().message;
    EXPECT_EQ(expected, 0U) << where;
    ++seen.empty;
    return;
  }
  ASSERT_EQ(strings_of(*result->start, languages(*result)), expected) << where;
  ASSERT_EQ(result->rules.size(), result->names.size());
  expect_no_circles(*result, where);
  seen.rewritten += result->rules.size() > given.rules.size() ? 1 : 0;
}

TEST(WithoutLeftRecursion, KeepsTheLanguageOfRandomRules) {
  Seen seen;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    check(RandomRules(seed).make(), "seed " + std::to_string(seed), seen);
  }
  EXPECT_GT(seen.empty, kCases / 50);
  EXPECT_GT(seen.rewritten, kCases / 50);
}

TEST(WithoutLeftRecursion, KeepsTheLanguageOfRandomCircles) {
  Seen seen;
  for (std::uint64_t seed = 0; seed < kCircleCases; ++seed) {
    check(RandomRules(seed).make_circles(), "seed " + std::to_string(seed), seen);
  }
  EXPECT_GT(seen.empty, kCircleCases / 50);
  EXPECT_GT(seen.rewritten, kCircleCases / 3);
}

}  // namespace
}  // namespace daybreak::grammar
