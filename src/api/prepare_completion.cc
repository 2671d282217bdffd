// SPDX-License-Identifier: Apache-2.0
#include "api/prepare_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "api/served_model.h"
#include "chat/bad_word_ids.h"
#include "chat/request_grammar.h"

namespace daybreak::api {
namespace {

using tokenizer::Slicing;

// Returns what max_tokens comes to for a prompt. Only the default is cut to what fits.
Result<std::size_t> answer_room(const CompletionPrompt& prompt, std::size_t tokens,
                                const chat::SamplingOptions& sampling, bool asked,
                                const Context& context) {
  const std::size_t limit = context.generator.context_tokens();
  const auto wanted = static_cast<std::size_t>(*sampling.max_tokens);
  if (tokens > limit || (tokens == limit && wanted > 0)) {
    return prompt_too_long(prompt.path, tokens, context);
  }
  if (wanted > limit - tokens && asked) {
    return answer_too_long(prompt.path, "max_tokens", wanted, tokens, context);
  }
  return std::min(wanted, limit - tokens);
}

Status read_prompts(PreparedCompletion& out, bool max_tokens_given, const Context& context) {
  for (CompletionPrompt& prompt : out.request.prompts) {
    std::vector<TokenId> ids;
    if (prompt.ids) {
      ids = std::move(*prompt.ids);
    } else {
      context.tokenizer->encode(prompt.text, out.request.allow_special, Slicing::kOn, ids);
      prompt.text.clear();
    }
    if (ids.empty()) {
      return Error{Errc::kInvalidArgument,
                   prompt.path + ": expected at least one token, found none"};
    }
    DAYBREAK_TRY(
        const std::size_t room,
        answer_room(prompt, ids.size(), out.shared.request.sampling, max_tokens_given, context));
    out.max_tokens.push_back(room);
    out.prompts.push_back(std::move(ids));
  }
  return ok();
}

// Decides which log-probabilities of prompts the engine is asked for.
Status plan_rating(PreparedCompletion& out) {
  const CompletionRequest& request = out.request;
  const bool echoed = request.echo && request.logprobs.has_value();
  if (!echoed && !request.prompt_logprobs) {
    return ok();
  }
  const std::uint32_t count =
      std::max(echoed ? *request.logprobs : 0, request.prompt_logprobs.value_or(0));
  const std::size_t entries = out.prompt_tokens() * out.shared.request.n * (1 + count);
  if (entries > kMaxPromptLogprobs) {
    return Error{
        Errc::kInvalidArgument,
        fmt::format("{}: expected at most {} log-probabilities of prompts in all, found {}",
                    request.prompt_logprobs ? "prompt_logprobs" : "logprobs", kMaxPromptLogprobs,
                    entries)};
  }
  out.rated_alternatives = count;
  out.rated_entries = entries;
  return ok();
}

}  // namespace

std::size_t PreparedCompletion::prompt_tokens() const {
  return std::accumulate(prompts.begin(), prompts.end(), std::size_t{0},
                         [](std::size_t sum, const auto& ids) { return sum + ids.size(); });
}

std::size_t PreparedCompletion::answer_tokens() const {
  return std::accumulate(max_tokens.begin(), max_tokens.end(), std::size_t{0}) * shared.request.n;
}

Result<PreparedCompletion> prepare_completion(std::string_view body, const Context& context) {
  PreparedCompletion out;
  DAYBREAK_TRY(out.request, parse_completion_request(body, context.options.limits,
                                                     context.generator.context_tokens()));
  out.shared.request = std::exchange(out.request.common, {});
  DAYBREAK_TRY(out.shared.served, find_served(out.shared.request.model, context));
  DAYBREAK_CHECK_OK(read_prompts(out, out.request.max_tokens_given, context));
  DAYBREAK_CHECK_OK(plan_rating(out));
  out.shared.billed_prompt_tokens = out.prompt_tokens();
  out.shared.max_tokens = std::ranges::max(out.max_tokens);
  out.shared.grammar = chat::request_grammar(out.shared.request, chat::Channel::kNone);
  out.shared.grammar.rules.start = grammar::MessageRules::Start::kBare;
  out.shared.stop_ids =
      stop_ids(out.shared.request.sampling, context.markers, out.shared.grammar.rules.constrains());
  out.shared.bad_words =
      chat::bad_word_ids(out.shared.request.sampling.bad_words, *context.tokenizer);
  return out;
}

engine::GenerateRequest generate_request(const PreparedCompletion& completion, std::size_t choice,
                                         std::uint64_t seed) {
  const std::size_t prompt = completion.prompt_of(choice);
  engine::GenerateRequest request = generate_request(
      completion.shared, static_cast<std::uint32_t>(choice % completion.shared.request.n), seed);
  request.prompt = completion.prompts[prompt];
  request.max_tokens = completion.max_tokens[prompt];
  // A default that was cut to what fits may be less.
  request.min_tokens = std::min(request.min_tokens, request.max_tokens);
  request.prompt_logprobs = completion.rated_alternatives;
  return request;
}

}  // namespace daybreak::api
