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

// Immutable, thread-safe, never empty (a language that would be empty is not made).
class StringLanguage {
 public:
  // Returns the language, or null when no string is in it.
  // Errors: kTooLarge when the budget ends; kUnsupported naming minLength/maxLength when they are
  // combined with a pattern and too large to combine exactly.
  [[nodiscard]] static Result<std::shared_ptr<const StringLanguage>> make(
      std::shared_ptr<const Dfa> dfa, std::uint32_t min_chars, std::uint32_t max_chars,
      Budget& budget);
  // Every string; one shared object.
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
  // saturated at `cap`. For uniqueItems and repeated keys: is there one that was not used yet?
  [[nodiscard]] std::uint64_t count(Dfa::State state, std::uint32_t chars, std::uint64_t cap) const;

  // A process-wide number that tells languages apart; equal content made twice may differ.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  StringLanguage() = default;
  std::shared_ptr<const Dfa> dfa_;
  std::uint32_t min_chars_ = 0;
  std::uint32_t max_chars_ = kNoMaxChars;
  bool free_ = false;
  std::uint64_t id_ = 0;
  // To be extended by the implementation: for bounded(), the sets of lengths that lead from each
  // state to acceptance.
};

// Both return null for the empty language.
[[nodiscard]] Result<std::shared_ptr<const StringLanguage>> intersect(const StringLanguage& a,
                                                                      const StringLanguage& b,
                                                                      Budget& budget);
// Returns languages whose union is every string outside `a`.
[[nodiscard]] Result<std::vector<std::shared_ptr<const StringLanguage>>> complement(
    const StringLanguage& a, Budget& budget);

}  // namespace daybreak::grammar
