// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request for POST /v1/completions, typed and validated: raw text or ids in, raw text out.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::api {

// One prompt: ids, or text that becomes ids.
struct CompletionPrompt {
  std::string path;  // in the request, such as "prompt[2]"
  std::string text;
  std::optional<std::vector<TokenId>> ids;
};

struct CompletionRequest {
  // The fields that a chat request has too, with the same meaning and bounds: model, n, stream,
  // sampling, output, user, ignored_fields. include_usage is false unless asked for, max_tokens is
  // set and may be 0. Its `messages` are empty.
  chat::ChatRequest common;
  std::vector<CompletionPrompt> prompts;  // one or more
  bool max_tokens_given = false;          // by the request
  bool echo = false;
  std::optional<std::uint32_t> logprobs;
  std::optional<std::uint32_t> prompt_logprobs;
  // Whether the spellings of special tokens in a text prompt are those tokens.
  tokenizer::AllowSpecial allow_special = tokenizer::AllowSpecial::kYes;
  bool skip_special_tokens = true;
  bool return_token_ids = false;
  bool tokens_as_ids = false;  // log-probabilities name tokens "token_id:N"
};

inline constexpr std::size_t kMaxCompletionPrompts = 128;
inline constexpr std::uint32_t kMaxCompletionLogprobs = 20;

// Parses and validates a body, by chat::completion_fields(). `context_tokens` bounds how many
// values it may have; whether a prompt fits is the caller's to say. Errors: as
// parse_chat_request().
[[nodiscard]] Result<CompletionRequest> parse_completion_request(std::string_view json,
                                                                 const chat::ChatLimits& limits,
                                                                 std::size_t context_tokens);

// Reads an array of token ids below limits.vocab_size, if that is set; the body bounds how many.
[[nodiscard]] Result<std::vector<TokenId>> read_token_ids(const chat::Field& field,
                                                          const chat::ChatLimits& limits);

}  // namespace daybreak::api
