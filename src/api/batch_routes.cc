// SPDX-License-Identifier: Apache-2.0
#include "api/batch_routes.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/admission.h"
#include "api/error_reply.h"
#include "api/list_page.h"
#include "api/on_worker.h"
#include "base/json_document.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Response;
using http::Task;

constexpr std::string_view kCancel = "/cancel";
constexpr std::size_t kMaxMetadata = 16;
constexpr std::size_t kMaxMetadataKey = 64;     // bytes
constexpr std::size_t kMaxMetadataValue = 512;  // bytes

using AnswerFn = std::function<Result<std::string>(BatchService&, const access::ApiKey& caller,
                                                   const Exchange&)>;

// A handler that computes its answer on a worker, since the disk may take its time.
http::Handler handler(Context& context, BatchService* batches, AnswerFn answer) {
  return [&context, batches, answer = std::move(answer)](Exchange& exchange) -> Task<void> {
    std::optional<Result<std::string>> body;
    const std::function<void()> work = [&] {
      const auto caller = caller_of(context, exchange.request(), access::Scope::kBatch);
      if (batches == nullptr || !caller) {
        body.emplace(caller ? no_files_here() : caller.error());
      } else {
        body.emplace(answer(*batches, **caller, exchange));
      }
    };
    co_await on_worker(context, work);
    Response response = *body ? Response{.body = **std::move(body)} : error_response(body->error());
    co_await exchange.respond(std::move(response));
  };
}

Result<std::string> metadata(const JsonValue& root) {
  const auto value = root.find_set("metadata");
  if (!value) {
    return std::string("null");
  }
  if (!value->is_object()) {
    return value->expected("an object");
  }
  std::string out = "{";
  std::size_t count = 0;
  for (const auto& [key, item] : simdjson::dom::object(value->raw())) {
    std::string_view text;
    if (++count > kMaxMetadata || key.size() > kMaxMetadataKey ||
        item.get(text) != simdjson::SUCCESS || text.size() > kMaxMetadataValue) {
      return value->expected(
          "at most 16 pairs, keys of at most 64 bytes, values of text of at most 512 bytes");
    }
    out += count == 1 ? "" : ",";
    chat::append_json_text(out, key);
    out += ":";
    chat::append_json_text(out, text);
  }
  return out + "}";
}

Result<std::string_view> text(const JsonValue& root, std::string_view key) {
  const auto value = root.find(key);
  return value
             ? value->string()
             : Error{Errc::kInvalidArgument, root.where_of(key) + ": expected text, found nothing"};
}

Result<std::string> create(BatchService& batches, const access::ApiKey& caller,
                           const Exchange& exchange) {
  DAYBREAK_TRY(const JsonDocument document, JsonDocument::parse(exchange.request().body, "body"));
  const JsonValue root = document.root();
  if (!root.is_object()) {
    return root.expected("an object");
  }
  for (const auto& [key, value] : simdjson::dom::object(root.raw())) {
    if (key != "input_file_id" && key != "endpoint" && key != "completion_window" &&
        key != "metadata" && !value.is_null()) {
      return Error{Errc::kInvalidArgument, printable(key, 64) +
                                               ": not supported: expected input_file_id, endpoint, "
                                               "completion_window and metadata"};
    }
  }
  DAYBREAK_TRY(const std::string_view input, text(root, "input_file_id"));
  DAYBREAK_TRY(const std::string_view endpoint, text(root, "endpoint"));
  DAYBREAK_TRY(const std::string_view window, text(root, "completion_window"));
  if (window != "24h") {
    return Error{Errc::kInvalidArgument,
                 "completion_window: expected \"24h\", found '" + printable(window, 32) + "'"};
  }
  DAYBREAK_TRY(std::string more, metadata(root));
  DAYBREAK_TRY(const BatchRecord record, batches.create(caller, input, endpoint, std::move(more)));
  return record.json();
}

Result<std::string> get(BatchService& batches, const access::ApiKey& caller,
                        const Exchange& exchange) {
  DAYBREAK_TRY(const BatchRecord record,
               batches.batches().find(access::owner_of(caller), exchange.parameters().front()));
  return record.json();
}

Result<std::string> cancel(BatchService& batches, const access::ApiKey& caller,
                           const Exchange& exchange) {
  std::string_view id = exchange.parameters().front();
  if (!id.ends_with(kCancel)) {
    return Error{Errc::kNotFound, "expected /v1/batches/ID/cancel"};
  }
  id.remove_suffix(kCancel.size());
  DAYBREAK_TRY(const BatchRecord record, batches.cancel(access::owner_of(caller), id));
  return record.json();
}

Result<std::string> list(BatchService& batches, const access::ApiKey& caller,
                         const Exchange& exchange) {
  DAYBREAK_TRY(const ListQuery query, parse_list_query(exchange.request().query, 20, 100));
  std::vector<ListItem> items;
  for (const BatchRecord& record : batches.batches().list(access::owner_of(caller))) {
    items.push_back({.id = record.id, .json = record.json()});
  }
  return list_page(std::move(items), query);
}

}  // namespace

Error no_files_here() {
  return {Errc::kUnsupported,
          "files and batches are off: this server has no directory for them (files_dir)"};
}

void add_batch_routes(http::Router& router, Context& context, BatchService* batches) {
  router.add("POST", "/v1/batches", handler(context, batches, create));
  router.add("GET", "/v1/batches", handler(context, batches, list));
  router.add("GET", "/v1/batches/{id}", handler(context, batches, get));
  router.add("POST", "/v1/batches/{id}", handler(context, batches, cancel));
}

}  // namespace daybreak::api
