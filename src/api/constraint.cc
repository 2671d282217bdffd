// SPDX-License-Identifier: Apache-2.0
#include "api/constraint.h"

#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "api/later.h"
#include "api/unhook.h"
#include "engine/grammar_constraint.h"

namespace daybreak::api {
namespace {

using grammar::GrammarService;
using http::Exchange;
using http::Task;

// What the handler sleeps on; nothing: the client is gone.
using Compiled = Later<std::optional<GrammarService::Outcome>>;

// Returns the compiled grammar of `chat`, whose rules constrain.
Task<GrammarService::Outcome> compile(Context& context, Exchange& exchange,
                                      const PreparedChat& chat) {
  Compiled compiled(exchange.executor());
  const auto ticket = context.grammars->compile(chat.grammar.rules, compiled.setter());
  if (!ticket) {
    co_return ticket.error();
  }
  exchange.on_gone([set = compiled.setter()] { set(std::nullopt); });
  const Unhook unhook(exchange);
  const std::optional<GrammarService::Outcome> outcome = co_await compiled.get();
  if (!outcome) {
    context.grammars->cancel(*ticket);
    co_return Error{Errc::kCancelled, "the request was cancelled"};
  }
  co_return *outcome;
}

}  // namespace

Task<Result<engine::ConstraintFactory>> compile_constraint(Context& context, Exchange& exchange,
                                                           const PreparedChat& chat) {
  if (!chat.grammar.rules.constrains()) {
    co_return engine::ConstraintFactory{};
  }
  const auto began = std::chrono::steady_clock::now();
  const GrammarService::Outcome grammar = co_await compile(context, exchange, chat);
  const auto took = std::chrono::steady_clock::now() - began;
  exchange.note(
      {"grammar_ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count()});
  if (!grammar) {
    co_return chat::compile_error(grammar.error(), chat.grammar);
  }
  co_return engine::grammar_constraint(*grammar, context.vocabulary, context.markers.stop_ids());
}

}  // namespace daybreak::api
