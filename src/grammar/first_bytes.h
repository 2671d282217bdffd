// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which bytes a thread may read next, at a glance: a walk over the tokens looks at no others.

#include <array>
#include <bit>
#include <cstdint>

#include "grammar/automaton_state.h"
#include "grammar/rule_graph.h"

namespace daybreak::grammar {

class ByteSet {
 public:
  void add(std::uint8_t byte) { words_[byte / 64] |= std::uint64_t{1} << (byte % 64); }
  void add_range(std::uint8_t low, std::uint8_t high);  // both included
  [[nodiscard]] bool contains(std::uint8_t byte) const {
    return (words_[byte / 64] >> (byte % 64) & 1U) != 0;
  }

  // Calls visit(byte) for each in ascending order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        visit(static_cast<std::uint8_t>(64 * word +
                                        static_cast<std::size_t>(std::countr_zero(rest))));
      }
    }
  }

 private:
  std::array<std::uint64_t, 4> words_{};
};

// Adds the bytes that the thread can read, and maybe some that it cannot.
void add_first_bytes(const RuleGraph& rules, const Thread& thread, ByteSet& out);

}  // namespace daybreak::grammar
