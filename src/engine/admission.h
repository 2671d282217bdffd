// SPDX-License-Identifier: Apache-2.0
#pragma once

// Admission: what makes a request answerable at all, decided before it is queued and independent of
// what else is running.

#include <cstddef>

#include "base/result.h"
#include "engine/generator.h"

namespace daybreak::engine {

struct AdmissionLimits {
  std::size_t vocab_size = 0;
  std::size_t context_tokens = 0;
};

// Returns ok when the request could be answered by a generator with these limits that has nothing
// else to do. Errors: kInvalidArgument (empty prompt, id outside the vocabulary,
// min_tokens above max_tokens, too many stop ids, prompt_logprobs, priority, sampling parameters),
// kTooLarge (prompt, or prompt + max_tokens, beyond the context; both numbers are named).
[[nodiscard]] Status check_admissible(const GenerateRequest& request,
                                      const AdmissionLimits& limits);

}  // namespace daybreak::engine
