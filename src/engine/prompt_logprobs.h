// SPDX-License-Identifier: Apache-2.0
#pragma once

// Log-probabilities of the ids of a prompt, from the rows of logits before them, and how many such
// rows the requests of one step get.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "engine/generator.h"

namespace daybreak::engine {

// Returns how the model, whose raw logits `row` are, rates `id` as the next one, with the `count`
// most probable ids. `position` is that of `id`, for errors.
// Errors: kCorrupt when a logit is not finite (names the id and the position).
[[nodiscard]] Result<PromptLogprob> rate_prompt_id(std::span<const float> row, TokenId id,
                                                   std::uint32_t count, std::size_t position);

// Shares `rows` rows of logits among requests, oldest first, of which request i could use
// wanted[i]: as evenly as can be, the remainder to the oldest. At least one request that wants rows
// gets some.
[[nodiscard]] std::vector<std::size_t> share_rows(std::span<const std::size_t> wanted,
                                                  std::size_t rows);

}  // namespace daybreak::engine
