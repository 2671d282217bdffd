// SPDX-License-Identifier: Apache-2.0
#pragma once

// DfaBuilder: states and edges in any order, made into the canonical Dfa: trimmed, minimal and
// numbered breadth first.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/dfa.h"

namespace daybreak::grammar {

// Used once, by one thread. Memory grows with the calls: the caller spends from its budget.
class DfaBuilder {
 public:
  using State = Dfa::State;

  // Returns the number of the new state; the first is 0.
  State add_state(bool accepting);
  void set_accepting(State state) { accepts_[state] = 1; }
  // REQUIRES: both states were added, low <= high <= kMaxCodePoint, and no other edge of `from`
  // covers a code point of it. Surrogates in it are dropped.
  void add_edge(State from, std::uint32_t low, std::uint32_t high, State to);
  [[nodiscard]] std::size_t states() const { return accepts_.size(); }

  // Returns the language of the strings that lead from `start` to an accepting state.
  // Minimisation takes O(edges * log(states)) signatures of one state's edges each.
  // Errors: kTooLarge when the budget ends.
  [[nodiscard]] Result<Dfa> build(State start, Budget& budget) &&;

 private:
  struct Arc {
    State from;
    Dfa::Edge edge;
  };
  [[nodiscard]] Status trim(State start, Budget& budget);
  void number(const std::vector<std::uint32_t>& block_of, Dfa& out) const;

  std::vector<std::uint8_t> accepts_;
  std::vector<Arc> arcs_;  // after trim(): sorted by state, then code point; start is state 0
};

}  // namespace daybreak::grammar
