// SPDX-License-Identifier: Apache-2.0
#pragma once

// StringLanguage: a set of strings as a Dfa together with bounds on the number of code points. The
// bounds stay numbers, so that maxLength 100000 costs no states.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/dfa.h"

namespace daybreak::grammar {

inline constexpr std::uint32_t kNoMaxChars = std::numeric_limits<std::uint32_t>::max();

// What may be spent on lengths in one language: both bounds given, closer together than the dfa has
// states, and the language infinite or longer. Then states have a bit for every length up to
// min_chars, and count() takes min_chars rounds.
inline constexpr std::uint64_t kMaxLengthSteps = std::uint64_t{1} << 26;  // edges * max_chars
inline constexpr std::uint32_t kMaxCombinedMinChars = 1'000'000;

// Immutable, thread-safe, never empty (a language that would be empty is not made).
class StringLanguage {
 public:
  // Returns the language, or null when no string is in it. Bounds that the dfa implies are dropped:
  // min_chars() and max_chars() may be 0 and kNoMaxChars where others were given.
  // Errors: kTooLarge when the budget ends; kUnsupported naming minLength and maxLength when they
  // are combined with a pattern and too large to combine exactly (see above).
  [[nodiscard]] static Result<std::shared_ptr<const StringLanguage>> make(
      std::shared_ptr<const Dfa> dfa, std::uint32_t min_chars, std::uint32_t max_chars,
      Budget& budget);
  // Every string; one shared object (make() returns it too).
  [[nodiscard]] static std::shared_ptr<const StringLanguage> all();

  [[nodiscard]] const Dfa& dfa() const { return *dfa_; }
  [[nodiscard]] const std::shared_ptr<const Dfa>& shared_dfa() const { return dfa_; }
  [[nodiscard]] std::uint32_t min_chars() const { return min_chars_; }
  [[nodiscard]] std::uint32_t max_chars() const { return max_chars_; }
  // Whether dfa() is every string, so that only the length is asked.
  [[nodiscard]] bool free() const { return free_; }
  [[nodiscard]] bool bounded() const { return min_chars_ > 0 || max_chars_ != kNoMaxChars; }

  // Returns whether a string that led to `state` with `chars` code points can be completed.
  // REQUIRES: state is a state of dfa(). O(1).
  [[nodiscard]] bool viable(Dfa::State state, std::uint32_t chars) const;
  // Returns whether it is complete.
  [[nodiscard]] bool accepts(Dfa::State state, std::uint32_t chars) const {
    return dfa_->accepts(state) && chars >= min_chars_ && chars <= max_chars_;
  }
  [[nodiscard]] bool contains(std::string_view utf8) const;
  // Returns how many completions lead from `state` with `chars` code points to acceptance,
  // saturated at `cap`. For uniqueItems and repeated keys: is there one that was not used yet? In
  // general O(edges) per length until `cap` are found; O(1) where there are clearly enough.
  [[nodiscard]] std::uint64_t count(Dfa::State state, std::uint32_t chars, std::uint64_t cap) const;

  // A process-wide number that tells languages apart. make() returns a language that is alive
  // already where its content is asked for again.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  StringLanguage() = default;
  // Fills shortest_ and longest_.
  void measure();
  // Drops the bounds that the dfa implies.
  void drop_implied_bounds();
  [[nodiscard]] Status make_table(Budget& budget);
  [[nodiscard]] bool window_hit(Dfa::State state, std::uint32_t missing) const;

  std::shared_ptr<const Dfa> dfa_;
  std::uint32_t min_chars_ = 0;
  std::uint32_t max_chars_ = kNoMaxChars;
  bool free_ = false;
  std::uint64_t id_ = 0;
  // Code points from each state to acceptance; empty if free(). The longest is kNoMaxChars on a way
  // to a cycle.
  std::vector<std::uint32_t> shortest_, longest_;
  // Bit `missing` of a state, 1 to min_chars: a completion with `missing` to missing + max_chars -
  // min_chars code points exists. Empty where shortest_ and longest_ tell.
  std::vector<std::uint64_t> windows_;  // [states, words_]
  std::size_t words_ = 0;
};

// Both return null for the empty language.
[[nodiscard]] Result<std::shared_ptr<const StringLanguage>> intersect(const StringLanguage& a,
                                                                      const StringLanguage& b,
                                                                      Budget& budget);
// Returns languages whose union is every string outside `a`. (Of more than kNoMaxChars code points
// none is spelled.)
[[nodiscard]] Result<std::vector<std::shared_ptr<const StringLanguage>>> complement(
    const StringLanguage& a, Budget& budget);

}  // namespace daybreak::grammar
