// SPDX-License-Identifier: Apache-2.0
#include "api/chat_handler.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "api/constraint.h"
#include "api/error_reply.h"
#include "api/generation.h"
#include "api/prepare.h"
#include "api/random.h"
#include "api/unhook.h"
#include "chat/response_json.h"
#include "chat/tool_call_id.h"

namespace daybreak::api {
namespace {

using chat::OutputEvent;
using http::Exchange;
using http::Task;

// Longest list of ignored fields that is reported back.
constexpr std::size_t kMaxIgnoredHeaderBytes = 512;

chat::ReplyHead reply_head(const Context& context) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.id = "chatcmpl-" + chat::make_tool_call_id(random_bits).substr(5),
          .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .model = context.options.model_names.front()};
}

std::vector<http::Header> reply_headers(const chat::ChatRequest& request) {
  if (request.ignored_fields.empty()) {
    return {};
  }
  std::string names = fmt::format("{}", fmt::join(request.ignored_fields, ", "));
  names.resize(std::min(names.size(), kMaxIgnoredHeaderBytes));
  return {{"x-daybreak-ignored-fields", std::move(names)}};
}

void append_frame(std::string& frames, std::string_view json) {
  if (!json.empty()) {
    frames += "data: ";
    frames += json;
    frames += "\n\n";
  }
}

// Runs `work` on a worker thread and returns to the caller's strand.
Task<void> call(const std::function<void()>& work) {
  work();
  co_return;
}
Task<void> run_on_worker(Context& context, const std::function<void()>& work) {
  Task<void> task = call(work);
  co_await boost::asio::co_spawn(context.workers.get_executor(), std::move(task),
                                 boost::asio::use_awaitable);
}

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

// Turns deltas into the frames of a stream.
class Framer {
 public:
  Framer(chat::ReplyHead head, const PreparedChat& chat)
      : head_(std::move(head)), chat_(chat), opened_(chat.request.n, false) {}

  // `generation` has already consumed what the deltas tell.
  std::string frames(const std::vector<ChoiceDelta>& deltas, const Generation& generation) {
    std::string out;
    for (const auto& [choice, delta] : deltas) {
      if (!opened_[choice]) {
        opened_[choice] = true;
        append_frame(out, chat::role_chunk_json(head_, choice));
      }
      if (delta.finish_reason.empty()) {
        append_frame(out, chat::event_chunk_json(head_, choice, delta.event, delta.tool_call_id,
                                                 logprobs_of(delta)));
        continue;
      }
      // Clients of the released API read the usage from the last choice to finish.
      const chat::TokenUsage usage = generation.usage();
      const bool last = ++finished_ == opened_.size();
      append_frame(out, chat::finish_chunk_json(head_, choice, delta.finish_reason,
                                                last ? &usage : nullptr));
      if (last && chat_.request.include_usage) {
        append_frame(out, chat::usage_chunk_json(head_, usage));
      }
      if (last) {
        append_frame(out, "[DONE]");
      }
    }
    return out;
  }

 private:
  const std::vector<chat::TokenLogprobs>* logprobs_of(const Delta& delta) const {
    const bool wanted =
        chat_.request.sampling.logprobs && delta.event.kind == OutputEvent::Kind::kContent;
    return wanted ? &delta.logprobs : nullptr;
  }

  chat::ReplyHead head_;
  const PreparedChat& chat_;
  std::vector<bool> opened_;  // the role has been sent
  std::size_t finished_ = 0;
};

// Sends everything as events. The status line waits for the first token, so that an error before it
// is still an HTTP status.
Task<void> reply_streamed(Context& context, Exchange& exchange, const PreparedChat& chat,
                          Generation& generation) {
  Framer framer(reply_head(context), chat);
  bool started = false;
  while (!generation.done()) {
    auto deltas = co_await generation.next();
    if (!deltas && !started) {
      http::Response response = error_response(deltas.error());
      co_return co_await exchange.respond(std::move(response));
    }
    std::string frames;
    if (deltas) {
      frames = framer.frames(*deltas, generation);
    } else {
      append_frame(frames, chat::error_json(deltas.error()));
    }
    if (!frames.empty() && !std::exchange(started, true)) {
      std::vector<http::Header> headers = reply_headers(chat.request);
      co_await exchange.start_events(std::move(headers));
    }
    const bool there = co_await exchange.send_events(std::move(frames));
    if (!deltas || !there) {
      co_return;
    }
  }
}

Task<void> reply_whole(Context& context, Exchange& exchange, const PreparedChat& chat,
                       Generation& generation) {
  http::Response response;
  response.headers = reply_headers(chat.request);
  while (!generation.done()) {
    auto deltas = co_await generation.next();
    if (!deltas) {
      response = error_response(deltas.error());
      co_return co_await exchange.respond(std::move(response));
    }
  }
  response.body =
      chat::chat_completion_json(reply_head(context), generation.completions(), generation.usage());
  co_await exchange.respond(std::move(response));
}

Task<void> generate(Context& context, Exchange& exchange, const PreparedChat& chat,
                    std::chrono::steady_clock::time_point began) {
  Generation generation(context, chat, exchange.executor());
  if (const Status status = generation.submit(); !status) {
    http::Response response = error_response(status.error());
    co_return co_await exchange.respond(std::move(response));
  }
  exchange.on_gone([&generation] { generation.cancel(); });
  const Unhook unhook(exchange);
  if (chat.request.stream) {
    co_await reply_streamed(context, exchange, chat, generation);
  } else {
    co_await reply_whole(context, exchange, chat, generation);
  }
  note_generation(exchange, generation, began);
}

Task<void> handle(Context& context, Exchange& exchange) {
  const auto began = std::chrono::steady_clock::now();
  if (context.draining) {
    http::Response response =
        error_response({Errc::kUnavailable, "the server is shutting down, no new requests"});
    co_return co_await exchange.respond(std::move(response));
  }
  std::optional<Result<PreparedChat>> prepared;
  const std::function<void()> work = [&] {
    prepared.emplace(prepare_chat(exchange.request().body, context));
  };
  co_await run_on_worker(context, work);
  if (!*prepared) {
    http::Response response = error_response((*prepared).error());
    co_return co_await exchange.respond(std::move(response));
  }
  auto constraint = co_await compile_constraint(context, exchange, **prepared);
  if (!constraint) {
    http::Response response = error_response(constraint.error());
    co_return co_await exchange.respond(std::move(response));
  }
  (*prepared)->constraint = *std::move(constraint);
  co_await generate(context, exchange, **prepared, began);
}

}  // namespace

http::Handler chat_handler(Context& context) {
  return [&context](Exchange& exchange) { return handle(context, exchange); };
}

}  // namespace daybreak::api
