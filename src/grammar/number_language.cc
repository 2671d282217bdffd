// SPDX-License-Identifier: Apache-2.0
#include "grammar/number_language.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "grammar/number_search.h"

namespace daybreak::grammar {
namespace {

using Integers = NumberLanguage::Integers;

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

bool possible(const NumberLanguage& language) {
  if (has_short_member(language, false) || has_short_member(language, true)) {
    return true;
  }
  const NumberSearch search(language);
  return search.any(false, {}) || search.any(true, {});
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

Result<std::optional<NumberLanguage>> intersect(const NumberLanguage& a, const NumberLanguage& b) {
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
  simplify(both);
  if (both.not_multiples.size() > kMaxNotMultiples) {
    return Error{Errc::kUnsupported,
                 "multipleOf: expected at most " + std::to_string(kMaxNotMultiples) +
                     " negated ones at a time, found " + std::to_string(both.not_multiples.size())};
  }
  return possible(both) ? std::optional(std::move(both)) : std::nullopt;
}

std::vector<NumberLanguage> complement(const NumberLanguage& a) {
  std::vector<NumberLanguage> out;
  const auto add = [&](auto set) {
    NumberLanguage language;
    set(language);
    if (possible(language)) {
      out.push_back(std::move(language));
    }
  };
  if (a.integers != Integers::kAny) {
    add([&](NumberLanguage& language) {
      language.integers = a.integers == Integers::kOnly ? Integers::kNone : Integers::kOnly;
    });
  }
  if (a.low) {
    add([&](NumberLanguage& language) {
      language.high = NumberBound{a.low->value, !a.low->exclusive};
    });
  }
  if (a.high) {
    add([&](NumberLanguage& language) {
      language.low = NumberBound{a.high->value, !a.high->exclusive};
    });
  }
  for (const Decimal& multiple : a.multiples) {
    add([&](NumberLanguage& language) { language.not_multiples = {multiple}; });
  }
  for (const Decimal& multiple : a.not_multiples) {
    add([&](NumberLanguage& language) { language.multiples = {multiple}; });
  }
  for (const Decimal& value : a.excluded) {
    add([&](NumberLanguage& language) {
      language.low = NumberBound{value, false};
      language.high = NumberBound{value, false};
    });
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
