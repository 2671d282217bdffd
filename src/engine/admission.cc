// SPDX-License-Identifier: Apache-2.0
#include "engine/admission.h"

#include <fmt/format.h>

namespace daybreak::engine {
namespace {

Status check_ids(const char* field, const std::vector<TokenId>& ids, std::size_t vocab_size) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= vocab_size) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("{}[{}]: expected a token id below {}, found {}", field, i,
                               vocab_size, ids[i])};
    }
  }
  return ok();
}

Status check_lengths(const GenerateRequest& request, std::size_t context_tokens) {
  const std::size_t prompt = request.prompt.size();
  // An answer of one token needs no position of its own: it is sampled after the last prompt id and
  // never fed back. Still counted, so that prompt + answer is what the context promises.
  if (prompt > context_tokens || (prompt == context_tokens && request.max_tokens > 0)) {
    return Error{Errc::kTooLarge,
                 fmt::format("prompt: expected fewer tokens than the context of {}, found {}",
                             context_tokens, prompt)};
  }
  if (request.max_tokens > context_tokens - prompt) {
    return Error{Errc::kTooLarge,
                 fmt::format("max_tokens: expected at most {} (context of {} less a prompt of {}), "
                             "found {}",
                             context_tokens - prompt, context_tokens, prompt, request.max_tokens)};
  }
  return ok();
}

}  // namespace

Status check_admissible(const GenerateRequest& request, const AdmissionLimits& limits) {
  if (request.prompt.empty()) {
    return Error{Errc::kInvalidArgument, "prompt: expected at least one token, found none"};
  }
  if (request.min_tokens > request.max_tokens) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("min_tokens: expected at most max_tokens {}, found {}",
                             request.max_tokens, request.min_tokens)};
  }
  if (request.stop_ids.size() > kMaxStopIds) {
    return Error{Errc::kInvalidArgument, fmt::format("stop_ids: expected at most {}, found {}",
                                                     kMaxStopIds, request.stop_ids.size())};
  }
  if (request.prompt_logprobs.value_or(0) > kMaxTopLogprobs) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("prompt_logprobs: expected at most {}, found {}", kMaxTopLogprobs,
                             *request.prompt_logprobs)};
  }
  if (request.priority < 0 || request.priority > kMaxPriority) {
    return Error{Errc::kInvalidArgument, fmt::format("priority: expected 0 to {}, found {}",
                                                     kMaxPriority, request.priority)};
  }
  DAYBREAK_CHECK_OK(check_lengths(request, limits.context_tokens));
  DAYBREAK_CHECK_OK(check_ids("prompt", request.prompt, limits.vocab_size));
  DAYBREAK_CHECK_OK(check_ids("stop_ids", request.stop_ids, limits.vocab_size));
  return validate(request.sampling, limits.vocab_size);
}

}  // namespace daybreak::engine
