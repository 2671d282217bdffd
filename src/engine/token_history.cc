// SPDX-License-Identifier: Apache-2.0
#include "engine/token_history.h"

namespace daybreak::engine {

TokenHistory::TokenHistory(std::span<const TokenId> prompt) {
  for (const TokenId id : prompt) {
    entries_.try_emplace(id);
  }
}

void TokenHistory::penalise(std::span<float> logits, const SamplingParams& params) const {
  const float repetition = params.repetition_penalty;
  const float presence = params.presence_penalty;
  const float frequency = params.frequency_penalty;
  if (repetition == 1.0F && presence == 0.0F && frequency == 0.0F) {
    return;
  }
  // The order of the map is unspecified, but every entry changes only its own logit.
  for (const auto& [id, entry] : entries_) {
    float logit = logits[id];
    logit = logit > 0 ? logit / repetition : logit * repetition;
    if (entry.generated > 0) {
      logit -= frequency * static_cast<float>(entry.generated);
      logit -= presence;
    }
    logits[id] = logit;
  }
}

}  // namespace daybreak::engine
