// SPDX-License-Identifier: Apache-2.0
#include "api/model_routes.h"

#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/admission.h"
#include "api/anthropic_reply.h"
#include "api/error_reply.h"
#include "api/list_page.h"
#include "api/route_scope.h"
#include "api/served_model.h"
#include "base/json_document.h"
#include "chat/field_table.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

using Json = nlohmann::ordered_json;
using ModelNames = std::vector<std::string>;

constexpr std::size_t kDefaultModels = 20;  // of one page, as Anthropic has it
constexpr std::size_t kMaxModels = 1000;

// "none" switches thinking off here, though the hosted API refuses it.
Json capabilities(const Context& context) {
  return {{"reasoning", true},
          {"reasoning_efforts", {"none", "low", "high", "max"}},
          {"default_reasoning_effort", "max"},
          {"tools", true},
          {"structured_output", true},
          {"completions", true},
          {"vision", context.options.vision}};
}

Json supported_parameters() {
  Json names = Json::array();
  for (const chat::FieldRule& rule : chat::chat_fields().rules()) {
    if (rule.verdict == chat::FieldVerdict::kHonoured && rule.top_level()) {
      names.push_back(rule.name);
    }
  }
  return names;
}

// Of an adapter, with vLLM's words for what it is of and where it came from.
Json openai_adapter(const Context& context, const engine::NamedAdapter& adapter) {
  return {{"id", adapter.name},
          {"object", "model"},
          {"created", adapter.created},
          {"owned_by", "daybreak"},
          {"root", adapter.path},
          {"parent", context.options.model_names.front()},
          {"max_model_len", context.generator.context_tokens()},
          {"aliases", {adapter.name}},
          {"capabilities", capabilities(context)},
          {"supported_parameters", supported_parameters()}};
}

// `usable`: all names that the caller may use.
Json openai_model(const Context& context, const ModelNames& usable, const std::string& name) {
  const std::shared_ptr<const ModelNames> all = context.names.get();
  const auto of_model = [&](const std::string& one) {
    return std::ranges::find(*all, one) != all->end();
  };
  if (!of_model(name) && context.options.lora.adapters != nullptr) {
    const auto adapters = context.options.lora.adapters->list();
    const auto found = std::ranges::find(*adapters, name, &engine::NamedAdapter::name);
    // It may have been unloaded since the names were listed.
    return openai_adapter(
        context, found != adapters->end() ? *found : engine::NamedAdapter{name, "", nullptr, 0});
  }
  ModelNames names;
  std::ranges::copy_if(usable, std::back_inserter(names), of_model);
  return {{"id", name},
          {"object", "model"},
          {"created", context.options.created},
          {"owned_by", "daybreak"},
          {"root", context.options.model_names.front()},
          {"parent", nullptr},
          {"max_model_len", context.generator.context_tokens()},
          {"aliases", names},
          {"capabilities", capabilities(context)},
          {"supported_parameters", supported_parameters()}};
}

Json openai_models(const Context& context, const ModelNames& names) {
  Json data = Json::array();
  for (const std::string& name : names) {
    data.push_back(openai_model(context, names, name));
  }
  return {{"object", "list"}, {"data", std::move(data)}};
}

Json anthropic_model(const Context& context, const std::string& name) {
  const std::size_t tokens = context.generator.context_tokens();
  return {{"type", "model"},
          {"id", name},
          {"display_name", name},
          {"created_at", access::format_utc(context.options.created * access::kMicrosPerSecond)},
          {"lifecycle", "active"},
          {"max_input_tokens", tokens - 1},  // one is left for the answer
          {"max_tokens", tokens - 1}};
}

// The part of `names` that "limit=5&after_id=NAME" or "before_id" ask for, and whether there is
// more in that direction.
Result<std::pair<ModelNames, bool>> anthropic_page(const ModelNames& names,
                                                   std::string_view query) {
  ListQuery page{.limit = kDefaultModels, .after = {}, .purpose = {}};
  auto first = names.begin();
  auto last = names.end();
  bool backwards = false;
  const auto read = [&](std::string_view name, std::string_view value) -> Status {
    if (name == "limit") {
      const auto known = read_list_parameter(name, value, kMaxModels, page);
      return known ? ok() : Status(known.error());
    }
    if (name.empty() || name == "beta") {  // which the package sends with its beta methods
      return ok();
    }
    if (name != "after_id" && name != "before_id") {
      return Error{
          Errc::kInvalidArgument,
          printable(name, 64) + ": no such parameter: expected limit, after_id or before_id"};
    }
    const auto found = std::ranges::find(names, http::percent_decoded(value));
    if (found == names.end()) {
      return Error{
          Errc::kInvalidArgument,
          std::string(name) + ": expected the id of a model, found '" + printable(value, 64) + "'"};
    }
    backwards = name == "before_id";
    (backwards ? last : first) = backwards ? found : std::next(found);
    return ok();
  };
  DAYBREAK_CHECK_OK(for_each_parameter(query, read));
  first = std::min(first, last);
  const auto size = static_cast<std::size_t>(last - first);
  const bool more = size > page.limit;
  const auto cut = static_cast<std::ptrdiff_t>(more ? size - page.limit : 0);
  return std::pair(backwards ? ModelNames(first + cut, last) : ModelNames(first, last - cut), more);
}

Result<Json> anthropic_models(const Context& context, const ModelNames& names,
                              std::string_view query) {
  DAYBREAK_TRY(const auto page, anthropic_page(names, query));
  const auto& [shown, more] = page;
  Json data = Json::array();
  for (const std::string& name : shown) {
    data.push_back(anthropic_model(context, name));
  }
  const auto id = [&](std::size_t i) { return shown.empty() ? Json() : Json(shown[i]); };
  return Json{{"data", std::move(data)},
              {"has_more", more},
              {"first_id", id(0)},
              {"last_id", id(shown.size() - 1)}};
}

Result<Json> models_answer(const Context& context, const http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  DAYBREAK_TRY(const access::Caller caller, caller_of(context, request, access::Scope::kInference));
  const ModelNames names = usable_models(context, *caller);
  const bool anthropic = speaks_anthropic(request);
  if (exchange.parameters().empty()) {
    return anthropic ? anthropic_models(context, names, request.query)
                     : Result<Json>(openai_models(context, names));
  }
  const std::string& name = exchange.parameters().front();
  if (std::ranges::find(names, name) == names.end()) {
    Error error = unknown_model(name);
    add_models(error, names);
    return error;
  }
  return anthropic ? anthropic_model(context, name) : openai_model(context, names, name);
}

http::Task<void> respond_models(const Context& context, http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  Result<Json> json = models_answer(context, exchange);
  http::Response response;
  if (!json) {
    response = protocol_error_response(request, json.error());
  } else {
    response.body = json->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (speaks_anthropic(request)) {
      response.headers = anthropic_headers(request.id, {});
    }
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

void add_model_routes(http::Router& router, Context& context) {
  for (const char* path : {"/v1/models", "/v1/models/{model}", "/anthropic/v1/models",
                           "/anthropic/v1/models/{model}"}) {
    router.add("GET", path,
               [&context](http::Exchange& exchange) { return respond_models(context, exchange); });
  }
}

}  // namespace daybreak::api
