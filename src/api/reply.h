// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a generation to the answer of an exchange, whole or as a stream of events, whatever is
// generated. `Call` writes what `Generation` gives: see ChatCall (chat_call.h) and Generation.

#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "api/admission.h"
#include "api/content_log.h"
#include "api/keep_alive.h"
#include "api/unhook.h"
#include "base/result.h"
#include "chat/response_json.h"
#include "http/exchange.h"

namespace daybreak::api {

// Returns the answer for an error, in the words of a protocol.
using RefuseFn = std::function<http::Response(const http::Request&, const Error&)>;

inline http::Task<void> refuse(http::Exchange& exchange, const RefuseFn& refusal,
                               const Error& error, std::vector<http::Header> headers = {}) {
  http::Response response = refusal(exchange.request(), error);
  replace_headers(response, std::move(headers));
  co_await exchange.respond(std::move(response));
}

inline access::Outcome outcome_of(const Error& error) {
  return error.code == Errc::kCancelled ? access::Outcome::kCancelled : access::Outcome::kError;
}

// Takes over how the choices among `deltas` ended. Returns whether one did.
template <class Deltas>
bool note_outcome(const Deltas& deltas, access::Outcome& outcome) {
  bool ended = false;
  for (const auto& one : deltas) {
    if (const auto reason = access::parse_outcome(one.delta.finish_reason); reason) {
      outcome = *reason;
      ended = true;
    }
  }
  return ended;
}

// Beside status 429 it tells that the request had been taken in and gave its place to another.
inline constexpr std::string_view kDisplacedNote = "displaced";

template <class Generation>
void note_displaced(http::Exchange& exchange, const Generation& generation) {
  if (std::ranges::any_of(generation.times(), [](const engine::RequestTimes& times) {
        return times.displaced.has_value();
      })) {
    exchange.note({std::string(kDisplacedNote), 1});
  }
}

// Writes down what was taken by an answer that is not given to its end, once the generator has let
// go of it. Of a request that never started that is nothing, whatever the reason: as after a
// refusal, it does not count.
template <class Generation>
http::Task<void> finish_early(Admission& admission, Generation& generation,
                              access::Outcome outcome) {
  co_await generation.settle();
  if (generation.started()) {
    co_await admission.finish(generation.billed_usage(), outcome);
  } else {
    admission.withdraw();
  }
}

// Sends everything as events. The status line waits for the first token, so that an error before it
// is still an HTTP status; unless `pings` says that proxies would not wait that long. A head sent
// early lacks the headers of the call: what they tell is not known yet.
template <class Call, class Generation>
http::Task<void> reply_streamed(http::Exchange& exchange, const RefuseFn& refusal, Call& call,
                                Generation& generation, KeepAlive pings, Admission& admission) {
  bool started = false;
  access::Outcome outcome = access::Outcome::kStop;
  while (!generation.done()) {
    auto deltas = co_await generation.next(pings.due());
    if (deltas && deltas->empty() && !generation.done() && pings.is_due()) {
      if (!std::exchange(started, true)) {
        co_await exchange.start_events(admission.headers());
      }
      pings.sent();
      if (!co_await exchange.send_events(std::string(KeepAlive::kComment))) {
        co_return co_await finish_early(admission, generation, access::Outcome::kCancelled);
      }
      continue;
    }
    if (!deltas) {
      note_displaced(exchange, generation);
      co_await finish_early(admission, generation, outcome_of(deltas.error()));
    }
    if (!deltas && !started) {
      co_return co_await refuse(exchange, refusal, deltas.error(), admission.headers());
    }
    // A client that has seen the end of its answer finds it in the ledger.
    if (deltas && note_outcome(*deltas, outcome) && generation.done()) {
      co_await admission.finish(generation.billed_usage(), outcome);
    }
    std::string frames =
        deltas ? call.frames(*deltas, generation) : call.error_frames(deltas.error());
    if (!frames.empty() && !std::exchange(started, true)) {
      std::vector<http::Header> headers = call.stream_headers(generation);
      std::ranges::move(admission.headers(), std::back_inserter(headers));
      co_await exchange.start_events(std::move(headers));
    }
    if (!frames.empty()) {
      pings.sent();
    }
    const bool there = co_await exchange.send_events(std::move(frames));
    if (!deltas || !there) {
      co_return co_await finish_early(admission, generation, access::Outcome::kCancelled);
    }
  }
}

template <class Call, class Generation>
http::Task<void> reply_whole(http::Exchange& exchange, const RefuseFn& refusal, Call& call,
                             Generation& generation, Admission& admission) {
  access::Outcome outcome = access::Outcome::kStop;
  while (!generation.done()) {
    auto deltas = co_await generation.next();
    if (!deltas) {
      note_displaced(exchange, generation);
      co_await finish_early(admission, generation, outcome_of(deltas.error()));
      co_return co_await refuse(exchange, refusal, deltas.error(), admission.headers());
    }
    static_cast<void>(note_outcome(*deltas, outcome));
    call.note(*deltas);
  }
  co_await admission.finish(generation.billed_usage(), outcome);
  http::Response response = call.whole(generation);
  replace_headers(response, admission.headers());
  co_await exchange.respond(std::move(response));
}

template <class Generation>
void note_generation(http::Exchange& exchange, const Generation& generation,
                     std::chrono::steady_clock::time_point began) {
  const chat::TokenUsage usage = generation.usage();
  exchange.note({"prompt_tokens", static_cast<std::int64_t>(usage.prompt_tokens)});
  exchange.note({"completion_tokens", static_cast<std::int64_t>(usage.completion_tokens)});
  if (const auto first = generation.first_token()) {
    const auto ttft = std::chrono::duration_cast<std::chrono::milliseconds>(*first - began);
    exchange.note({"ttft_ms", ttft.count()});
  }
}

// Writes the request and what has been generated into the content log, if there is one.
template <class Generation>
void note_content(const http::Exchange& exchange, const Generation& generation) {
  if (ContentLog* const log = generation.content_log(); log != nullptr) {
    const http::Request& request = exchange.request();
    log->write(
        {.request_id = request.id,
         .route = request.path,
         .request = request.body,
         .choices = generation.choices_json(exchange.client_gone() ? "cancelled" : "error")});
  }
}

// Submits, answers, and stops the generator when the client leaves. `keep_alive`: see
// ServiceOptions::keep_alive_comments.
template <class Call, class Generation>
http::Task<void> reply(http::Exchange& exchange, const RefuseFn& refusal, Call& call,
                       Generation& generation, bool stream, std::chrono::milliseconds keep_alive,
                       std::chrono::steady_clock::time_point began, Admission& admission) {
  if (const Status status = generation.submit(); !status) {
    // Those that found a place before the one that found none: not to be paid, but to be gone.
    co_await generation.settle();
    admission.withdraw();
    co_return co_await refuse(exchange, refusal, status.error(), admission.headers());
  }
  exchange.on_gone([&generation] { generation.cancel(); });
  const Unhook unhook(exchange);
  if (stream) {
    co_await reply_streamed(exchange, refusal, call, generation, KeepAlive(keep_alive), admission);
  } else {
    co_await reply_whole(exchange, refusal, call, generation, admission);
  }
  note_generation(exchange, generation, began);
  note_content(exchange, generation);
}

}  // namespace daybreak::api
