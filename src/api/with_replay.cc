// SPDX-License-Identifier: Apache-2.0
#include "api/with_replay.h"

#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "api/admission.h"
#include "api/later.h"
#include "api/on_worker.h"
#include "api/replay_exchange.h"
#include "api/replay_store.h"
#include "api/unhook.h"
#include "base/json_document.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Task;

constexpr std::string_view kName = "Idempotency-Key";
constexpr std::string_view kRetries = "x-stainless-retry-count";
constexpr std::size_t kMaxNameBytes = 255;

// Whether the body asks for a stream. A broken one is for the handler to refuse.
bool asks_for_stream(const std::string& body) {
  if (body.find("\"stream\"") == std::string::npos) {
    return false;  // of nearly all: without parsing
  }
  const auto document = JsonDocument::parse(body, "body", {.max_bytes = body.size()});
  if (!document) {
    return true;
  }
  const auto stream = document->root().find("stream");
  const auto value = stream ? stream->boolean() : Result<bool>(false);
  return !value || *value;
}

// Returns what call the request is; nothing if nobody will ask for it again.
Result<std::optional<ReplayKey>> identify(const Context& context, const http::Request& request) {
  const std::string_view name = request.header(kName);
  if (name.size() > kMaxNameBytes) {
    return Error{
        Errc::kInvalidArgument,
        std::string(kName) + ": expected at most 255 bytes, found " + std::to_string(name.size())};
  }
  if (asks_for_stream(request.body)) {
    return std::optional<ReplayKey>();
  }
  DAYBREAK_TRY(const access::Caller caller, generating_caller(context, request));
  constexpr unsigned char kUse[] = {'r', 'e', 'p', 'l', 'a', 'y'};
  DAYBREAK_TRY(const access::Digest body, access::hmac_sha256(kUse, request.body));
  return std::optional(ReplayKey{.caller = caller->id,
                                 .owner = access::owner_of(*caller),
                                 .path = request.path + "?" + request.query,
                                 .name = std::string(name),
                                 .body = body});
}

// Ends listening however the coroutine ends.
class Listener {
 public:
  Listener(ReplayStore& store, ReplayStore::Claim claim)
      : store_(store), claim_(std::move(claim)) {}
  ~Listener() { store_.leave(claim_.call, claim_.listener, heard_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  void heard() { heard_ = true; }

 private:
  ReplayStore& store_;
  const ReplayStore::Claim claim_;
  bool heard_ = false;
};

class Replayed {
 public:
  Replayed(Context& context, RefuseFn refusal, http::Handler handler)
      : context_(context), refusal_(std::move(refusal)), handler_(std::move(handler)) {}

  Task<void> run(Exchange& exchange) const {
    const http::Request& request = exchange.request();
    const std::string_view retries = request.header(kRetries);
    if (request.header(kName).empty() && retries.empty()) {
      co_return co_await handler_(exchange);
    }
    std::optional<Result<std::optional<ReplayKey>>> key;
    const std::function<void()> work = [&] { key.emplace(identify(context_, request)); };
    co_await on_worker(context_, work);
    if (!*key) {
      co_return co_await refuse(exchange, refusal_, key->error(),
                                Admission(context_, exchange).headers());
    }
    if (!**key) {
      co_return co_await handler_(exchange);
    }
    // A call that ends without an answer is made by the next who wants it.
    while (!co_await answer(exchange, ***key, !retries.empty() && retries != "0")) {
    }
  }

 private:
  // Returns whether the exchange has been answered, or its client is gone.
  Task<bool> answer(Exchange& exchange, const ReplayKey& key, bool is_retry) const {
    const ReplayStore::Claim claim = context_.replays->claim(key, is_retry);
    if (claim.crowded) {
      co_await refuse(exchange, refusal_,
                      {Errc::kResourceLimit,
                       std::string(kName) + ": expected at most " + std::to_string(kMaxListeners) +
                           " requests for one answer at a time, try again later"},
                      Admission(context_, exchange).headers());
      co_return true;
    }
    if (claim.call == nullptr) {
      http::Response response = refusal_(
          exchange.request(),
          Error{Errc::kInvalidArgument,
                std::string(kName) + ": this value was sent with another body; a new request needs "
                                     "a new value"});
      response.status = 422;
      replace_headers(response, Admission(context_, exchange).headers());
      co_await exchange.respond(std::move(response));
      co_return true;
    }
    if (claim.listener == 0) {
      co_await make(exchange, claim.call);
      co_return true;
    }
    co_return co_await listen(exchange, claim);
  }

  Task<void> make(Exchange& client, const ReplayStore::CallPtr& call) const {
    const auto exchange = std::make_shared<ReplayExchange>(client, *context_.replays, call);
    exchange->attach();
    const std::shared_ptr<void> end(nullptr, [&](void*) { exchange->detach(); });
    co_await handler_(*exchange);
  }

  Task<bool> listen(Exchange& exchange, const ReplayStore::Claim& claim) const {
    ReplayStore& store = *context_.replays;
    Listener listener(store, claim);
    // Comes back if there is no answer to be given.
    Admission admission(context_, exchange);
    if (const Status may = admission.begin_request(); !may) {
      co_await refuse(exchange, refusal_, may.error(), admission.headers());
      co_return true;
    }
    Later<bool> over(exchange.executor());
    {
      exchange.on_gone([set = over.setter()] { set(false); });
      const Unhook unhook(exchange);
      store.on_over(claim.call, claim.listener, [set = over.setter()] { set(true); });
      if (!co_await over.get()) {
        co_return true;  // gone: there is nobody to answer
      }
    }
    const ReplayStore::Answer answer = store.answer(claim.call);
    if (answer == nullptr) {
      co_return false;
    }
    http::Response response = *answer;
    admission.count();
    replace_headers(response, admission.headers());
    replace_headers(response, {{"Idempotent-Replayed", "true"}});
    exchange.note({"replayed", 1});
    store.count_replay();
    if (co_await exchange.respond(std::move(response))) {
      listener.heard();
    }
    co_return true;
  }

  Context& context_;
  const RefuseFn refusal_;
  const http::Handler handler_;
};

}  // namespace

http::Handler with_replay(Context& context, RefuseFn refusal, http::Handler handler) {
  const auto shared =
      std::make_shared<const Replayed>(context, std::move(refusal), std::move(handler));
  return [shared](Exchange& exchange) { return shared->run(exchange); };
}

}  // namespace daybreak::api
