// SPDX-License-Identifier: Apache-2.0
#pragma once

// The JSON of replies: chat.completion, chat.completion.chunk, usage and error bodies in OpenAI's
// shape. Every function returns one line of valid UTF-8 without a trailing newline, whatever bytes
// a token holds. All are pure and thread-safe.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "chat/message_builder.h"
#include "chat/output_event.h"

namespace daybreak::chat {

struct TokenUsage {
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;
  std::size_t cached_tokens = 0;     // of the prompt
  std::size_t reasoning_tokens = 0;  // of the completion
};

// What all chunks and the completion of one request share.
struct ReplyHead {
  std::string id;            // "chatcmpl-..."
  std::int64_t created = 0;  // seconds since 1970
  std::string model;
};

// One token with its log probability; `bytes` may be any bytes.
struct TokenLogprobs {
  struct Alternative {
    std::string bytes;
    float logprob = 0;
  };
  std::string bytes;
  float logprob = 0;
  std::vector<Alternative> top;
};

struct CompletionChoice {
  std::size_t index = 0;
  AssistantMessage message;
  std::vector<std::string> tool_call_ids;  // one per tool call
  std::string_view finish_reason;
  std::optional<std::vector<TokenLogprobs>> logprobs;
};

[[nodiscard]] std::string usage_json(const TokenUsage& usage);

// REQUIRES: each choice has as many tool_call_ids as tool calls.
[[nodiscard]] std::string chat_completion_json(const ReplyHead& head,
                                               std::span<const CompletionChoice> choices,
                                               const TokenUsage& usage);

// The choices alone, as a JSON array. REQUIRES: as above.
[[nodiscard]] std::string choices_json(std::span<const CompletionChoice> choices);

// The first chunk of a choice: {"role":"assistant","content":""}.
[[nodiscard]] std::string role_chunk_json(const ReplyHead& head, std::size_t choice);

// The chunk for one event. `tool_call_id` is used by kToolCallBegin only. `logprobs` are those of
// the tokens behind a text event, or null. `token_ids`, unless empty, becomes
// delta.internal_content.token_ids. Returns "" for kToolCallEnd, which has no wire form.
[[nodiscard]] std::string event_chunk_json(const ReplyHead& head, std::size_t choice,
                                           const OutputEvent& event,
                                           std::string_view tool_call_id = {},
                                           const std::vector<TokenLogprobs>* logprobs = nullptr,
                                           std::span<const TokenId> token_ids = {});

// The last chunk of a choice, with choices[0].usage.
[[nodiscard]] std::string finish_chunk_json(const ReplyHead& head, std::size_t choice,
                                            std::string_view finish_reason,
                                            const TokenUsage& usage);

// The chunk after all choices: "choices":[] and the usage.
[[nodiscard]] std::string usage_chunk_json(const ReplyHead& head, const TokenUsage& usage);

// Values of Error::reason, finer than the code, beside those that are the vendor's types.
inline constexpr std::string_view kModelNotFound = "model_not_found";
inline constexpr std::string_view kContextLengthExceeded = "context_length_exceeded";

// What clients tell errors apart by: `type` is Moonshot's name, `code` OpenAI's where it has one.
struct ErrorNames {
  std::string_view type;
  std::string_view code;
};
[[nodiscard]] ErrorNames error_names(const Error& error);

// {"error":{"message","type","param","code"}}. `param` is the field path a message starts with.
[[nodiscard]] std::string error_json(const Error& error);

// Returns the `type` of an error without a reason, such as "invalid_request_error".
[[nodiscard]] std::string_view error_type(Errc code);

// Appends [{"token","logprob","bytes","top_logprobs"},...].
void append_token_logprobs(std::string& out, std::span<const TokenLogprobs> tokens);

// Appends `text` as a JSON string; bytes that are not UTF-8 become U+FFFD.
void append_json_text(std::string& out, std::string_view text);

}  // namespace daybreak::chat
