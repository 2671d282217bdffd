// SPDX-License-Identifier: Apache-2.0
#include "api/status_routes.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/openapi.h"
#include "api/timeline_json.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Response;
using http::Task;
using Json = nlohmann::ordered_json;

// A handler whose answer needs no waiting.
http::Handler simple(std::function<Response(const Exchange&)> answer) {
  return [answer = std::move(answer)](Exchange& exchange) -> Task<void> {
    Response response = answer(exchange);
    co_await exchange.respond(std::move(response));
  };
}

Response json_response(int status, const Json& json) {
  Response response;
  response.status = status;
  response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

Response health(const Context& context, const char* good) {
  return context.draining ? json_response(503, {{"status", "draining"}})
                          : json_response(200, {{"status", good}});
}

// Ready: a request sent now would be queued, not refused, and what it takes recorded soon.
Response ready(const Context& context) {
  const access::Ledger* const ledger = context.access ? context.access->ledger() : nullptr;
  if (ledger != nullptr && ledger->behind()) {
    return json_response(503, {{"status", "usage ledger behind"}});
  }
  return context.generator.stats().draining ? json_response(503, {{"status", "draining"}})
                                            : health(context, "ready");
}

Response metrics(const Context& context) {
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = context.metrics.text();
  return response;
}

Response timeline(const Context& context) {
  Response response;
  response.body = timeline_json(context.generator.steps());
  return response;
}

}  // namespace

void add_status_routes(http::Router& router, Context& context) {
  router.add("GET", "/health", simple([&](const Exchange&) { return health(context, "ok"); }));
  router.add("GET", "/ready", simple([&](const Exchange&) { return ready(context); }));
  router.add("GET", "/ping", simple([&](const Exchange&) { return ready(context); }));
  router.add("GET", "/openapi.json",
             simple([document = openapi_json(context.options)](const Exchange&) {
               Response response;
               response.body = document;
               return response;
             }));
  router.add("GET", "/metrics", simple([&](const Exchange&) { return metrics(context); }));
  router.add("GET", "/debug/timeline", simple([&](const Exchange&) { return timeline(context); }));
  router.add("GET", "/version", simple([&](const Exchange&) {
               return json_response(200, {{"version", context.options.version}});
             }));
}

}  // namespace daybreak::api
