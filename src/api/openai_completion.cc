// SPDX-License-Identifier: Apache-2.0
#include "api/openai_completion.h"

#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "api/admission.h"
#include "api/chat_call.h"
#include "api/completion_json.h"
#include "api/constraint.h"
#include "api/error_reply.h"
#include "api/ignored_fields.h"
#include "api/on_worker.h"
#include "api/prepare_completion.h"
#include "api/random.h"
#include "api/reply.h"
#include "api/request_trace.h"
#include "api/text_generation.h"
#include "chat/tool_call_id.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Task;

chat::ReplyHead reply_head(const Context& context) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.id = "cmpl-" + chat::make_tool_call_id(random_bits).substr(5),
          .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .model = context.options.model_names.front()};
}

// Writes the answer of one request.
class CompletionCall {
 public:
  CompletionCall(PreparedCompletion completion, const Context& context)
      : completion_(std::move(completion)),
        names_{*context.tokenizer, completion_.request.tokens_as_ids},
        head_(reply_head(context)),
        opened_(completion_.choices(), false) {}

  [[nodiscard]] PreparedCompletion& completion() { return completion_; }
  [[nodiscard]] std::string_view id() const { return head_.id; }

  void note(const std::vector<TextChoiceDelta>& /*deltas*/) {}  // the generation keeps all

  http::Response whole(const TextGeneration& generation) {
    std::string choices;
    for (std::size_t i = 0; i < completion_.choices(); ++i) {
      choices += i > 0 ? "," : "";
      choices += completion_choice_json(i, generation.answer(i), prompt_of(i), completion_.request,
                                        names_);
    }
    const chat::TokenUsage usage = generation.usage();
    http::Response response;
    response.headers = headers();
    response.body = completion_json(head_, choices, &usage);
    return response;
  }

  std::vector<http::Header> stream_headers(const TextGeneration& /*generation*/) {
    return headers();
  }

  std::string frames(const std::vector<TextChoiceDelta>& deltas, const TextGeneration& generation) {
    std::string out;
    for (const auto& [choice, delta] : deltas) {
      const bool first = !opened_[choice];
      opened_[choice] = true;
      const auto prompt = first ? prompt_of(choice) : std::span<const TokenId>();
      append_event(
          out, completion_json(
                   head_, completion_delta_json(choice, delta, prompt, completion_.request, names_),
                   nullptr));
    }
    if (generation.done()) {
      const chat::TokenUsage usage = generation.usage();
      append_event(out, completion_.shared.request.include_usage
                            ? completion_json(head_, "", &usage)
                            : std::string());
      append_event(out, "[DONE]");
    }
    return out;
  }

  std::string error_frames(const Error& error) {
    std::string out;
    append_event(out, chat::error_json(error));
    return out;
  }

 private:
  [[nodiscard]] std::span<const TokenId> prompt_of(std::size_t choice) const {
    return completion_.prompts[completion_.prompt_of(choice)];
  }

  [[nodiscard]] std::vector<http::Header> headers() const {
    return ignored_fields_headers(completion_.shared.request.ignored_fields);
  }

  PreparedCompletion completion_;
  TokenNames names_;
  chat::ReplyHead head_;
  std::vector<bool> opened_;  // the choice's first event has been sent
};

Task<void> handle(Context& context, Exchange& exchange) {
  const auto began = std::chrono::steady_clock::now();
  RequestTrace trace(context, exchange, "text_completion");
  const RefuseFn refusal = trace.noting(
      [](const http::Request& /*request*/, const Error& error) { return error_response(error); });
  if (context.draining) {
    co_return co_await refuse(
        exchange, refusal,
        Error{Errc::kUnavailable, "the server is shutting down, no new requests"});
  }
  Admission admission(context, exchange);
  std::optional<Result<PreparedCompletion>> prepared;
  const std::function<void()> work = [&] {
    prepared.emplace(prepare_completion(exchange.request().body, context));
  };
  co_await on_worker(context, work);
  if (!*prepared) {
    co_return co_await refuse(exchange, refusal, (*prepared).error());
  }
  CompletionCall call(**std::move(prepared), context);
  PreparedChat& shared = call.completion().shared;
  trace.asked(shared, call.completion().choices());
  if (const Status may = admission.begin(shared.request.model, shared.billed_prompt_tokens,
                                         call.completion().answer_tokens(), shared.request.stream);
      !may) {
    co_return co_await refuse(exchange, refusal, may.error(), admission.headers());
  }
  admission.identify(shared);
  auto constraint = co_await compile_constraint(context, exchange, shared);
  if (!constraint) {
    co_return co_await refuse(exchange, refusal, constraint.error());
  }
  shared.constraint = *std::move(constraint);
  TextGeneration generation(context, call.completion(), exchange.executor());
  co_await reply(exchange, refusal, call, generation, shared.request.stream,
                 context.options.keep_alive_comments, began, admission);
  trace.answered(generation, call.id());
}

}  // namespace

http::Handler completion_handler(Context& context) {
  return [&context](Exchange& exchange) { return handle(context, exchange); };
}

}  // namespace daybreak::api
