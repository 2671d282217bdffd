// SPDX-License-Identifier: Apache-2.0
#include "api/constraint.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "api/unhook.h"
#include "engine/grammar_constraint.h"

namespace daybreak::api {
namespace {

using grammar::GrammarService;
using http::Exchange;
using http::Task;

// What the handler sleeps on. Shared with the compilation, which may end after the handler. All of
// it is used on the strand alone.
struct Wait {
  explicit Wait(const boost::asio::any_io_executor& strand) : ready(strand) {}
  boost::asio::steady_timer ready;
  std::optional<GrammarService::Outcome> outcome;
  bool gone = false;
};

// Returns the compiled grammar of `chat`, whose rules constrain.
Task<GrammarService::Outcome> compile(Context& context, Exchange& exchange,
                                      const PreparedChat& chat) {
  const auto wait = std::make_shared<Wait>(exchange.executor());
  const auto done = [wait](const GrammarService::Outcome& outcome) {
    boost::asio::post(wait->ready.get_executor(), [wait, outcome] {
      wait->outcome = outcome;
      wait->ready.cancel();
    });
  };
  const auto ticket = context.grammars->compile(chat.grammar.rules, done);
  if (!ticket) {
    co_return ticket.error();
  }
  exchange.on_gone([wait] {
    wait->gone = true;
    wait->ready.cancel();
  });
  const Unhook unhook(exchange);
  while (!wait->outcome && !wait->gone) {
    // Wake-ups come to this strand, so they run only once the wait below has begun.
    wait->ready.expires_at(std::chrono::steady_clock::time_point::max());
    co_await wait->ready.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
  if (wait->gone) {
    context.grammars->cancel(*ticket);
    co_return Error{Errc::kCancelled, "the request was cancelled"};
  }
  co_return *wait->outcome;
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
