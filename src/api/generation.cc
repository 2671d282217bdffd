// SPDX-License-Identifier: Apache-2.0
#include "api/generation.h"

#include <algorithm>
#include <numeric>

#include "api/random.h"

namespace daybreak::api {

using engine::FinishReason;

namespace {

ChoiceOptions choice_options(const PreparedChat& chat) {
  ChoiceOptions options;
  options.parser.initial = chat.channel;
  options.parser.tools_allowed = chat.request.tools_allowed();
  if (!chat.request.parallel_tool_calls) {
    options.parser.max_calls = 1;
  }
  options.stop = chat.request.sampling.stop;
  options.stop_token_ids = chat.request.sampling.stop_token_ids;
  options.ends_with_message =
      !chat.request.sampling.ignore_eos && chat.request.sampling.min_tokens == 0;
  options.logprobs = chat.request.sampling.logprobs;
  options.keeps_logprobs = !chat.request.stream;
  options.ids_with_text = chat.request.stream && chat.request.include_internal_content;
  options.random = random_bits;
  options.first_call_number = chat.first_call_number;
  return options;
}

}  // namespace

Generation::Generation(Context& context, const PreparedChat& chat,
                       const boost::asio::any_io_executor& strand)
    : Answers(context, strand), chat_(chat) {
  choices_.reserve(chat.request.n);
  for (std::uint32_t i = 0; i < chat.request.n; ++i) {
    choices_.emplace_back(*context.tokenizer, context.markers, choice_options(chat));
  }
}

Status Generation::submit() {
  return submit_each([this, seed = random_bits()](std::size_t i) {
    return generate_request(chat_, static_cast<std::uint32_t>(i), seed);
  });
}

Status Generation::consume(const Batch& batch, std::vector<ChoiceDelta>& out) {
  Choice& choice = choices_[batch.choice];
  if (choice.finished()) {
    return ok();  // what came while a stop string was being noticed
  }
  note_first_token(batch);
  cached_tokens_ = std::max(cached_tokens_, batch.cached_tokens);
  std::vector<Delta> deltas;
  choice.push(batch.tokens, deltas);
  note_consumed(batch);
  if (batch.finish == FinishReason::kError) {
    return batch.error.value_or(Error{Errc::kIo, "generation failed"});
  }
  if (batch.finish == FinishReason::kCancelled && !choice.finished()) {
    return cancellation();
  }
  if (batch.finish) {
    choice.finish(batch.finish == FinishReason::kLength ? chat::StopCause::kLength
                                                        : chat::StopCause::kStopToken,
                  deltas);
  }
  for (Delta& delta : deltas) {
    out.push_back({batch.choice, std::move(delta)});
  }
  return ok();
}

chat::TokenUsage Generation::usage() const {
  chat::TokenUsage usage{.prompt_tokens = chat_.billed_prompt_tokens,
                         .completion_tokens = dropped_tokens()};
  for (const Choice& choice : choices_) {
    usage.completion_tokens += choice.completion_tokens();
    usage.reasoning_tokens += choice.reasoning_tokens();
  }
  usage.cached_tokens = std::min(cached_tokens_, usage.prompt_tokens);
  return usage;
}

chat::TokenUsage Generation::billed_usage() const {
  return started() ? usage() : chat::TokenUsage{};
}

std::vector<chat::CompletionChoice> Generation::completions() const {
  std::vector<chat::CompletionChoice> out;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    out.push_back(choices_[i].completion(i));
  }
  return out;
}

std::string Generation::choices_json(std::string_view unfinished) const {
  std::vector<chat::CompletionChoice> choices = completions();
  for (chat::CompletionChoice& choice : choices) {
    choice.logprobs.reset();
    if (choice.finish_reason.empty()) {
      choice.finish_reason = unfinished;
    }
  }
  return chat::choices_json(choices);
}

}  // namespace daybreak::api
