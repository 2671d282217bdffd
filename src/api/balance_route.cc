// SPDX-License-Identifier: Apache-2.0
#include "api/balance_route.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "api/admission.h"
#include "api/error_reply.h"

namespace daybreak::api {
namespace {

constexpr std::int64_t kMicro = 1'000'000;

// A key without a limit in dollars has no balance, and any number would be taken for one.
Result<std::string> balance(const Context& context, const http::Request& request) {
  DAYBREAK_TRY(const access::Caller caller, caller_of(context, request, access::Scope::kInference));
  const std::optional<std::int64_t> left =
      context.access ? context.access->money_left(*caller) : std::nullopt;
  if (!left) {
    return Error{Errc::kNotFound,
                 context.access && !context.access->open_to_all()
                     ? "balance: this key has no limit in dollars (usd_per_month)"
                     : "balance: this server has no keys, and asks nobody for money"};
  }
  const std::string dollars = fmt::format("{}.{:06}", *left / kMicro, *left % kMicro);
  return fmt::format(
      R"({{"code":0,"data":{{"available_balance":{0},"voucher_balance":0,"cash_balance":{0}}},)"
      R"("scode":"0x0","status":true}})",
      dollars);
}

}  // namespace

void add_balance_route(http::Router& router, Context& context) {
  router.add("GET", "/v1/users/me/balance",
             [&context](http::Exchange& exchange) -> http::Task<void> {
               Result<std::string> body = balance(context, exchange.request());
               http::Response response =
                   body ? http::Response{.body = *std::move(body)} : error_response(body.error());
               co_await exchange.respond(std::move(response));
             });
}

}  // namespace daybreak::api
