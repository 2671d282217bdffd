// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the body of a chat request to what the generator needs. Everything here is pure computation
// on one request and runs on a worker thread: a long prompt delays nobody else.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/context.h"
#include "api/served_model.h"
#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/render.h"
#include "chat/request_grammar.h"
#include "engine/generator.h"

namespace daybreak::api {

struct PreparedChat {
  chat::ChatRequest request;
  ServedModel served;  // what answers it, from now to its end
  std::vector<TokenId> prompt;
  std::size_t billed_prompt_tokens = 0;  // usage.prompt_tokens
  chat::Channel channel = chat::Channel::kNone;
  std::size_t max_tokens = 0;
  std::vector<TokenId> stop_ids;
  std::vector<std::vector<TokenId>> bad_words;
  // Vendor contract: where the numbers of this answer's tool calls begin.
  std::optional<std::uint64_t> first_call_number;
  chat::RequestGrammar grammar;
  engine::ConstraintFactory constraint = {};  // from `grammar`, once that is compiled
  // The caller's, once it is known: see engine::GenerateRequest.
  std::string isolation;
  bool zero_retention = false;
  int priority = 0;
  bool yields_place = false;
  bool may_displace = false;
};

// Errors: those of parse_chat_request() and render(); kNotFound for a model this server does not
// have; kInvalidArgument for a prompt that leaves no room in the context.
Result<PreparedChat> prepare_chat(std::string_view body, const Context& context);
// The same for a request that has been parsed, from whatever wire form.
Result<PreparedChat> prepare_parsed(chat::ChatRequest request, const Context& context);

// Its two steps.
// The prompt, of any length; what depends on the answer's is not set. Errors: those of render(),
// kNotFound for a model this server does not have.
Result<PreparedChat> render_chat(chat::ChatRequest request, const Context& context);
// The rest: limits and grammar. Errors: kInvalidArgument for a prompt that leaves no room.
Status fit_chat(PreparedChat& chat, const Context& context);

// Returns what an error adds that counts the longest answer the request may get: the field that
// makes it shorter, and what it is taken as where it is not given.
[[nodiscard]] std::string length_hint(const PreparedChat& chat);

// Returns the ids that end an answer. One that must look like something ends when it does, whatever
// ignore_eos says: nothing could follow.
[[nodiscard]] std::vector<TokenId> stop_ids(const chat::SamplingOptions& sampling,
                                            const chat::MarkerIds& markers, bool constrained);

// Returns the request for one of the `n` answers. Every answer gets the same seed and its own
// choice number.
engine::GenerateRequest generate_request(const PreparedChat& chat, std::uint32_t choice,
                                         std::uint64_t seed);

}  // namespace daybreak::api
