// SPDX-License-Identifier: Apache-2.0
#include "api/response_routes.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/admission.h"
#include "api/error_reply.h"
#include "api/list_page.h"
#include "base/json_document.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Response;
using http::Task;

constexpr std::size_t kDefaultItems = 20;  // of one page, as OpenAI has it
constexpr std::size_t kMaxItems = 100;

using AnswerFn =
    std::function<Result<std::string>(ResponseStore&, const std::string& owner, const Exchange&)>;

// A handler whose answer needs no waiting.
http::Handler simple(Context& context, AnswerFn answer) {
  return [&context, answer = std::move(answer)](Exchange& exchange) -> Task<void> {
    const auto caller = caller_of(context, exchange.request(), access::Scope::kInference);
    Result<std::string> body =
        caller ? answer(*context.responses, access::owner_of(**caller), exchange)
               : Result<std::string>(caller.error());
    Response response = body ? Response{.body = *std::move(body)} : error_response(body.error());
    if (!body && body.error().code == Errc::kUnsupported) {
      response.status = 400;  // clients repeat a 5xx, and nothing would change
    }
    co_await exchange.respond(std::move(response));
  };
}

// Reads "limit=5&order=asc&after=ID". Others are refused, but for `include`, which could only add
// what there is nothing of.
Result<ListQuery> read_page(std::string_view query) {
  ListQuery page{.limit = kDefaultItems, .after = {}, .purpose = {}};
  const auto read = [&](std::string_view name, std::string_view value) -> Status {
    DAYBREAK_TRY(const bool known, read_list_parameter(name, value, kMaxItems, page));
    if (!known && !name.empty() && !name.starts_with("include")) {
      return Error{Errc::kInvalidArgument,
                   printable(name, 64) + ": no such parameter: expected limit, order or after"};
    }
    return ok();
  };
  DAYBREAK_CHECK_OK(for_each_parameter(query, read));
  return page;
}

Result<std::string> input_items(ResponseStore& store, const std::string& owner,
                                const Exchange& exchange) {
  DAYBREAK_TRY(const auto response, store.find(owner, exchange.parameters().front()));
  DAYBREAK_TRY(const ListQuery page, read_page(exchange.request().query));
  ResponseStore::Items items = response->input;
  if (!page.ascending) {
    std::ranges::reverse(items);
  }
  auto first = items.begin();
  if (!page.after.empty()) {
    first = std::ranges::find_if(items, [&](const auto& item) { return item->id == page.after; });
    if (first == items.end()) {
      return Error{Errc::kInvalidArgument,
                   "after: no item '" + printable(page.after, 64) + "' in this response"};
    }
    ++first;
  }
  const auto left = static_cast<std::size_t>(items.end() - first);
  const auto last = first + static_cast<std::ptrdiff_t>(std::min(left, page.limit));
  std::string out = "{\"object\":\"list\",\"data\":[";
  for (auto item = first; item != last; ++item) {
    out += item == first ? "" : ",";
    out += (*item)->json();
  }
  out += "],\"first_id\":";
  chat::append_json_text(out, first == last ? "" : (*first)->id);
  out += ",\"last_id\":";
  chat::append_json_text(out, first == last ? "" : (*std::prev(last))->id);
  return out + ",\"has_more\":" + (last == items.end() ? "false" : "true") + "}";
}

Result<std::string> get(ResponseStore& store, const std::string& owner, const Exchange& exchange) {
  DAYBREAK_TRY(const auto response, store.find(owner, exchange.parameters().front()));
  if (exchange.request().query.find("stream=true") != std::string::npos) {
    return Error{Errc::kInvalidArgument, "stream: a kept response is given whole"};
  }
  return response->json;
}

Result<std::string> remove(ResponseStore& store, const std::string& owner,
                           const Exchange& exchange) {
  const std::string& id = exchange.parameters().front();
  DAYBREAK_CHECK_OK(store.remove(owner, id));
  std::string out = "{\"id\":";
  chat::append_json_text(out, id);
  return out + ",\"object\":\"response\",\"deleted\":true}";
}

// What OpenAI's API has and this server has not: an error that says why.
Result<std::string> refuse_cancel(ResponseStore& store, const std::string& owner,
                                  const Exchange& exchange) {
  DAYBREAK_TRY([[maybe_unused]] const auto response,
               store.find(owner, exchange.parameters().front()));
  return Error{
      Errc::kUnsupported,
      "a kept response is complete and cannot be cancelled: none is made in the background. "
      "To end one that is being made, close its connection"};
}

Result<std::string> refuse_compact(ResponseStore& /*store*/, const std::string& /*owner*/,
                                   const Exchange& /*exchange*/) {
  return Error{Errc::kUnsupported,
               "conversations are not compacted here: nothing is ever dropped or summarised. Send "
               "the items to go on with as input"};
}

}  // namespace

void add_response_routes(http::Router& router, Context& context) {
  router.add("GET", "/v1/responses/{id}", simple(context, get));
  router.add("GET", "/v1/responses/{id}/input_items", simple(context, input_items));
  router.add("DELETE", "/v1/responses/{id}", simple(context, remove));
  router.add("POST", "/v1/responses/{id}/cancel", simple(context, refuse_cancel));
  router.add("POST", "/v1/responses/compact", simple(context, refuse_compact));
}

void report_responses(MetricsSink& sink, const ResponseStore::Stats& stats) {
  sink.gauge("daybreak_stored_responses", "Responses kept for previous_response_id",
             static_cast<double>(stats.responses), {});
  sink.gauge("daybreak_stored_response_bytes", "Memory of kept responses",
             static_cast<double>(stats.bytes), {});
  sink.counter("daybreak_stored_responses_evicted_total", "Kept responses dropped for room or age",
               static_cast<double>(stats.evicted), {});
}

}  // namespace daybreak::api
