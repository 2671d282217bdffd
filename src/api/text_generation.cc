// SPDX-License-Identifier: Apache-2.0
#include "api/text_generation.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "api/random.h"

namespace daybreak::api {
namespace {

using engine::FinishReason;

TextChoiceOptions choice_options(const PreparedCompletion& completion) {
  const CompletionRequest& request = completion.request;
  return {.stop = completion.shared.request.sampling.stop,
          .stop_ids = completion.shared.stop_ids,
          .skip_special_tokens = request.skip_special_tokens,
          .echo = request.echo,
          .logprobs = request.logprobs,
          .keeps_logprobs = !completion.shared.request.stream,
          .prompt_logprobs = request.prompt_logprobs};
}

}  // namespace

TextGeneration::TextGeneration(Context& context, const PreparedCompletion& completion,
                               const boost::asio::any_io_executor& strand)
    : Answers(context, strand),
      completion_(completion),
      cached_tokens_(completion.prompts.size(), 0) {
  choices_.reserve(completion.choices());
  for (std::size_t i = 0; i < completion.choices(); ++i) {
    choices_.emplace_back(*context.tokenizer, choice_options(completion));
  }
}

Status TextGeneration::submit() {
  return submit_each([this, seed = random_bits()](std::size_t i) {
    return generate_request(completion_, i, seed);
  });
}

Status TextGeneration::consume(const Batch& batch, std::vector<TextChoiceDelta>& out) {
  TextChoice& choice = choices_[batch.choice];
  if (choice.finished()) {
    return ok();  // what came while a stop string was being noticed
  }
  note_first_token(batch);
  const std::size_t prompt = completion_.prompt_of(batch.choice);
  cached_tokens_[prompt] = std::max(cached_tokens_[prompt], batch.cached_tokens);
  std::vector<TextDelta> deltas;
  if (!choice.begun()) {
    choice.begin(completion_.prompts[prompt], deltas);
  }
  choice.rate(batch.prompt, deltas);
  choice.push(batch.tokens, deltas);
  note_consumed(batch);
  if (batch.finish == FinishReason::kError) {
    return batch.error.value_or(Error{Errc::kIo, "generation failed"});
  }
  if (batch.finish == FinishReason::kCancelled && !choice.finished()) {
    return cancellation();
  }
  if (batch.finish) {
    choice.finish(*batch.finish, deltas);
  }
  for (TextDelta& delta : deltas) {
    out.push_back({batch.choice, std::move(delta)});
  }
  return ok();
}

chat::TokenUsage TextGeneration::usage() const {
  chat::TokenUsage usage{.prompt_tokens = completion_.shared.billed_prompt_tokens,
                         .completion_tokens = dropped_tokens()};
  for (const TextChoice& choice : choices_) {
    usage.completion_tokens += choice.completion_tokens();
  }
  const std::size_t cached =
      std::accumulate(cached_tokens_.begin(), cached_tokens_.end(), std::size_t{0});
  usage.cached_tokens = std::min(cached, usage.prompt_tokens);
  return usage;
}

chat::TokenUsage TextGeneration::billed_usage() const {
  std::vector<bool> read(completion_.prompts.size());
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    read[completion_.prompt_of(i)] = read[completion_.prompt_of(i)] || started(i);
  }
  chat::TokenUsage usage = this->usage();
  usage.prompt_tokens = 0;
  for (std::size_t i = 0; i < read.size(); ++i) {
    usage.prompt_tokens += read[i] ? completion_.prompts[i].size() : 0;
  }
  usage.cached_tokens = std::min(usage.cached_tokens, usage.prompt_tokens);
  return usage;
}

std::string TextGeneration::choices_json(std::string_view unfinished) const {
  std::string out = "[";
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const TextAnswer& answer = choices_[i].answer();
    out += (i > 0 ? ",{\"index\":" : "{\"index\":") + std::to_string(i) + ",\"text\":";
    chat::append_json_text(out, answer.text);
    out += ",\"finish_reason\":";
    chat::append_json_text(out, answer.finish_reason.empty() ? unfinished : answer.finish_reason);
    out += '}';
  }
  return out + "]";
}

}  // namespace daybreak::api
