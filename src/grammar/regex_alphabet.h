// SPDX-License-Identifier: Apache-2.0
#pragma once

// RegexAlphabet: the code points in as few classes as a regular expression can tell apart, so that
// an automaton takes one step per class and not per range.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/char_set.h"

namespace daybreak::grammar {

class RegexAlphabet {
 public:
  // The code points from `low` to `high` belong to class `cls`.
  struct Atom {
    std::uint32_t low, high;
    std::uint32_t cls;
  };

  // Returns the coarsest classes of which every set is a union.
  // Errors: kTooLarge when the budget ends.
  [[nodiscard]] static Result<RegexAlphabet> make(std::span<const CharSet> sets, Budget& budget);

  [[nodiscard]] std::uint32_t classes() const { return classes_; }
  // By code point; all of them together.
  [[nodiscard]] std::span<const Atom> atoms() const { return atoms_; }
  // Returns the classes whose union is set number `set`.
  [[nodiscard]] std::span<const std::uint32_t> classes_of(std::uint32_t set) const {
    return members_[set];
  }
  // Returns a code point of a class.
  [[nodiscard]] std::uint32_t example(std::uint32_t cls) const { return examples_[cls]; }

 private:
  std::vector<Atom> atoms_;
  std::uint32_t classes_ = 1;
  std::vector<std::vector<std::uint32_t>> members_;  // [sets]
  std::vector<std::uint32_t> examples_;              // [classes]
};

}  // namespace daybreak::grammar
