// SPDX-License-Identifier: Apache-2.0
#pragma once

// NumberLanguage: a set of JSON numbers, one conjunction of numeric keywords. NumberLexer (see
// number_lexer.h) spells its members byte by byte.
//
// Spellings. Every member has a plain decimal spelling and it is accepted: -?(0|[1-9]\d*)(\.\d+)?.
// Numbers without any restriction may also be written with an exponent (at most kMaxExponentDigits
// digits). An integer may be written with a fraction of zeros (1.0), and 0 with a sign (-0).
// At most kMaxNumberBytes bytes; a set is nonempty only if a spelling within that bound exists.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/decimal.h"

namespace daybreak::grammar {

inline constexpr std::size_t kMaxNumberBytes = 400;
inline constexpr std::size_t kMaxExponentDigits = 3;
// Counting takes two to this power of steps, and a step of the lexer grows with it too.
inline constexpr std::size_t kMaxNotMultiples = 10;

struct NumberBound {
  Decimal value;
  bool exclusive = false;
  friend bool operator==(const NumberBound&, const NumberBound&) = default;
};

struct NumberLanguage {
  enum class Integers : std::uint8_t { kAny, kOnly, kNone };  // kNone: numbers with a fraction

  Integers integers = Integers::kAny;
  std::optional<NumberBound> low, high;
  std::vector<Decimal> multiples;      // a multiple of each; all > 0; sorted, distinct
  std::vector<Decimal> not_multiples;  // of none of these; all > 0; sorted, distinct
  std::vector<Decimal> excluded;       // not one of these; sorted, distinct

  // Whether every number is in it (and exponents may be written).
  [[nodiscard]] bool plain() const;
  [[nodiscard]] std::uint64_t hash() const;
  friend bool operator==(const NumberLanguage&, const NumberLanguage&) = default;
};

// Returns the conjunction, or nothing when no number that can be spelled is in both. What the other
// restrictions imply is dropped, so that equal sets are often, not always, equal values.
// Errors: kUnsupported naming multipleOf: more than kMaxNotMultiples negated ones.
//         kTooLarge when the budget ends.
[[nodiscard]] Result<std::optional<NumberLanguage>> intersect(const NumberLanguage& a,
                                                              const NumberLanguage& b,
                                                              Budget& budget);
// Returns languages whose union is every number outside `a`. None of them is empty.
// Errors: kTooLarge when the budget ends.
[[nodiscard]] Result<std::vector<NumberLanguage>> complement(const NumberLanguage& a,
                                                             Budget& budget);
// Returns the steps that a copy of the language costs.
[[nodiscard]] std::uint64_t weight(const NumberLanguage& language);
[[nodiscard]] bool contains(const NumberLanguage& language, const Decimal& value);
// Returns true only if there is a member of that sign (or 0) that can be spelled. Tries a few, for
// speed: false says nothing.
[[nodiscard]] bool has_short_member(const NumberLanguage& language, bool negative);
// Returns how many numbers can be spelled (1 and 1.0 are one), saturated at `cap`.
[[nodiscard]] std::uint64_t count(const NumberLanguage& language, std::uint64_t cap);

}  // namespace daybreak::grammar
