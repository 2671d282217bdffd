// SPDX-License-Identifier: Apache-2.0
#include "api/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "api/isolation.h"
#include "api/later.h"
#include "api/on_worker.h"
#include "api/random.h"
#include "api/served_model.h"

namespace daybreak::api {
namespace {

using std::chrono::microseconds;

// The id of the access log and something of ours: a client that sends one id twice pays twice.
std::string ledger_id(const std::string& request_id) {
  return fmt::format("{}-{:016x}", std::string_view(request_id).substr(0, 100), random_bits());
}

std::int64_t rounded_up(microseconds time, microseconds unit) {
  return (time + unit - microseconds(1)) / unit;
}

void add_rate(const std::optional<access::RateStatus>& rate, std::string_view what,
              std::vector<http::Header>& out) {
  if (rate) {
    out.push_back({fmt::format("x-ratelimit-limit-{}", what), fmt::format("{}", rate->limit)});
    out.push_back(
        {fmt::format("x-ratelimit-remaining-{}", what), fmt::format("{}", rate->remaining)});
    out.push_back({fmt::format("x-ratelimit-reset-{}", what),
                   fmt::format("{}ms", rounded_up(rate->reset, std::chrono::milliseconds(1)))});
  }
}

// The released API's own names, for requests.
void add_vendor_rate(const std::optional<access::RateStatus>& rate,
                     std::vector<http::Header>& out) {
  if (rate) {
    out.push_back({"X-RateLimit-Limit", fmt::format("{}", rate->limit)});
    out.push_back({"X-RateLimit-Remaining", fmt::format("{}", rate->remaining)});
    out.push_back(
        {"X-RateLimit-Reset", fmt::format("{}", rounded_up(rate->reset, std::chrono::seconds(1)))});
  }
}

Error with_reason(Error error, std::string_view reason) {
  error.reason = reason;
  return error;
}

Error key_error(Error error, std::string_view key) {
  const bool wrong = error.code == Errc::kUnauthenticated && !key.empty();
  return wrong ? with_reason(std::move(error), "incorrect_api_key_error") : error;
}

bool is_rate(access::LimitKind limit) {
  return !access::is_quota(limit) && limit != access::LimitKind::kServer;
}

Error refusal_error(const access::Refusal& refusal) {
  if (access::is_quota(refusal.limit)) {
    return with_reason(refusal.error, "exceeded_current_quota_error");
  }
  return is_rate(refusal.limit) ? with_reason(refusal.error, "rate_limit_reached_error")
                                : refusal.error;
}

}  // namespace

std::string_view key_of(const http::Request& request) {
  constexpr std::string_view kBearer = "bearer ";
  std::string_view value = request.header("authorization");
  if (value.size() > kBearer.size() && http::same_name(value.substr(0, kBearer.size()), kBearer)) {
    value.remove_prefix(kBearer.size());
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value;
  }
  return request.header("x-api-key");
}

Result<access::Caller> caller_of(const Context& context, const http::Request& request,
                                 access::Scope scope) {
  const access::KeyId principal{request.principal.value_or(0)};
  if (context.access == nullptr && principal == access::kAnonymousId) {
    return access::anonymous_caller();
  }
  if (context.access == nullptr) {
    return Error{Errc::kUnauthenticated, "made with an API key, and this server has no keys"};
  }
  if (request.principal) {
    return context.access->authorize(principal, scope);
  }
  const std::string_view key = key_of(request);
  auto caller = context.access->authorize(key, scope, "");
  return caller ? std::move(caller) : key_error(std::move(caller).error(), key);
}

Result<access::Caller> generating_caller(const Context& context, const http::Request& request) {
  return caller_of(context, request,
                   request.principal ? access::Scope::kBatch : access::Scope::kInference);
}

std::vector<std::string> usable_models(const Context& context, const access::ApiKey& caller) {
  std::vector<std::string> names = served_names(context);
  std::erase_if(names, [&](const auto& name) { return !access::allows_model(caller, name); });
  return names;
}

Admission::Admission(const Context& context, http::Exchange& exchange)
    : context_(context), exchange_(exchange), policy_(context.access) {}

Status Admission::begin(std::string_view model, const Demand& demand) {
  if (policy_ == nullptr) {
    return ok();
  }
  // The key may have been revoked since the route asked.
  DAYBREAK_TRY(caller_, generating_caller(context_, exchange_.request()));
  DAYBREAK_CHECK_OK(check_model(model));
  auto begun = policy_->begin(
      caller_, {.request_id = ledger_id(exchange_.request().id),
                .model = demand.model,
                .base_model = context_.options.model_names.front(),
                .prompt_tokens = static_cast<std::int64_t>(demand.prompt_tokens),
                .max_completion_tokens = static_cast<std::int64_t>(demand.answer_tokens),
                .sequences = static_cast<std::int64_t>(demand.sequences),
                .stream = demand.stream});
  if (auto* refusal = std::get_if<access::Refusal>(&begun)) {
    return refused(std::move(*refusal));
  }
  permit_.emplace(std::get<access::Permit>(std::move(begun)));
  rates_ = permit_->rates();
  return ok();
}

Error Admission::refused(access::Refusal refusal) {
  refusal_ = std::move(refusal);
  rates_ = refusal_->rates;
  if (refusal_->retry_after && is_rate(refusal_->limit)) {
    exchange_.note({std::string(kRateWaitNote),
                    rounded_up(*refusal_->retry_after, std::chrono::milliseconds(1))});
  }
  return refusal_error(*refusal_);
}

bool Admission::refused_for_length() const { return refusal_ && refusal_->shorter_may_fit; }

Status Admission::begin_request() {
  if (policy_ == nullptr) {
    return ok();
  }
  DAYBREAK_TRY(caller_, generating_caller(context_, exchange_.request()));
  auto begun = policy_->begin_request(caller_);
  if (auto* refusal = std::get_if<access::Refusal>(&begun)) {
    return refused(std::move(*refusal));
  }
  request_.emplace(std::get<access::Lease>(std::move(begun)));
  rates_ = request_->rates();
  return ok();
}

void Admission::count() {
  if (request_) {
    request_->settle(0);
  }
}

Status Admission::check_model(std::string_view model) const {
  const std::string_view used =
      model.empty() ? std::string_view(context_.options.model_names.front()) : model;
  if (policy_ == nullptr || access::allows_model(*caller_, used)) {
    return ok();
  }
  return Error{Errc::kPermission, fmt::format("model: the API key may not use '{}'", used)};
}

void Admission::add_models(Error& error) const {
  if (const auto caller = generating_caller(context_, exchange_.request())) {
    api::add_models(error, usable_models(context_, **caller));
  }
}

void Admission::identify(PreparedChat& chat) const {
  // On an open server nobody's requests go before others', unless these step back.
  int priority = engine::kMaxPriority;
  std::string owner;
  if (permit_ && permit_->caller()->id != access::kAnonymousId) {
    const access::ApiKey& key = *permit_->caller();
    priority = key.settings.priority;
    owner = access::owner_of(key);
    chat.zero_retention = key.settings.zero_retention;
  }
  chat.isolation = isolation_of(owner, chat.request.cache_salt,
                                chat.zero_retention ? Retention::kNone : Retention::kUsual);
  chat.priority = std::max(0, priority - chat.request.deferral);
}

std::string Admission::owner() const {
  return caller_ == nullptr ? std::string() : access::owner_of(*caller_);
}

std::vector<http::Header> Admission::headers() const {
  std::vector<http::Header> out;
  access::RateStatuses rates = rates_.value_or(access::RateStatuses{});
  if (!rates_ && policy_ != nullptr) {
    if (const auto caller = generating_caller(context_, exchange_.request())) {
      rates = policy_->rates(*caller);
    }
  }
  add_rate(rates.requests, "requests", out);
  add_rate(rates.tokens, "tokens", out);
  add_vendor_rate(rates.requests, out);
  if (refusal_) {
    const auto& after = refusal_->retry_after;
    const bool retry = after && !access::is_quota(refusal_->limit);
    out.push_back({"x-should-retry", retry ? "true" : "false"});
    if (after) {
      out.push_back(
          {"Retry-After", fmt::format("{}", rounded_up(*after, std::chrono::seconds(1)))});
      out.push_back(
          {"retry-after-ms", fmt::format("{}", rounded_up(*after, std::chrono::milliseconds(1)))});
    }
  }
  return out;
}

http::Task<void> Admission::finish(const chat::TokenUsage& usage, access::Outcome outcome) {
  if (!permit_) {
    co_return;
  }
  access::Permit permit = std::move(*permit_);
  permit_.reset();
  Later<Result<access::Recorded>> written(exchange_.executor());
  const Status queued =
      permit.finish({.prompt = static_cast<std::int64_t>(usage.prompt_tokens),
                     .cached = static_cast<std::int64_t>(usage.cached_tokens),
                     .completion = static_cast<std::int64_t>(usage.completion_tokens),
                     .reasoning = static_cast<std::int64_t>(usage.reasoning_tokens)},
                    outcome, written.setter());
  std::optional<Error> failed;
  if (!queued) {
    failed = queued.error();
  } else if (const auto recorded = co_await written.get(); !recorded) {
    failed = recorded.error();
  }
  if (failed) {
    const std::array<LogField, 2> fields = {
        {{"id", exchange_.request().id}, {"error", failed->message}}};
    context_.log.write(LogLevel::kError, "usage not recorded yet", fields);
  }
}

void replace_headers(http::Response& response, std::vector<http::Header> headers) {
  std::erase_if(response.headers, [&](const http::Header& old) {
    return std::ranges::any_of(
        headers, [&](const http::Header& one) { return http::same_name(one.name, old.name); });
  });
  response.headers.insert(response.headers.end(), std::make_move_iterator(headers.begin()),
                          std::make_move_iterator(headers.end()));
}

http::Task<void> answer_counted(
    Context& context, http::Exchange& exchange,
    const std::function<http::Response(const http::Request&, const Error&)>& refuse,
    const std::function<Result<Counted>(const http::Request&, const Context&)>& work) {
  std::optional<Admission> admission(std::in_place, context, exchange);
  std::optional<Result<Counted>> made;
  Status status = admission->begin_request();
  if (status) {
    const std::function<void()> job = [&] { made.emplace(work(exchange.request(), context)); };
    co_await on_worker(context, job);
    if (*made) {
      status = admission->check_model((*made)->model);
    } else {
      Error error = made->error();
      admission->add_models(error);
      status = std::move(error);
    }
  }
  if (status) {
    admission->count();
  }
  http::Response response =
      status ? std::move((*made)->response) : refuse(exchange.request(), status.error());
  replace_headers(response, admission->headers());
  admission.reset();  // what an error gives back is there before the client can ask again
  co_await exchange.respond(std::move(response));
}

http::Handler with_key(Context& context, access::Scope scope,
                       std::function<http::Response(const http::Request&, const Error&)> refuse,
                       http::Handler handler) {
  struct Guard {
    Context& context;
    access::Scope scope;
    std::function<http::Response(const http::Request&, const Error&)> refuse;
    http::Handler handler;
    http::Task<void> run(http::Exchange& exchange) const {
      const auto caller = caller_of(context, exchange.request(), scope);
      if (!caller) {
        http::Response response = refuse(exchange.request(), caller.error());
        co_await exchange.respond(std::move(response));
        co_return;
      }
      if ((*caller)->id != access::kAnonymousId) {
        exchange.note({"key", static_cast<std::int64_t>((*caller)->id)});
      }
      co_await handler(exchange);
    }
  };
  const auto guard =
      std::make_shared<const Guard>(Guard{context, scope, std::move(refuse), std::move(handler)});
  return [guard](http::Exchange& exchange) { return guard->run(exchange); };
}

}  // namespace daybreak::api
