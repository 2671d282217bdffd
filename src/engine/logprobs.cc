// SPDX-License-Identifier: Apache-2.0
#include "engine/logprobs.h"

#include <algorithm>

namespace daybreak::engine {

std::vector<TokenLogprob> top_logprobs(std::span<const float> logits, double log_norm,
                                       std::size_t count) {
  // Insertion into a short sorted list: count is at most kMaxTopLogprobs, and after the first few
  // ids nearly every logit fails the one comparison with the list's last.
  std::vector<TokenLogprob> best;
  best.reserve(count + 1);
  for (std::size_t id = 0; id < logits.size() && count > 0; ++id) {
    const float logit = logits[id];
    if (best.size() == count && !(logit > best.back().logprob)) {
      continue;
    }
    const auto place = std::upper_bound(
        best.begin(), best.end(), logit,
        [](float value, const TokenLogprob& entry) { return value > entry.logprob; });
    best.insert(place, {static_cast<TokenId>(id), logit});
    if (best.size() > count) {
      best.pop_back();
    }
  }
  for (TokenLogprob& entry : best) {
    entry.logprob = logprob_of(entry.logprob, log_norm);
  }
  return best;
}

}  // namespace daybreak::engine
