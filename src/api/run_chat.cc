// SPDX-License-Identifier: Apache-2.0
#include "api/run_chat.h"

#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "api/constraint.h"
#include "api/on_worker.h"
#include "api/unhook.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Task;

void note_generation(Exchange& exchange, const Generation& generation,
                     std::chrono::steady_clock::time_point began) {
  const chat::TokenUsage usage = generation.usage();
  exchange.note({"prompt_tokens", static_cast<std::int64_t>(usage.prompt_tokens)});
  exchange.note({"completion_tokens", static_cast<std::int64_t>(usage.completion_tokens)});
  if (const auto first = generation.first_token()) {
    const auto ttft = std::chrono::duration_cast<std::chrono::milliseconds>(*first - began);
    exchange.note({"ttft_ms", ttft.count()});
  }
}

Task<void> refuse(Exchange& exchange, const ChatProtocol& protocol, const Error& error) {
  http::Response response = protocol.refuse(error);
  co_await exchange.respond(std::move(response));
}

// Sends everything as events. The status line waits for the first token, so that an error before it
// is still an HTTP status.
Task<void> reply_streamed(Exchange& exchange, const ChatProtocol& protocol, ChatCall& call,
                          Generation& generation) {
  bool started = false;
  while (!generation.done()) {
    auto deltas = co_await generation.next();
    if (!deltas && !started) {
      co_return co_await refuse(exchange, protocol, deltas.error());
    }
    std::string frames =
        deltas ? call.frames(*deltas, generation) : call.error_frames(deltas.error());
    if (!frames.empty() && !std::exchange(started, true)) {
      std::vector<http::Header> headers = call.stream_headers(generation);
      co_await exchange.start_events(std::move(headers));
    }
    const bool there = co_await exchange.send_events(std::move(frames));
    if (!deltas || !there) {
      co_return;
    }
  }
}

Task<void> reply_whole(Exchange& exchange, const ChatProtocol& protocol, ChatCall& call,
                       Generation& generation) {
  while (!generation.done()) {
    auto deltas = co_await generation.next();
    if (!deltas) {
      co_return co_await refuse(exchange, protocol, deltas.error());
    }
    call.take(*deltas);
  }
  http::Response response = call.whole(generation);
  co_await exchange.respond(std::move(response));
}

Task<void> generate(Context& context, Exchange& exchange, const ChatProtocol& protocol,
                    ChatCall& call, std::chrono::steady_clock::time_point began) {
  Generation generation(context, call.chat(), exchange.executor());
  if (const Status status = generation.submit(); !status) {
    co_return co_await refuse(exchange, protocol, status.error());
  }
  exchange.on_gone([&generation] { generation.cancel(); });
  const Unhook unhook(exchange);
  if (call.chat().request.stream) {
    co_await reply_streamed(exchange, protocol, call, generation);
  } else {
    co_await reply_whole(exchange, protocol, call, generation);
  }
  note_generation(exchange, generation, began);
}

Task<void> handle(Context& context, const ChatProtocol& protocol, Exchange& exchange) {
  const auto began = std::chrono::steady_clock::now();
  if (context.draining) {
    co_return co_await refuse(
        exchange, protocol,
        Error{Errc::kUnavailable, "the server is shutting down, no new requests"});
  }
  std::optional<Result<std::unique_ptr<ChatCall>>> prepared;
  const std::function<void()> work = [&] {
    prepared.emplace(protocol.prepare(exchange.request(), context));
  };
  co_await on_worker(context, work);
  if (!*prepared) {
    co_return co_await refuse(exchange, protocol, (*prepared).error());
  }
  ChatCall& call = ***prepared;
  auto constraint = co_await compile_constraint(context, exchange, call.chat());
  if (!constraint) {
    co_return co_await refuse(exchange, protocol, constraint.error());
  }
  call.constrain(*std::move(constraint));
  co_await generate(context, exchange, protocol, call, began);
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
