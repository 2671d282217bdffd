// SPDX-License-Identifier: Apache-2.0
#include "api/batch_routes.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/admission.h"
#include "api/error_reply.h"
#include "api/file_expiry.h"
#include "api/list_page.h"
#include "api/on_worker.h"
#include "base/json_document.h"
#include "base/json_tree.h"
#include "chat/field_schemas.h"
#include "chat/request_fields.h"
#include "chat/required_field.h"
#include "chat/responses_item.h"

namespace daybreak::api {
namespace {

using chat::Field;
using http::Exchange;
using http::Response;
using http::Task;

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

Result<std::string> text(const Field& root, std::string_view key) {
  constexpr std::size_t kMaxBytes = 1'024;
  DAYBREAK_TRY(const Field field, chat::required_field(root, key, "text"));
  return field.string(kMaxBytes);
}

Result<std::string> create(BatchService& batches, const access::ApiKey& caller,
                           const Exchange& exchange) {
  DAYBREAK_TRY(const JsonNode tree,
               parse_json_tree(exchange.request().body, {.max_depth = 4, .max_values = 256}));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  for (const std::string& key : tree.keys) {
    if (batch_fields().find(key) == nullptr && root.find(key)) {
      return Error{Errc::kInvalidArgument, printable(key, 64) +
                                               ": not supported: expected input_file_id, endpoint, "
                                               "completion_window, metadata and "
                                               "output_expires_after"};
    }
  }
  DAYBREAK_TRY(const std::string input, text(root, "input_file_id"));
  DAYBREAK_TRY(const std::string endpoint, text(root, "endpoint"));
  DAYBREAK_TRY(const std::string window, text(root, "completion_window"));
  if (window != "24h") {
    return root.find("completion_window")->expected("\"24h\"");
  }
  std::string more = "null";
  if (const auto metadata = root.find("metadata")) {
    DAYBREAK_CHECK_OK(metadata->text_pairs());
    more.clear();
    chat::append_minified(more, metadata->node().raw);
  }
  DAYBREAK_TRY(const std::int64_t outputs_last, read_json_expiry(root, "output_expires_after"));
  DAYBREAK_TRY(const BatchRecord record,
               batches.create(caller, input, endpoint, std::move(more), outputs_last));
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
  DAYBREAK_TRY(const BatchRecord record,
               batches.cancel(access::owner_of(caller), exchange.parameters().front()));
  return record.json();
}

Result<std::string> list(BatchService& batches, const access::ApiKey& caller,
                         const Exchange& exchange) {
  DAYBREAK_TRY(const ListQuery query,
               parse_list_query(exchange.request().query, ListOf::kBatches, 20, 100));
  std::vector<ListItem> items;
  for (const BatchRecord& record : batches.batches().list(access::owner_of(caller))) {
    items.push_back({.id = record.id, .json = record.json()});
  }
  return list_page(std::move(items), query);
}

}  // namespace

const chat::FieldTable& batch_fields() {
  using enum chat::FieldApi;
  using enum chat::FieldVerdict;
  static constexpr auto kRules = std::to_array<chat::FieldRule>({
      {"input_file_id", kOpenAi, kHonoured, chat::kText, "the id of an uploaded file"},
      {"endpoint", kOpenAi, kHonoured,
       R"({"enum":["/v1/chat/completions","/v1/completions","/v1/responses"]})",
       "the route of every request in it"},
      {"completion_window", kOpenAi, kHonoured, R"({"const":"24h"})", "of the only length"},
      {"metadata", kOpenAi, kHonoured, chat::kTextPairs, "repeated; at most 16 pairs of text"},
      {"output_expires_after", kOpenAi, kHonoured,
       R"({"type":"object","properties":{"anchor":{"const":"created_at"},"seconds":{"type":)"
       R"("integer","minimum":3600,"maximum":2592000}},"required":["anchor","seconds"]})",
       "when the files of outcomes end"},
  });
  static const chat::FieldTable table(kRules);
  return table;
}

Error no_files_here() {
  return {Errc::kUnsupported,
          "files and batches are off: this server has no directory for them (files_dir)"};
}

void add_batch_routes(http::Router& router, Context& context, BatchService* batches) {
  router.add("POST", "/v1/batches", handler(context, batches, create));
  router.add("GET", "/v1/batches", handler(context, batches, list));
  router.add("GET", "/v1/batches/{id}", handler(context, batches, get));
  router.add("POST", "/v1/batches/{id}/cancel", handler(context, batches, cancel));
}

}  // namespace daybreak::api
