// SPDX-License-Identifier: Apache-2.0
#pragma once

// NumberLexer: the spellings of a NumberLanguage, byte by byte. The question asked after each byte
// is exact: can this prefix still become a number of the set? It is answered by arithmetic, not by
// tables, so bounds of any size and multiples of any step cost no memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "grammar/number_grid.h"
#include "grammar/number_language.h"
#include "grammar/number_search.h"

namespace daybreak::grammar {

// Two equal states of one lexer have the same future for at least this many bytes more: while a
// number is short its length does not tell states apart, though it counts. A longer token must not
// be judged by what was kept of an equal state.
inline constexpr std::size_t kNumberLookahead = 336;

// Whether a state remembers the text, for NumberState::value(). It takes no part in equality.
enum class NumberText : bool { kDrop, kKeep };

// Where a spelling stands. A value: copied freely, compared and hashed. Digits that no longer
// matter (the prefix is past every bound, and equal to another as far as multiples are asked) do
// not keep states apart.
class NumberState {
 public:
  // Before the first byte.
  explicit NumberState(NumberText text = NumberText::kDrop) : keep_(text == NumberText::kKeep) {}
  // Returns the number spelled so far. REQUIRES: made with kKeep, and accepted by its lexer.
  [[nodiscard]] Decimal value() const;
  // Returns the bytes so far; nothing unless made with kKeep.
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::uint64_t hash() const;
  friend bool operator==(const NumberState& a, const NumberState& b);

 private:
  friend class NumberLexer;
  enum class Phase : std::uint8_t {
    kStart,
    kMinus,
    kZero,      // the part before the point is 0
    kInteger,   // it is not
    kDot,       // a digit must follow
    kFraction,  // after at least one digit behind the point
    kExponent,  // after e: a sign or a digit must follow
    kExponentSign,
    kExponentDigits,
  };
  static constexpr std::uint16_t kNoRoom = 0xFFFF;

  Phase phase_ = Phase::kStart;
  bool negative_ = false;
  // Bounds and exclusions hold for every number of need_ to room_ more digits before the point (0
  // to 0 after it), and for no other; digits_ is only a representative.
  bool free_ = false;
  bool done_ = false;  // whatever is spelled from here on, if it is a number, is a member
  bool keep_ = false;
  std::uint16_t length_ = 0;    // bytes so far; not compared
  std::uint16_t counted_ = 0;   // the same once it is within kNumberLookahead of the bound, else 0
  std::uint16_t fraction_ = 0;  // of the digits, behind the point; in an exponent: its digits
  std::uint16_t need_ = 0, room_ = 0;
  std::uint64_t digits_ = 0;  // without sign and point
  std::string wide_;          // instead of digits_ when they do not fit, else empty
  std::string text_;          // if keep_; not compared
};

// Immutable, thread-safe.
class NumberLexer {
 public:
  // `max_bytes` of a spelling is a parameter for tests only.
  explicit NumberLexer(NumberLanguage language, std::size_t max_bytes = kMaxNumberBytes);

  [[nodiscard]] const NumberLanguage& language() const { return language_; }

  // Returns the state after `byte`, or nothing if no member of the language other than those in
  // `also_excluded` (sorted, distinct) is spelled like that. All steps of one number are asked with
  // the same `also_excluded`, and only states that were are comparable. With exclusions no exponent
  // is allowed.
  [[nodiscard]] std::optional<NumberState> next(const NumberState& state, char byte,
                                                std::span<const Decimal> also_excluded = {}) const;
  // Returns whether the bytes so far spell a member that is not in `also_excluded`.
  [[nodiscard]] bool accepts(const NumberState& state,
                             std::span<const Decimal> also_excluded = {}) const;
  [[nodiscard]] std::size_t bytes() const;  // of memory, about

 private:
  using Phase = NumberState::Phase;
  using Excluded = std::span<const Decimal>;
  // A bound as digits: `whole` of them before the point, and from `lead` on all are 0 (low bounds)
  // or 9 (high bounds), so that they do not cut through what a shorter prefix stands for.
  struct BoundDigits {
    std::string digits;
    std::size_t whole = 0;
    std::size_t lead = 0;
    bool unbounded = false;
  };

  // Takes the byte as JSON has it; bounds and multiples are not asked.
  [[nodiscard]] bool advance(NumberState& state, char byte, Excluded also) const;
  [[nodiscard]] bool advance_fraction(NumberState& state, char digit) const;
  void append(NumberState& state, char digit) const;
  // Whether a member is spelled from here on.
  [[nodiscard]] bool viable(const NumberState& state, Excluded also) const;
  [[nodiscard]] std::optional<bool> viable_on_grid(const NumberState& state, Excluded also) const;
  [[nodiscard]] std::optional<bool> viable_whole(const NumberState& state, Excluded also) const;
  [[nodiscard]] bool viable_by_search(const NumberState& state, Excluded also) const;
  // Replaces the state by the representative of all with the same future.
  void canonicalize(NumberState& state, Excluded also) const;
  // Returns whether need_ and room_ tell all there is to know about the bounds; then they are set.
  [[nodiscard]] bool place_between_bounds(NumberState& state) const;
  // The same for a state behind the point, or with only 0 before it.
  [[nodiscard]] bool range_within_bounds(const NumberState& state) const;
  [[nodiscard]] bool leads_to_excluded(const NumberState& state, Excluded also) const;

  static BoundDigits bound_digits(const BigNatural& size, std::size_t digits, char filler);

  NumberLanguage language_;
  std::size_t max_bytes_;
  NumberSearch search_;
  std::optional<NumberGrid> grid_;
  std::array<BoundDigits, 2> low_, high_;  // [negative]
  bool plain_ = false;
  bool minus_ = false;  // whether a minus may come first, without further exclusions
};

// Returns the lexer of a language, the one that is alive already if there is one: schemas repeat
// each other, and masks are kept by lexer. Thread-safe.
[[nodiscard]] std::shared_ptr<const NumberLexer> shared_lexer(const NumberLanguage& language);

}  // namespace daybreak::grammar
