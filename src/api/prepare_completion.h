// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the body of a completion request to what the generator needs, on a worker thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/completion_request.h"
#include "api/context.h"
#include "api/prepare.h"
#include "base/result.h"
#include "engine/generator.h"

namespace daybreak::api {

struct PreparedCompletion {
  CompletionRequest request;  // without `common` and the prompts' contents
  // What all prompts share, as the chat route has it, so that a field means the same in both. Its
  // prompt is empty, its max_tokens that of the prompt with the most room.
  PreparedChat shared;
  std::vector<std::vector<TokenId>> prompts;
  std::vector<std::size_t> max_tokens;              // of each prompt
  std::optional<std::uint32_t> rated_alternatives;  // engine::GenerateRequest::prompt_logprobs
  std::size_t rated_entries = 0;                    // log-probabilities of prompts in the answer

  // Choices are numbered prompt by prompt.
  [[nodiscard]] std::size_t choices() const { return prompts.size() * shared.request.n; }
  [[nodiscard]] std::size_t prompt_of(std::size_t choice) const {
    return choice / shared.request.n;
  }
  [[nodiscard]] std::size_t prompt_tokens() const;  // of every prompt, once
  [[nodiscard]] std::size_t answer_tokens() const;  // at most, of all choices together
};

// Errors: those of parse_completion_request(); kNotFound for a model this server does not have;
// kInvalidArgument for an empty prompt, one that leaves no room in the context, and too many
// log-probabilities.
[[nodiscard]] Result<PreparedCompletion> prepare_completion(std::string_view body,
                                                            const Context& context);

// Returns the request for one choice. An answer depends on its prompt and on its number among those
// to the same prompt, not on the other prompts.
[[nodiscard]] engine::GenerateRequest generate_request(const PreparedCompletion& completion,
                                                       std::size_t choice, std::uint64_t seed);

}  // namespace daybreak::api
