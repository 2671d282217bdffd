// SPDX-License-Identifier: Apache-2.0
#include "engine/prompt_logprobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/fixed_math.h"
#include "engine/logprobs.h"

namespace daybreak::engine {

Result<PromptLogprob> rate_prompt_id(std::span<const float> row, TokenId id, std::uint32_t count,
                                     std::size_t position) {
  const float own = row[id];
  float zero = 0.0F;  // x * 0 is 0 for finite x and NaN otherwise
  std::uint32_t before = 0;
  for (std::size_t other = 0; other < row.size(); ++other) {
    zero += row[other] * 0.0F;
    before += row[other] > own || (row[other] == own && other < id) ? 1 : 0;
  }
  if (zero != 0.0F) {
    const auto bad = std::ranges::find_if(row, [](float logit) { return !std::isfinite(logit); });
    return Error{
        Errc::kCorrupt,
        fmt::format("logits: expected finite numbers, found {} for token id {} at position {}",
                    *bad, bad - row.begin(), position)};
  }
  const double log_norm = log_sum_exp(row);
  return PromptLogprob{.id = id,
                       .logprob = logprob_of(own, log_norm),
                       .rank = before + 1,
                       .top = top_logprobs(row, log_norm, count)};
}

std::vector<std::size_t> share_rows(std::span<const std::size_t> wanted, std::size_t rows) {
  std::vector<std::size_t> share(wanted.size(), 0);
  std::size_t hungry = wanted.size();
  while (rows > 0 && hungry > 0) {
    // Rounded up, so that each round gives something, to the oldest first.
    const std::size_t each = (rows + hungry - 1) / hungry;
    hungry = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t more = std::min({wanted[i] - share[i], each, rows});
      share[i] += more;
      rows -= more;
      hungry += share[i] < wanted[i] ? 1 : 0;
    }
  }
  return share;
}

}  // namespace daybreak::engine
