// SPDX-License-Identifier: Apache-2.0
#pragma once

// NumberLanguage: a set of JSON numbers (one conjunction of numeric keywords) and, byte by byte,
// the spellings of its members. The question asked after each byte is exact: can this prefix still
// become a number of the set? It is answered by arithmetic, not by tables, so bounds of any size
// and multiples of any step cost no memory.
//
// Spellings. Every member has a plain decimal spelling and it is accepted: -?(0|[1-9]\d*)(\.\d+)?.
// Members of a set without low, high, multiples and points may also be written with an exponent
// (at most kMaxExponentDigits digits). An integer may be written with a fraction of zeros (1.0).
// At most kMaxNumberBytes bytes; a set is nonempty only if a spelling within that bound exists.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/decimal.h"

namespace daybreak::grammar {

inline constexpr std::size_t kMaxNumberBytes = 400;
inline constexpr std::size_t kMaxExponentDigits = 3;

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

  friend bool operator==(const NumberLanguage&, const NumberLanguage&) = default;
  [[nodiscard]] std::uint64_t hash() const;
};

// Returns the conjunction, or nothing when no number is in both.
// Errors: kUnsupported naming multipleOf when its steps are too large to reason about exactly.
[[nodiscard]] Result<std::optional<NumberLanguage>> intersect(const NumberLanguage& a,
                                                              const NumberLanguage& b);
// Returns languages whose union is every number outside `a`.
[[nodiscard]] std::vector<NumberLanguage> complement(const NumberLanguage& a);
[[nodiscard]] bool contains(const NumberLanguage& language, const Decimal& value);
// Returns how many numbers there are, saturated at `cap`.
[[nodiscard]] std::uint64_t count(const NumberLanguage& language, std::uint64_t cap);

// Where a spelling stands. A value: copied freely, compared and hashed (two equal states of one
// language have the same future).
class NumberState {
 public:
  NumberState() = default;  // before the first byte
  // Returns the state after `byte`, or nothing if no member of `language`, other than those in
  // `also_excluded`, is spelled like that.
  [[nodiscard]] std::optional<NumberState> next(const NumberLanguage& language, char byte,
                                                std::span<const Decimal> also_excluded = {}) const;
  // Returns whether the bytes so far spell a member that is not in `also_excluded`.
  [[nodiscard]] bool accepts(const NumberLanguage& language,
                             std::span<const Decimal> also_excluded = {}) const;
  // Returns the number spelled so far. REQUIRES: accepts().
  [[nodiscard]] Decimal value() const;

  friend bool operator==(const NumberState&, const NumberState&) = default;
  [[nodiscard]] std::uint64_t hash() const;

 private:
  friend class NumberStepper;
  // To be chosen by the implementation: small, without heap memory in the common case; digits that
  // no longer matter (the prefix is past every bound and no multiple is asked) should not keep
  // states apart, so that masks are shared. value() must still be exact when `keep_value` was set.
  std::string text_;
};

}  // namespace daybreak::grammar
