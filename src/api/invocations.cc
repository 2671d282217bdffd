// SPDX-License-Identifier: Apache-2.0
#include "api/invocations.h"

#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "api/error_reply.h"
#include "api/on_worker.h"
#include "base/json_tree.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Handler;
using http::Task;

struct Targets {
  Handler chat;
  Handler completion;
};

// Returns the handler a body is for. The handler reads it once more: this one looks at no value.
Result<const Handler*> target_of(const std::string& body, const Context& context,
                                 const Targets& targets) {
  const chat::ChatLimits& limits = context.options.limits;
  DAYBREAK_TRY(const JsonNode tree,
               parse_json_tree(
                   body, {.max_depth = limits.max_depth,
                          .max_values = limits.max_values + context.generator.context_tokens()}));
  const bool messages = tree.find("messages") != nullptr;
  const bool prompt = tree.find("prompt") != nullptr;
  if (messages == prompt) {
    return Error{Errc::kInvalidArgument,
                 messages ? "prompt: cannot be combined with messages"
                          : "messages: expected messages or prompt, found neither"};
  }
  return messages ? &targets.chat : &targets.completion;
}

Task<void> handle(Context& context, const Targets& targets, Exchange& exchange) {
  std::optional<Result<const Handler*>> target;
  const std::function<void()> work = [&] {
    target.emplace(target_of(exchange.request().body, context, targets));
  };
  co_await on_worker(context, work);
  if (*target) {
    co_return co_await (***target)(exchange);
  }
  http::Response response = error_response(target->error());
  co_await exchange.respond(std::move(response));
}

}  // namespace

Handler invocations_handler(Context& context, Handler chat, Handler completion) {
  // Shared by every request in progress; the handler itself lives as long as the router.
  const auto targets =
      std::make_shared<const Targets>(Targets{std::move(chat), std::move(completion)});
  return [&context, targets](Exchange& exchange) { return handle(context, *targets, exchange); };
}

}  // namespace daybreak::api
