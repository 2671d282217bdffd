// SPDX-License-Identifier: Apache-2.0
#include "api/run_chat.h"

#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "api/admission.h"
#include "api/constraint.h"
#include "api/on_worker.h"
#include "api/reply.h"
#include "api/request_trace.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Task;

Task<void> generate(Context& context, Exchange& exchange, const RefuseFn& refusal, ChatCall& call,
                    std::chrono::steady_clock::time_point began, Admission& admission,
                    RequestTrace& trace) {
  Generation generation(context, call.chat(), exchange.executor());
  co_await reply(exchange, refusal, call, generation, call.chat().request.stream,
                 context.options.keep_alive_comments, began, admission);
  trace.answered(generation, call.id());
}

Task<void> handle(Context& context, const ChatProtocol& protocol, Exchange& exchange) {
  const auto began = std::chrono::steady_clock::now();
  RequestTrace trace(context, exchange, "chat");
  const RefuseFn refusal = trace.noting(protocol.refuse);
  if (context.draining) {
    co_return co_await refuse(
        exchange, refusal,
        Error{Errc::kUnavailable, "the server is shutting down, no new requests"});
  }
  Admission admission(context, exchange);
  std::optional<Result<std::unique_ptr<ChatCall>>> prepared;
  const std::function<void()> work = [&] {
    prepared.emplace(protocol.prepare(exchange.request(), context));
  };
  co_await on_worker(context, work);
  if (!*prepared) {
    co_return co_await refuse(exchange, refusal, (*prepared).error());
  }
  ChatCall& call = ***prepared;
  PreparedChat& chat = call.chat();
  trace.asked(chat, chat.request.n);
  if (const Status may = admission.begin(chat.request.model, chat.billed_prompt_tokens,
                                         chat.max_tokens * chat.request.n, chat.request.stream);
      !may) {
    co_return co_await refuse(exchange, refusal, may.error(), admission.headers());
  }
  admission.identify(chat);
  auto constraint = co_await compile_constraint(context, exchange, chat);
  if (!constraint) {
    co_return co_await refuse(exchange, refusal, constraint.error());
  }
  chat.constraint = *std::move(constraint);
  co_await generate(context, exchange, refusal, call, began, admission, trace);
}

}  // namespace

void append_event(std::string& frames, std::string_view json) {
  if (!json.empty()) {
    frames += "data: ";
    frames += json;
    frames += "\n\n";
  }
}

http::Handler chat_handler(Context& context, ChatProtocol protocol) {
  // Shared by every request in progress; the handler itself lives as long as the router.
  const auto shared = std::make_shared<const ChatProtocol>(std::move(protocol));
  return [&context, shared](Exchange& exchange) { return handle(context, *shared, exchange); };
}

}  // namespace daybreak::api
