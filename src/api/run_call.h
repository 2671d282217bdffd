// SPDX-License-Identifier: Apache-2.0
#pragma once

// run_call(): one generating request, from its arrival to the end of its answer, whatever is
// generated: read on a worker, admitted, its grammar compiled, submitted and answered. `Call` is
// what ChatCall (chat_call.h) is: what is asked for, and how the answer is written.

#include <fmt/format.h>

#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/admission.h"
#include "api/constraint.h"
#include "api/context.h"
#include "api/on_worker.h"
#include "api/prepare.h"
#include "api/reply.h"
#include "api/request_trace.h"
#include "api/served_model.h"
#include "base/result.h"
#include "http/exchange.h"

namespace daybreak::api {

// Pure computation on a worker thread; what it refers to outlives the answer.
template <class Call>
using PrepareFn =
    std::function<Result<std::unique_ptr<Call>>(const http::Request&, const Context&)>;

// Of more choices than the generator has places some would be refused whenever they come.
inline Status check_choices(std::size_t choices, std::size_t n, std::size_t capacity) {
  if (choices <= capacity) {
    return ok();
  }
  const std::string found =
      choices == n ? fmt::format("{}", n) : fmt::format("{} prompts with n of {}", choices / n, n);
  return Error{
      Errc::kInvalidArgument,
      fmt::format("{}: expected at most {} choices in all, the requests that can wait here "
                  "(max_queue), found {}",
                  choices == n ? "n" : "prompt", capacity, found)};
}

// `operation`: see RequestTrace. `protocol_refuse` writes errors; `prepare` reads the request. The
// arguments outlive the coroutine. A client that leaves, at any point, stops the generator within
// one step.
template <class Generation, class Call>
http::Task<void> run_call(Context& context, http::Exchange& exchange, std::string_view operation,
                          const RefuseFn& protocol_refuse, const PrepareFn<Call>& prepare) {
  const auto began = std::chrono::steady_clock::now();
  RequestTrace trace(context, exchange, operation);
  const RefuseFn refusal = trace.noting(protocol_refuse);
  Admission admission(context, exchange);
  if (context.draining) {
    co_return co_await refuse(
        exchange, refusal,
        Error{Errc::kUnavailable, "the server is shutting down, no new requests"},
        admission.headers());
  }
  std::optional<Result<std::unique_ptr<Call>>> prepared;
  const std::function<void()> work = [&] {
    prepared.emplace(prepare(exchange.request(), context));
    if (!*prepared && context.telemetry) {
      trace.refused(served_name_in(exchange.request().body, context));
    }
  };
  co_await on_worker(context, work);
  if (!*prepared) {
    Error error = prepared->error();
    admission.add_models(error);
    co_return co_await refuse(exchange, refusal, error, admission.headers());
  }
  Call& call = ***prepared;
  PreparedChat& chat = call.chat();
  trace.asked(chat, call.choices());
  if (const Status fit =
          check_choices(call.choices(), chat.request.n, context.generator.queue_capacity());
      !fit) {
    co_return co_await refuse(exchange, refusal, fit.error(), admission.headers());
  }
  if (const Status may =
          admission.begin(chat.request.model, {.model = chat.served.name,
                                               .prompt_tokens = chat.billed_prompt_tokens,
                                               .answer_tokens = call.answer_tokens(),
                                               .sequences = call.choices(),
                                               .stream = chat.request.stream});
      !may) {
    Error error = may.error();
    error.message += admission.refused_for_length() ? length_hint(chat) : "";
    co_return co_await refuse(exchange, refusal, error, admission.headers());
  }
  admission.identify(chat);
  // Of several choices a later one may find no place: then nobody may have gone for the others.
  chat.may_displace = call.choices() == 1;
  // Nothing may have been sent of what makes room for others: no answer beside it, no head.
  chat.yields_place = chat.may_displace &&
                      !(chat.request.stream && context.options.keep_alive_comments.count() > 0);
  auto constraint = co_await compile_constraint(context, exchange, chat);
  if (!constraint) {
    admission.withdraw();
    co_return co_await refuse(exchange, refusal, constraint.error(), admission.headers());
  }
  chat.constraint = *std::move(constraint);
  Generation generation(context, call.prepared(), exchange.executor());
  if (const std::size_t each = call.kept_logprobs(); each > 0) {
    HeldLogprobs logprobs(context.logprobs, admission.owner(), each, call.answer_tokens());
    // A default may be far more than the answer will have: that turns out later.
    const bool asked = chat.request.sampling.max_tokens.has_value();
    Status held = asked ? logprobs.check_longest() : ok();
    if (held) {
      held = generation.hold(std::move(logprobs));
    }
    if (!held) {
      admission.withdraw();
      co_return co_await refuse(exchange, refusal, held.error(), admission.headers());
    }
  }
  co_await reply(exchange, refusal, call, generation, chat.request.stream,
                 context.options.keep_alive_comments, began, admission);
  trace.answered(generation, call.id());
}

}  // namespace daybreak::api
