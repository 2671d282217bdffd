// SPDX-License-Identifier: Apache-2.0
#include "access/access_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_document.h"

namespace daybreak::access {
namespace {

// How long to wait for a database that cannot be written: nobody knows.
constexpr std::chrono::microseconds kLedgerRetry{1'000'000};

Status check_scope(const ApiKey& key, Scope scope) {
  if (!key.settings.scopes.contains(scope)) {
    return Error{Errc::kPermission,
                 fmt::format("the API key lacks the scope '{}'", to_string(scope))};
  }
  return ok();
}

Result<Price> check_request(const RequestEstimate& request, const Prices& prices) {
  DAYBREAK_CHECK_OK(validate_name("request id", request.request_id, kMaxRequestIdBytes));
  DAYBREAK_CHECK_OK(validate_name("model", request.model, kMaxModelNameBytes));
  DAYBREAK_CHECK_OK(validate(
      TokenCounts{.prompt = request.prompt_tokens, .completion = request.max_completion_tokens}));
  Result<Price> price = prices.of(request.model);
  return !price && !request.base_model.empty() ? prices.of(request.base_model) : std::move(price);
}

}  // namespace

const Caller& anonymous_caller() {
  static const Caller caller = [] {
    ApiKey key;
    key.id = kAnonymousId;
    key.settings.name = "anonymous";
    key.settings.scopes = ScopeSet::all();
    return std::make_shared<const ApiKey>(std::move(key));
  }();
  return caller;
}

Status Permit::finish(const TokenCounts& tokens, Outcome outcome, Ledger::Done done) {
  DAYBREAK_CHECK_OK(validate(tokens));
  Usage usage{.time = policy_->options_.utc->now(),
              .request_id = request_.request_id,
              .key = caller_->id,
              .model = request_.model,
              .tokens = tokens,
              .cost_micro_usd = cost_micro_usd(price_, tokens),
              .outcome = outcome,
              .stream = request_.stream};
  lease_.settle(tokens.total());
  hold_.settle({tokens.total(), usage.cost_micro_usd});
  return policy_->record(std::move(place_), std::move(usage), std::move(done));
}

AccessPolicy::AccessPolicy(AccessOptions options)
    : prices_(std::make_shared<const Prices>(std::move(options.prices))),
      limiter_(*options.clock),
      quotas_(std::make_shared<QuotaBook>(*options.utc)),
      options_(std::move(options)) {
  for (const KeyQuotaSums& used : options_.used) {
    quotas_->load(used.key, used.sums);
  }
}

Result<std::unique_ptr<AccessPolicy>> AccessPolicy::create(AccessOptions options) {
  if (options.keys && !options.ledger) {
    return Error{Errc::kInvalidArgument,
                 "access: keys need a usage ledger; without one their quotas would be forgotten"};
  }
  return std::unique_ptr<AccessPolicy>(new AccessPolicy(std::move(options)));
}

Result<Caller> AccessPolicy::authorize(std::string_view key_text, Scope scope,
                                       std::string_view model) const {
  if (!options_.keys) {
    return anonymous_caller();
  }
  DAYBREAK_TRY(Caller caller, options_.keys->authenticate(key_text));
  DAYBREAK_CHECK_OK(check_scope(*caller, scope));
  if (!model.empty() && !allows_model(*caller, model)) {
    return Error{Errc::kPermission,
                 fmt::format("the API key may not use the model '{}'", printable(model))};
  }
  return caller;
}

Result<Caller> AccessPolicy::authorize(KeyId key, Scope scope) const {
  if (!options_.keys) {
    return key == kAnonymousId
               ? Result<Caller>(anonymous_caller())
               : Error{Errc::kUnauthenticated, "made with an API key, and this server has no keys"};
  }
  if (key == kAnonymousId) {
    return Error{Errc::kUnauthenticated, "made without an API key, and this server asks for one"};
  }
  DAYBREAK_TRY(Caller caller, options_.keys->authenticate(key));
  DAYBREAK_CHECK_OK(check_scope(*caller, scope));
  return caller;
}

Result<std::string> AccessPolicy::seal(std::string_view text) const {
  return options_.keys ? options_.keys->seal(text) : std::string();
}

bool AccessPolicy::has_owner(std::string_view owner) const {
  return options_.keys ? options_.keys->has_owner(owner) : owner == owner_of(*anonymous_caller());
}

std::variant<Permit, Refusal> AccessPolicy::begin(const Caller& caller, RequestEstimate request) {
  const auto refused = [&](Refusal refusal) {
    refusal.rates = rates(caller);
    return refusal;
  };
  const auto price = check_request(request, *prices());
  if (!price) {
    return refused({LimitKind::kServer, price.error(), std::nullopt, {}});
  }
  Result<Ledger::Place> place =
      options_.ledger ? options_.ledger->reserve() : Result<Ledger::Place>(Ledger::Place());
  if (!place) {
    return refused(
        {LimitKind::kServer, {Errc::kUnavailable, place.error().message}, kLedgerRetry, {}});
  }
  const auto amount = [&](std::int64_t completion) {
    const TokenCounts tokens{.prompt = request.prompt_tokens, .completion = completion};
    return QuotaAmount{tokens.total(), cost_micro_usd(*price, tokens)};
  };
  const QuotaAmount most = amount(request.max_completion_tokens);
  const KeyLimits& limits = caller->settings.limits;
  // Rates come last: a request that a quota refuses must not use them up, nor the other way round;
  // what the first one reserved comes back by itself.
  auto hold = quotas_->reserve(caller->id, limits, most);
  if (auto* refusal = std::get_if<Refusal>(&hold)) {
    const QuotaAmount least = amount(std::min(request.max_completion_tokens, request.sequences));
    refusal->shorter_may_fit =
        refusal->error.code == Errc::kTooLarge || quotas_->fits(caller->id, limits, least);
    return refused(std::move(*refusal));
  }
  auto lease =
      limiter_.reserve(caller->id, limits, {.tokens = most.tokens, .sequences = request.sequences});
  if (auto* refusal = std::get_if<Refusal>(&lease)) {
    return std::move(*refusal);
  }
  return Permit(*this, caller, std::move(request), *price, std::get<Lease>(std::move(lease)),
                std::get<QuotaHold>(std::move(hold)), *std::move(place));
}

std::variant<Lease, Refusal> AccessPolicy::begin_request(const Caller& caller) {
  return limiter_.reserve_request(caller->id, caller->settings.limits);
}

std::optional<std::int64_t> AccessPolicy::money_left(const ApiKey& key) const {
  const std::optional<std::int64_t> limit = key.settings.limits.micro_usd_per_month;
  if (!limit) {
    return std::nullopt;
  }
  return std::max<std::int64_t>(0, *limit - quotas_->sums(key.id).month_micro_usd);
}

RateStatuses AccessPolicy::rates(const Caller& caller) const {
  return limiter_.rates(caller->id, caller->settings.limits);
}

void AccessPolicy::set_prices(Prices prices) {
  auto next = std::make_shared<const Prices>(std::move(prices));
  const std::lock_guard lock(prices_mutex_);
  prices_.swap(next);
}

std::shared_ptr<const Prices> AccessPolicy::prices() const {
  const std::lock_guard lock(prices_mutex_);
  return prices_;
}

Result<bool> AccessPolicy::reload_keys() {
  if (!options_.keys) {
    return false;
  }
  return options_.keys->reload();
}

Status AccessPolicy::record(Ledger::Place place, Usage usage, Ledger::Done done) const {
  if (!options_.ledger) {
    if (done) {
      done(Recorded::kNew);
    }
    return ok();
  }
  const QuotaAmount counted{usage.tokens.total(), usage.cost_micro_usd};
  const KeyId key = usage.key;
  return options_.ledger->append(
      std::move(place), std::move(usage),
      [quotas = quotas_, key, counted, done = std::move(done)](const Result<Recorded>& result) {
        if (result && *result == Recorded::kAlready) {
          quotas->take_back(key, counted);
        }
        if (done) {
          done(result);
        }
      });
}

}  // namespace daybreak::access
