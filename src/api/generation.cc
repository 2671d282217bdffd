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
  options.random = random_bits;
  options.first_call_number = chat.first_call_number;
  return options;
}

}  // namespace

Generation::Generation(Context& context, const PreparedChat& chat,
                       const boost::asio::any_io_executor& strand)
    : context_(context), chat_(chat), mailbox_(std::make_shared<UpdateMailbox>(strand)) {
  choices_.reserve(chat.request.n);
  for (std::uint32_t i = 0; i < chat.request.n; ++i) {
    choices_.emplace_back(*context.tokenizer, context.markers, choice_options(chat));
  }
}

Generation::~Generation() {
  mailbox_->close();
  cancel();
}

Status Generation::submit() {
  const std::uint64_t seed = random_bits();
  for (std::uint32_t i = 0; i < chat_.request.n; ++i) {
    auto id = context_.generator.submit(
        generate_request(chat_, i, seed),
        [mailbox = mailbox_, i](const engine::Update& update) { mailbox->push(i, update); });
    if (!id) {
      cancel();
      return std::move(id).error();
    }
    ids_.push_back(*id);
  }
  return ok();
}

void Generation::cancel() {
  cancelled_ = true;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (!choices_[i].finished()) {
      context_.generator.cancel(ids_[i]);
    }
  }
}

boost::asio::awaitable<Result<std::vector<ChoiceDelta>>> Generation::next(TimePoint until) {
  auto batches = co_await mailbox_->next(until);
  if (!batches) {
    cancel();
    co_return std::move(batches).error();
  }
  std::vector<ChoiceDelta> out;
  for (const Batch& batch : *batches) {
    if (Status status = consume(batch, out); !status) {
      cancel();
      co_return std::move(status).error();
    }
  }
  co_return out;
}

Status Generation::consume(const Batch& batch, std::vector<ChoiceDelta>& out) {
  Choice& choice = choices_[batch.choice];
  if (choice.finished()) {
    return ok();  // what came while a stop string was being noticed
  }
  if (!batch.tokens.empty() && !first_token_) {
    first_token_ = std::chrono::steady_clock::now();
  }
  cached_tokens_ = std::max(cached_tokens_, batch.cached_tokens);
  std::vector<Delta> deltas;
  choice.push(batch.tokens, deltas);
  if (choice.finished()) {
    context_.generator.cancel(ids_[batch.choice]);  // ended before the engine knew; ignored if over
  }
  if (batch.finish == FinishReason::kError) {
    return batch.error.value_or(Error{Errc::kIo, "generation failed"});
  }
  if (batch.finish == FinishReason::kCancelled && !choice.finished()) {
    return cancelled_ ? Error{Errc::kCancelled, "the request was cancelled"}
                      : Error{Errc::kUnavailable, "the server is shutting down"};
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

bool Generation::done() const {
  return std::ranges::all_of(choices_, [](const Choice& choice) { return choice.finished(); });
}

chat::TokenUsage Generation::usage() const {
  chat::TokenUsage usage{.prompt_tokens = chat_.billed_prompt_tokens};
  for (const Choice& choice : choices_) {
    usage.completion_tokens += choice.completion_tokens();
    usage.reasoning_tokens += choice.reasoning_tokens();
  }
  usage.cached_tokens = std::min(cached_tokens_, usage.prompt_tokens);
  return usage;
}

std::vector<chat::CompletionChoice> Generation::completions() const {
  std::vector<chat::CompletionChoice> out;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    out.push_back(choices_[i].completion(i));
  }
  return out;
}

}  // namespace daybreak::api
