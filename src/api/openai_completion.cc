// SPDX-License-Identifier: Apache-2.0
#include "api/openai_completion.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "api/admission.h"
#include "api/chat_call.h"
#include "api/completion_json.h"
#include "api/error_reply.h"
#include "api/ignored_fields.h"
#include "api/prepare_completion.h"
#include "api/random.h"
#include "api/run_call.h"
#include "api/text_generation.h"
#include "chat/tool_call_id.h"

namespace daybreak::api {
namespace {

chat::ReplyHead reply_head(const PreparedChat& chat) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.id = "cmpl-" + chat::make_tool_call_id(random_bits).substr(5),
          .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .model = chat.served.name};
}

// Writes the answer of one request.
class CompletionCall {
 public:
  // `rated` is held as long as the answer.
  CompletionCall(PreparedCompletion completion, std::shared_ptr<void> rated, const Context& context)
      : completion_(std::move(completion)),
        rated_(std::move(rated)),
        names_{*context.tokenizer, completion_.request.tokens_as_ids},
        head_(reply_head(completion_.shared)),
        opened_(completion_.choices(), false) {}

  [[nodiscard]] PreparedChat& chat() { return completion_.shared; }
  [[nodiscard]] const PreparedCompletion& prepared() const { return completion_; }
  [[nodiscard]] std::size_t choices() const { return completion_.choices(); }
  [[nodiscard]] std::size_t answer_tokens() const { return completion_.answer_tokens(); }
  [[nodiscard]] std::size_t kept_logprobs() const {
    const CompletionRequest& request = completion_.request;
    const bool kept = request.logprobs && !completion_.shared.request.stream;
    return kept ? 1 + std::size_t{*request.logprobs} : 0;
  }
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
  std::shared_ptr<void> rated_;
  TokenNames names_;
  chat::ReplyHead head_;
  std::vector<bool> opened_;  // the choice's first event has been sent
};

Result<std::unique_ptr<CompletionCall>> prepare(const http::Request& request,
                                                const Context& context) {
  DAYBREAK_TRY(PreparedCompletion completion, prepare_completion(request.body, context));
  std::shared_ptr<void> rated;
  if (completion.rated_entries > 0) {
    DAYBREAK_TRY(const access::Caller caller, generating_caller(context, request));
    const std::string owner = access::owner_of(*caller);
    rated = context.prompt_logprobs.take(owner, completion.rated_entries);
    if (!rated) {
      return Error{Errc::kResourceLimit,
                   fmt::format("log-probabilities of prompts: other requests hold too many for {} "
                               "more, expected at most {} in all and {} of one caller, try again",
                               completion.rated_entries, kMaxHeldPromptLogprobs,
                               context.prompt_logprobs.max_of(owner))};
    }
  }
  return std::make_unique<CompletionCall>(std::move(completion), std::move(rated), context);
}

}  // namespace

http::Handler completion_handler(Context& context) {
  // The handler itself lives as long as the router.
  return [&context, refusal = RefuseFn(protocol_error_response),
          reads = PrepareFn<CompletionCall>(prepare)](http::Exchange& exchange) {
    return run_call<TextGeneration, CompletionCall>(context, exchange, "text_completion", refusal,
                                                    reads);
  };
}

}  // namespace daybreak::api
