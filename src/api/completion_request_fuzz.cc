// SPDX-License-Identifier: Apache-2.0
// Any bytes as the body of a completion request: refused with a message, or within its bounds.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/completion_request.h"
#include "base/utf8.h"
#include "chat/response_json.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace api = daybreak::api;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  daybreak::chat::ChatLimits limits;
  limits.vocab_size = 1000;
  constexpr std::size_t kContext = 50;
  const auto request = api::parse_completion_request(text, limits, kContext);
  if (!request) {
    require(!request.error().message.empty());
    require(daybreak::is_valid_utf8(daybreak::chat::error_json(request.error())));
    return 0;
  }
  require(!request->prompts.empty() && request->prompts.size() <= api::kMaxCompletionPrompts);
  for (const api::CompletionPrompt& prompt : request->prompts) {
    require(daybreak::is_valid_utf8(prompt.text));
    if (prompt.ids) {
      require(prompt.text.empty() && prompt.ids->size() <= kContext);
      for (const daybreak::TokenId id : *prompt.ids) {
        require(id < limits.vocab_size);
      }
    }
  }
  const auto& sampling = request->common.sampling;
  require(sampling.max_tokens.has_value() && sampling.min_tokens <= *sampling.max_tokens);
  require(request->common.n >= 1 && request->common.n <= limits.max_choices);
  require(request->logprobs.value_or(0) <= api::kMaxCompletionLogprobs);
  require(request->prompt_logprobs.value_or(0) <= api::kMaxCompletionLogprobs);
  return 0;
}
