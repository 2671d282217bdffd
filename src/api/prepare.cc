// SPDX-License-Identifier: Apache-2.0
#include "api/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/served_model.h"
#include "chat/bad_word_ids.h"
#include "chat/tool_call_id.h"

namespace daybreak::api {
namespace {

// Returns the number of tokens the answer may have. A request that asks for more than fits is
// refused rather than cut: its answer would end early without saying so.
Result<std::size_t> answer_room(const chat::SamplingOptions& sampling, std::size_t prompt,
                                const Context& context) {
  const std::size_t context_tokens = context.generator.context_tokens();
  if (prompt >= context_tokens) {
    return prompt_too_long("messages", prompt, context);
  }
  const std::size_t room = context_tokens - prompt;
  if (!sampling.max_tokens) {
    return std::min(room, context.options.max_tokens);
  }
  if (*sampling.max_tokens > room) {
    return answer_too_long("messages", sampling.max_tokens_field, *sampling.max_tokens, prompt,
                           context);
  }
  return static_cast<std::size_t>(*sampling.max_tokens);
}

}  // namespace

Result<PreparedChat> prepare_chat(std::string_view body, const Context& context) {
  DAYBREAK_TRY(chat::ChatRequest request, chat::parse_chat_request(body, context.options.limits));
  DAYBREAK_TRY(PreparedChat chat, prepare_parsed(std::move(request), context));
  if (context.options.limits.contract == chat::Contract::kVendor) {
    chat.first_call_number = chat::next_call_number(chat.request.messages);
  }
  return chat;
}

Result<PreparedChat> prepare_parsed(chat::ChatRequest request, const Context& context) {
  DAYBREAK_TRY(PreparedChat chat, render_chat(std::move(request), context));
  DAYBREAK_CHECK_OK(fit_chat(chat, context));
  return chat;
}

Result<PreparedChat> render_chat(chat::ChatRequest request, const Context& context) {
  PreparedChat chat;
  chat.request = std::move(request);
  DAYBREAK_TRY(chat.served, find_served(chat.request.model, context));
  DAYBREAK_TRY(chat::Prompt prompt, chat::render(chat.request, *context.tokenizer));
  chat.billed_prompt_tokens = prompt.billed_tokens();
  chat.channel = prompt.initial;
  chat.prompt = std::move(prompt.ids);
  return chat;
}

Status fit_chat(PreparedChat& chat, const Context& context) {
  DAYBREAK_TRY(chat.max_tokens, answer_room(chat.request.sampling, chat.prompt.size(), context));
  chat.grammar = chat::request_grammar(chat.request, chat.channel);
  chat.stop_ids = stop_ids(chat.request.sampling, context.markers, chat.grammar.rules.constrains());
  chat.bad_words = chat::bad_word_ids(chat.request.sampling.bad_words, *context.tokenizer);
  return ok();
}

std::string length_hint(const PreparedChat& chat) {
  const chat::SamplingOptions& sampling = chat.request.sampling;
  const std::string_view field = sampling.max_tokens_field;
  if (sampling.max_tokens) {
    return fmt::format("; a smaller {} than {} may make it fit", field, *sampling.max_tokens);
  }
  return fmt::format("; {}{} is not given and taken as {}: a smaller one may make it fit", field,
                     field == "max_completion_tokens" ? " (or max_tokens)" : "", chat.max_tokens);
}

std::vector<TokenId> stop_ids(const chat::SamplingOptions& sampling, const chat::MarkerIds& markers,
                              bool constrained) {
  std::vector<TokenId> ids;
  if (!sampling.ignore_eos || constrained) {
    ids = markers.stop_ids();
  }
  for (const TokenId id : sampling.stop_token_ids) {
    if (std::ranges::find(ids, id) == ids.end()) {
      ids.push_back(id);
    }
  }
  return ids;
}

engine::GenerateRequest generate_request(const PreparedChat& chat, std::uint32_t choice,
                                         std::uint64_t seed) {
  const chat::SamplingOptions& from = chat.request.sampling;
  engine::GenerateRequest request;
  request.prompt = chat.prompt;
  request.max_tokens = chat.max_tokens;
  request.min_tokens = from.min_tokens;
  request.stop_ids = chat.stop_ids;
  request.constraint = chat.constraint;
  request.isolation = chat.isolation;
  request.zero_retention = chat.zero_retention;
  request.adapter = chat.served.adapter;
  request.priority = chat.priority;
  request.yields_place = chat.yields_place;
  request.may_displace = chat.may_displace;
  engine::SamplingParams& to = request.sampling;
  to.temperature = static_cast<float>(from.temperature);
  to.top_p = static_cast<float>(from.top_p);
  to.top_k = static_cast<int>(from.top_k);
  to.min_p = static_cast<float>(from.min_p);
  to.typical_p = static_cast<float>(from.typical_p);
  to.repetition_penalty = static_cast<float>(from.repetition_penalty);
  to.presence_penalty = static_cast<float>(from.presence_penalty);
  to.frequency_penalty = static_cast<float>(from.frequency_penalty);
  to.logit_bias = from.logit_bias;
  to.allowed_token_ids = from.allowed_token_ids;
  to.bad_words = chat.bad_words;
  to.seed = from.seed.value_or(seed);
  to.choice = choice;
  if (from.logprobs) {
    to.logprobs = from.top_logprobs;
  }
  return request;
}

}  // namespace daybreak::api
