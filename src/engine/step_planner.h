// SPDX-License-Identifier: Apache-2.0
#pragma once

// The step planner decides how many ids each running sequence feeds to the next model step. A pure
// function of counts, so its promises can be tested exhaustively:
//   - a sequence that is generating always gets its one id: nobody's prompt delays another's answer
//     by more than one step of bounded size;
//   - what is left of the budget is shared evenly by the sequences that still read their prompts
//     (a short prompt behind a huge one is not held up), the remainder going to the longest, then
//     the oldest;
//   - if any sequence reads its prompt, at least one of them advances.

#include <cstddef>
#include <span>
#include <vector>

namespace daybreak::engine {

// pending[i] = ids sequence i has to feed before it can produce its next token: 1 when generating,
// the rest of its prompt before that; oldest sequence first. Returns the share of each, where
// share[i] <= pending[i] and their sum is at most max(step_tokens, 1 + the number of sequences
// with one pending id). REQUIRES: every pending >= 1, step_tokens >= 1.
[[nodiscard]] std::vector<std::size_t> plan_step(std::span<const std::size_t> pending,
                                                 std::size_t step_tokens);

}  // namespace daybreak::engine
