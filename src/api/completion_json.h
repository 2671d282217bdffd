// SPDX-License-Identifier: Apache-2.0
#pragma once

// The JSON of text_completion replies, in OpenAI's legacy shape with vLLM's additions. Every
// function returns one line of valid UTF-8. All are pure and thread-safe.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "api/completion_request.h"
#include "api/text_choice.h"
#include "chat/response_json.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::api {

// What a reply shows of tokens.
struct TokenNames {
  const tokenizer::Tokenizer& tokenizer;
  bool as_ids = false;  // "token_id:N" instead of the text

  // Returns the name of a token in log-probabilities: its text; "bytes:" and \xNN of each byte
  // where that is not UTF-8 by itself, so that no two tokens of a vocabulary are told alike.
  [[nodiscard]] std::string name(TokenId id) const;
};

// One choice in full. `prompt` is what it continues.
[[nodiscard]] std::string completion_choice_json(std::size_t index, const TextAnswer& answer,
                                                 std::span<const TokenId> prompt,
                                                 const CompletionRequest& request,
                                                 const TokenNames& names);

// One delta of a choice; `prompt` is empty but for the first one.
[[nodiscard]] std::string completion_delta_json(std::size_t index, const TextDelta& delta,
                                                std::span<const TokenId> prompt,
                                                const CompletionRequest& request,
                                                const TokenNames& names);

// A reply, or an event of a stream: `choices` is the inside of the array; no usage if null.
[[nodiscard]] std::string completion_json(const chat::ReplyHead& head, std::string_view choices,
                                          const chat::TokenUsage* usage);

}  // namespace daybreak::api
