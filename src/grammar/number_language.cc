// SPDX-License-Identifier: Apache-2.0
#include "grammar/number_language.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "grammar/number_search.h"

namespace daybreak::grammar {
namespace {

using Integers = NumberLanguage::Integers;

// Arithmetic with this many digits is about one step.
constexpr std::size_t kDigitsPerStep = 32;

// The tighter of two low (or high) bounds.
std::optional<NumberBound> tighter(const std::optional<NumberBound>& a,
                                   const std::optional<NumberBound>& b, bool low) {
  if (!a || !b) {
    return a ? a : b;
  }
  if (a->value == b->value) {
    return NumberBound{a->value, a->exclusive || b->exclusive};
  }
  return (a->value > b->value) == low ? a : b;
}

std::vector<Decimal> merged(const std::vector<Decimal>& a, const std::vector<Decimal>& b) {
  std::vector<Decimal> out;
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

bool within_bounds(const NumberLanguage& language, const Decimal& value) {
  const auto passes = [&](const std::optional<NumberBound>& bound, bool low) {
    if (!bound) {
      return true;
    }
    return value == bound->value ? !bound->exclusive : (value > bound->value) == low;
  };
  return passes(language.low, true) && passes(language.high, false);
}

// Whether `value` is in the language but for its exclusions.
bool in_base(const NumberLanguage& language, const Decimal& value) {
  const auto divides = [&](const Decimal& divisor) { return value.multiple_of(divisor); };
  const bool kind = language.integers == Integers::kAny ||
                    value.integer() == (language.integers == Integers::kOnly);
  return kind && within_bounds(language, value) &&
         std::ranges::all_of(language.multiples, divides) &&
         std::ranges::none_of(language.not_multiples, divides);
}

std::uint64_t digits_of(const std::vector<Decimal>& numbers) {
  std::uint64_t total = 0;
  for (const Decimal& number : numbers) {
    total += 1 + number.digits().size() / kDigitsPerStep;
  }
  return total;
}

// The steps of dividing every number of `a` by every number of `b`.
std::uint64_t division_steps(const std::vector<Decimal>& a, const std::vector<Decimal>& b) {
  return digits_of(a) * digits_of(b);
}

// The steps that one question costs a NumberSearch: arithmetic with numbers of twice
// kMaxNumberBytes digits for each divisor, and a comparison for each exclusion.
std::uint64_t search_steps(const NumberLanguage& language) {
  constexpr std::uint64_t kDivision = 6;
  return kDivision * (2 + language.multiples.size() + language.not_multiples.size()) +
         language.excluded.size();
}

// Drops what the rest implies: 2 beside 4 in multiples, 4 beside 2 in not_multiples, exclusions of
// what is not there.
void simplify(NumberLanguage& language) {
  const Decimal one(1);
  auto& multiples = language.multiples;
  if (language.integers == Integers::kAny &&
      std::ranges::any_of(multiples, [](const Decimal& m) { return m.integer(); })) {
    language.integers = Integers::kOnly;
  }
  const std::vector<Decimal> all = multiples;
  std::erase_if(multiples, [&](const Decimal& small) {
    return (language.integers == Integers::kOnly && one.multiple_of(small)) ||
           std::ranges::any_of(all, [&](const Decimal& large) {
             return large != small && large.multiple_of(small);
           });
  });
  auto& nots = language.not_multiples;
  const std::vector<Decimal> all_nots = nots;
  std::erase_if(nots, [&](const Decimal& large) {
    return (language.integers == Integers::kNone && large.multiple_of(one)) ||
           std::ranges::any_of(all_nots, [&](const Decimal& small) {
             return large != small && large.multiple_of(small);
           });
  });
  std::erase_if(language.excluded, [&](const Decimal& value) { return !in_base(language, value); });
}

// Whether the bounds alone leave nothing, or one number that is not in the language.
bool clearly_empty(const NumberLanguage& language) {
  if (!language.low || !language.high || language.low->value < language.high->value) {
    return false;
  }
  return language.low->value > language.high->value || language.low->exclusive ||
         language.high->exclusive || !contains(language, language.low->value);
}

Result<bool> possible(const NumberLanguage& language, Budget& budget) {
  DAYBREAK_CHECK_OK(budget.spend(1, "numbers"));
  if (clearly_empty(language)) {
    return false;
  }
  if (has_short_member(language, false) || has_short_member(language, true)) {
    return true;
  }
  DAYBREAK_CHECK_OK(budget.spend(search_steps(language), "numbers"));
  const NumberSearch search(language);
  for (const bool negative : {false, true}) {
    DAYBREAK_TRY(const bool any, search.any(negative, search_steps(language), budget));
    if (any) {
      return true;
    }
  }
  return false;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) { return mix64(hash ^ value); }

std::uint64_t mix(std::uint64_t hash, const Decimal& value) {
  hash = mix(hash, fnv1a64(std::as_bytes(std::span(value.digits()))));
  return mix(hash, static_cast<std::uint64_t>(value.exponent()) * 2 + (value.negative() ? 1 : 0));
}

}  // namespace

bool NumberLanguage::plain() const { return *this == NumberLanguage{}; }

std::uint64_t NumberLanguage::hash() const {
  std::uint64_t out = static_cast<std::uint64_t>(integers);
  for (const auto& bound : {low, high}) {
    out = mix(out, bound ? 1 + (bound->exclusive ? 1 : 0) : 0);
    out = bound ? mix(out, bound->value) : out;
  }
  for (const auto* list : {&multiples, &not_multiples, &excluded}) {
    out = mix(out, list->size());
    for (const Decimal& value : *list) {
      out = mix(out, value);
    }
  }
  return out;
}

std::uint64_t weight(const NumberLanguage& language) {
  std::uint64_t total = 1;
  for (const auto& bound : {language.low, language.high}) {
    total += bound ? bound->value.digits().size() / kDigitsPerStep : 0;
  }
  return total + digits_of(language.multiples) + digits_of(language.not_multiples) +
         digits_of(language.excluded) / 8;
}

Result<std::optional<NumberLanguage>> intersect(const NumberLanguage& a, const NumberLanguage& b,
                                                Budget& budget) {
  if (a.integers != b.integers && a.integers != Integers::kAny && b.integers != Integers::kAny) {
    return std::optional<NumberLanguage>();
  }
  NumberLanguage both;
  both.integers = a.integers == Integers::kAny ? b.integers : a.integers;
  both.low = tighter(a.low, b.low, true);
  both.high = tighter(a.high, b.high, false);
  both.multiples = merged(a.multiples, b.multiples);
  both.not_multiples = merged(a.not_multiples, b.not_multiples);
  both.excluded = merged(a.excluded, b.excluded);
  DAYBREAK_CHECK_OK(budget.spend(division_steps(both.multiples, both.multiples) +
                                     division_steps(both.not_multiples, both.not_multiples) +
                                     division_steps(both.excluded, both.multiples) +
                                     division_steps(both.excluded, both.not_multiples) +
                                     weight(both),
                                 "multipleOf"));
  simplify(both);
  if (both.not_multiples.size() > kMaxNotMultiples) {
    return Error{Errc::kUnsupported,
                 "multipleOf: expected at most " + std::to_string(kMaxNotMultiples) +
                     " negated ones at a time, found " + std::to_string(both.not_multiples.size())};
  }
  DAYBREAK_TRY(const bool any, possible(both, budget));
  return any ? std::optional(std::move(both)) : std::nullopt;
}

Result<std::vector<NumberLanguage>> complement(const NumberLanguage& a, Budget& budget) {
  std::vector<NumberLanguage> out;
  const auto add = [&](auto set) -> Status {
    NumberLanguage language;
    set(language);
    DAYBREAK_TRY(const bool any, possible(language, budget));
    if (any) {
      out.push_back(std::move(language));
    }
    return ok();
  };
  if (a.integers != Integers::kAny) {
    DAYBREAK_CHECK_OK(add([&](NumberLanguage& language) {
      language.integers = a.integers == Integers::kOnly ? Integers::kNone : Integers::kOnly;
    }));
  }
  if (a.low) {
    DAYBREAK_CHECK_OK(add([&](NumberLanguage& language) {
      language.high = NumberBound{a.low->value, !a.low->exclusive};
    }));
  }
  if (a.high) {
    DAYBREAK_CHECK_OK(add([&](NumberLanguage& language) {
      language.low = NumberBound{a.high->value, !a.high->exclusive};
    }));
  }
  for (const Decimal& multiple : a.multiples) {
    DAYBREAK_CHECK_OK(add([&](NumberLanguage& language) { language.not_multiples = {multiple}; }));
  }
  for (const Decimal& multiple : a.not_multiples) {
    DAYBREAK_CHECK_OK(add([&](NumberLanguage& language) { language.multiples = {multiple}; }));
  }
  for (const Decimal& value : a.excluded) {
    DAYBREAK_CHECK_OK(add([&](NumberLanguage& language) {
      language.low = NumberBound{value, false};
      language.high = NumberBound{value, false};
    }));
  }
  return out;
}

bool contains(const NumberLanguage& language, const Decimal& value) {
  return in_base(language, value) && !std::ranges::binary_search(language.excluded, value);
}

bool has_short_member(const NumberLanguage& language, bool negative) {
  constexpr std::int64_t kShort = 100;  // digits and zeros, far from kMaxNumberBytes
  const auto is_short_member = [&](const Decimal& value) {
    return (value.zero() || value.negative() == negative) &&
           static_cast<std::int64_t>(value.digits().size()) < kShort && value.exponent() < kShort &&
           value.exponent() > -kShort && contains(language, value);
  };
  return is_short_member(Decimal()) || is_short_member(Decimal(negative ? -1 : 1)) ||
         (language.low && is_short_member(language.low->value)) ||
         (language.high && is_short_member(language.high->value));
}

std::uint64_t count(const NumberLanguage& language, std::uint64_t cap) {
  return NumberSearch(language).count(cap);
}

}  // namespace daybreak::grammar
