// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic_messages.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "api/admission.h"
#include "api/anthropic_reply.h"
#include "api/on_worker.h"
#include "api/random.h"
#include "api/run_chat.h"
#include "chat/anthropic_content.h"
#include "chat/anthropic_json.h"
#include "chat/anthropic_request.h"
#include "chat/tool_call_id.h"

namespace daybreak::api {
namespace {

using chat::AnthropicCall;
using chat::AnthropicRequest;
using chat::BlockStep;
using chat::OutputEvent;

// "call_XYZ" with the prefix clients of this protocol know.
std::string renamed(std::string_view prefix, const std::string& tool_call_id) {
  return std::string(prefix) + tool_call_id.substr(std::string_view("call_").size());
}

class AnthropicMessage final : public ChatCall {
 public:
  AnthropicMessage(PreparedChat chat, bool show_thinking, std::string request_id)
      : ChatCall(std::move(chat)),
        head_{.id = renamed("msg_", chat::make_tool_call_id(random_bits)),
              .model = this->chat().served.name},
        splitter_(show_thinking),
        request_id_(std::move(request_id)) {}

  std::string_view id() const override { return head_.id; }

  void note(const std::vector<ChoiceDelta>& deltas) override {
    for (const BlockStep& step : steps_of(deltas)) {
      chat::append_step(blocks_, step);
    }
  }

  http::Response whole(const Generation& generation) override {
    http::Response response;
    response.headers = headers();
    response.body = chat::anthropic_message_json(head_, blocks_, stop(), generation.usage());
    return response;
  }

  std::vector<http::Header> stream_headers(const Generation& /*generation*/) override {
    return headers();
  }

  std::string frames(const std::vector<ChoiceDelta>& deltas,
                     const Generation& generation) override {
    std::string out;
    if (deltas.empty()) {
      return out;
    }
    if (!std::exchange(started_, true)) {
      chat::append_message_start(out, head_, generation.usage());
      chat::append_ping(out);
    }
    for (const BlockStep& step : steps_of(deltas)) {
      chat::append_block_event(out, step);
    }
    if (!finish_reason_.empty()) {
      chat::append_message_end(out, stop(), generation.usage());
    }
    return out;
  }

  std::string error_frames(const Error& error) override {
    std::string out;
    chat::append_anthropic_event(out, "error", chat::anthropic_error_json(error, request_id_));
    return out;
  }

 private:
  std::vector<BlockStep> steps_of(const std::vector<ChoiceDelta>& deltas) {
    std::vector<BlockStep> steps;
    for (const auto& [choice, delta] : deltas) {
      if (!delta.finish_reason.empty()) {
        finish_reason_ = delta.finish_reason;
        stop_string_ = delta.stop_string;
        splitter_.finish(steps);
      } else if (delta.event.kind == OutputEvent::Kind::kToolCallBegin) {
        splitter_.add(delta.event, renamed("toolu_", delta.tool_call_id), steps);
      } else {
        splitter_.add(delta.event, {}, steps);
      }
    }
    return steps;
  }

  [[nodiscard]] chat::AnthropicStop stop() const {
    return {.finish_reason = finish_reason_, .stop_sequence = stop_string_};
  }

  [[nodiscard]] std::vector<http::Header> headers() const {
    return anthropic_headers(request_id_, chat().request.ignored_fields);
  }

  chat::AnthropicHead head_;
  chat::BlockSplitter splitter_;
  std::string request_id_;
  std::vector<chat::ContentBlock> blocks_;  // of an answer that is not streamed
  std::string_view finish_reason_;
  std::string stop_string_;
  bool started_ = false;  // message_start has been sent
};

// Parses and renders. `show_thinking` is set.
Result<PreparedChat> read_request(const http::Request& request, AnthropicCall call,
                                  const Context& context, bool& show_thinking) {
  DAYBREAK_TRY(AnthropicRequest read,
               chat::parse_anthropic_request(request.body, call, context.options.limits));
  if (!read.first_image.empty()) {
    return Error{Errc::kInvalidArgument, read.first_image +
                                             ": image input needs the vision tower, "
                                             "which this version lacks"};
  }
  show_thinking = read.show_thinking;
  return render_chat(std::move(read.chat), context);
}

// The released API's words: clients look for them, to shorten the conversation or the answer.
Status check_room(const PreparedChat& chat, const Context& context) {
  const std::size_t limit = context.generator.context_tokens();
  if (chat.prompt.size() >= limit) {
    return Error{Errc::kInvalidArgument, fmt::format("prompt is too long: {} tokens > {} maximum",
                                                     chat.prompt.size(), limit - 1)};
  }
  const std::uint64_t wanted = chat.request.sampling.max_tokens.value_or(1);
  if (wanted > limit - chat.prompt.size()) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("input length and `max_tokens` exceed context limit: {} + {} > {}, "
                             "decrease input length or `max_tokens` and try again",
                             chat.prompt.size(), wanted, limit)};
  }
  return ok();
}

Result<std::unique_ptr<ChatCall>> prepare(const http::Request& request, const Context& context) {
  bool show_thinking = true;
  DAYBREAK_TRY(PreparedChat chat,
               read_request(request, AnthropicCall::kMessages, context, show_thinking));
  DAYBREAK_CHECK_OK(check_room(chat, context));
  DAYBREAK_CHECK_OK(fit_chat(chat, context));
  std::unique_ptr<ChatCall> call =
      std::make_unique<AnthropicMessage>(std::move(chat), show_thinking, request.id);
  return call;
}

Result<Counted> count(const http::Request& request, const Context& context) {
  bool show_thinking = true;
  DAYBREAK_TRY(PreparedChat chat,
               read_request(request, AnthropicCall::kCountTokens, context, show_thinking));
  Counted out{.model = std::move(chat.request.model), .response = {}};
  out.response.headers = anthropic_headers(request.id, chat.request.ignored_fields);
  out.response.body = chat::anthropic_count_json(chat.billed_prompt_tokens);
  return out;
}

http::Task<void> handle_count(Context& context, http::Exchange& exchange) {
  co_await answer_counted(context, exchange, anthropic_error_response, count);
}

}  // namespace

ChatProtocol anthropic_messages() {
  return {.prepare = prepare, .refuse = anthropic_error_response};
}

void add_anthropic_routes(http::Router& router, Context& context) {
  for (const std::string& base :
       {std::string("/v1/messages"), std::string("/anthropic/v1/messages")}) {
    router.add("POST", base, chat_handler(context, anthropic_messages()));
    router.add("POST", base + "/count_tokens",
               [&context](http::Exchange& exchange) { return handle_count(context, exchange); });
  }
}

}  // namespace daybreak::api
