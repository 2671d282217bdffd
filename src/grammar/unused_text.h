// SPDX-License-Identifier: Apache-2.0
#pragma once

// "Is there still a text that was not used?", for the keys of one object and for uniqueItems, while
// a string is being written. Only asked where few texts are left; elsewhere the answer is yes.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/automaton_state.h"

namespace daybreak::grammar {

// The used texts that begin with `text`, as what follows it.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> used_rests(
    const TextLink* text, std::span<const TextLink* const> used);

// Returns whether some completion of `at`, whose code points so far are `text`, is not in `used`.
// count(state, chars, cap) says how many completions a place has, accepts(state, chars) whether the
// text may end there.
template <class Count, class Accepts>
[[nodiscard]] bool has_unused(const Dfa& dfa, const StringState& at, const TextLink* text,
                              std::span<const TextLink* const> used, const Count& count,
                              const Accepts& accepts) {
  const auto rests = used_rests(text, used);
  const std::uint64_t cap = rests.size() + 1;
  // How many used texts are completions of the language whose next code point is in [low, high].
  const auto taken = [&](std::uint32_t low, std::uint32_t high, bool any) {
    return static_cast<std::uint64_t>(std::ranges::count_if(rests, [&](const auto& rest) {
      if (!any && (rest.empty() || rest.front() < low || rest.front() > high)) {
        return false;
      }
      Dfa::State state = at.state;
      std::uint32_t chars = at.chars;
      for (const std::uint32_t code_point : rest) {
        state = dfa.next(state, code_point);
        ++chars;
        if (state == Dfa::kDead) {
          return false;
        }
      }
      return accepts(state, chars);
    }));
  };
  if (at.phase == StringPhase::kPlain) {
    return count(at.state, at.chars, cap) > taken(0, 0, true);
  }
  for (const CharRange& range : completions(at)) {
    for (const Dfa::Edge& edge : dfa.edges(at.state)) {
      const std::uint32_t low = std::max(edge.low, range.low);
      const std::uint32_t high = std::min(edge.high, range.high);
      if (low <= high &&
          std::min<std::uint64_t>(cap, high - low + 1) * count(edge.target, at.chars + 1, cap) >
              taken(low, high, false)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace daybreak::grammar
