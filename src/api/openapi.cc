// SPDX-License-Identifier: Apache-2.0
#include "api/openapi.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "api/openapi_schemas.h"
#include "api/route_scope.h"

namespace daybreak::api {
namespace {

using Json = nlohmann::ordered_json;

// Of a query.
struct Parameter {
  std::string_view name;
  std::string_view schema;
  bool required = false;
};

constexpr std::string_view kName = R"({"type":"string"})";
constexpr std::string_view kOrder = R"({"enum":["asc","desc"]})";
constexpr std::string_view kUpTo100 = R"({"type":"integer","minimum":1,"maximum":100})";
constexpr auto kPage =
    std::to_array<Parameter>({{"limit", kUpTo100}, {"order", kOrder}, {"after", kName}});
constexpr auto kFilePage =
    std::to_array<Parameter>({{"limit", R"({"type":"integer","minimum":1,"maximum":10000})"},
                              {"order", kOrder},
                              {"after", kName},
                              {"purpose", kName}});
constexpr auto kModelPage =
    std::to_array<Parameter>({{"limit", R"({"type":"integer","minimum":1,"maximum":1000})"},
                              {"after_id", kName},
                              {"before_id", kName}});
constexpr auto kAction =
    std::to_array<Parameter>({{"action", R"({"enum":["save","restore","erase"]})", true}});

// What a route may answer beside 200.
enum class Kind : std::uint8_t {
  kOpen,        // needs no key
  kPlain,       // needs one
  kFiles,       // needs a directory, or slots: else 501
  kGenerating,  // answers once to an Idempotency-Key, in its own time
  kNever,       // has no 200: an API has it and this server does not
};

struct Route {
  std::string_view method;  // lower case
  std::string_view path;
  std::string_view summary;
  std::string_view body;   // name of a schema; empty: no body
  std::string_view reply;  // name of the answer's schema, or its media type
  Kind kind = Kind::kPlain;
  std::span<const Parameter> query = {};
};

constexpr std::string_view kBytes = "application/octet-stream";
constexpr std::string_view kPlainText = "text/plain";

constexpr auto kRoutes = std::to_array<Route>({
    {"post", "/v1/chat/completions", "Answer a conversation", "ChatRequest", "ChatCompletion",
     Kind::kGenerating},
    {"post", "/v1/completions", "Continue a text, or score it", "CompletionRequest",
     "TextCompletion", Kind::kGenerating},
    {"post", "/v1/responses", "Answer a conversation (Responses API)", "ResponsesRequest",
     "Response", Kind::kGenerating},
    {"get", "/v1/responses/{id}", "A response that is kept", "", "Response"},
    {"get", "/v1/responses/{id}/input_items", "The items of its input", "", "Page", Kind::kPlain,
     kPage},
    {"delete", "/v1/responses/{id}", "Forget a response", "", "Deleted"},
    {"post", "/v1/responses/input_tokens", "What usage.input_tokens will be", "ResponsesRequest",
     "ResponsesInputTokens"},
    {"post", "/v1/responses/{id}/cancel", "Not supported: nothing runs in the background", "", "",
     Kind::kNever},
    {"post", "/v1/responses/compact", "Not supported: no conversation is shortened", "", "",
     Kind::kNever},
    {"post", "/v1/messages", "Answer a conversation (Anthropic)", "MessagesRequest", "Message",
     Kind::kGenerating},
    {"post", "/v1/messages/count_tokens", "What usage.input_tokens will be", "CountTokensRequest",
     "InputTokens"},
    {"post", "/anthropic/v1/messages", "As /v1/messages", "MessagesRequest", "Message",
     Kind::kGenerating},
    {"post", "/anthropic/v1/messages/count_tokens", "As /v1/messages/count_tokens",
     "CountTokensRequest", "InputTokens"},
    {"post", "/invocations", "A chat completion or a completion, as the body says (SageMaker)",
     "Invocation", "Generation", Kind::kGenerating},
    {"post", "/tokenize", "The token ids of a text or of a conversation's prompt",
     "TokenizeRequest", "TokenizeReply"},
    {"post", "/detokenize", "The text of token ids", "DetokenizeRequest", "DetokenizeReply"},
    {"post", "/v1/tokenizers/estimate-token-count", "What usage.prompt_tokens will be",
     "ChatRequest", "TokenCount"},
    {"post", "/v1/files", "Upload the requests of a batch", "Upload", "File", Kind::kFiles},
    {"get", "/v1/files", "The files, newest first", "", "Page", Kind::kFiles, kFilePage},
    {"get", "/v1/files/{id}", "One of them", "", "File", Kind::kFiles},
    {"get", "/v1/files/{id}/content", "Its bytes", "", kBytes, Kind::kFiles},
    {"delete", "/v1/files/{id}", "Delete it", "", "Deleted", Kind::kFiles},
    {"post", "/v1/batches", "Answer every request of a file", "BatchRequest", "Batch",
     Kind::kFiles},
    {"get", "/v1/batches", "The batches, newest first", "", "Page", Kind::kFiles, kPage},
    {"get", "/v1/batches/{id}", "One of them", "", "Batch", Kind::kFiles},
    {"post", "/v1/batches/{id}/cancel", "End it early", "", "Batch", Kind::kFiles},
    {"get", "/slots", "What the engine's slots do and keep, in counts", "", "SlotList",
     Kind::kFiles},
    {"post", "/slots/{id}", "Save, restore or erase what a slot keeps (llama.cpp)", "SlotFile",
     "Object", Kind::kFiles, kAction},
    {"post", "/reset_prefix_cache", "Forget every kept sequence (vLLM)", "", "Dropped",
     Kind::kFiles},
    {"post", "/v1/load_lora_adapter", "Serve a LoRA adapter as a model (vLLM)", "LoraPath",
     kPlainText, Kind::kFiles},
    {"post", "/v1/unload_lora_adapter", "Serve it no more; running requests keep it (vLLM)",
     "LoraName", kPlainText, Kind::kFiles},
    {"get", "/v1/users/me/balance", "What the key has left of its month, in dollars (Moonshot)", "",
     "Object"},
    {"get", "/v1/models",
     "The names of the model that the caller may use; to a request with the "
     "header anthropic-version as /anthropic/v1/models",
     "", "AnyModelList"},
    {"get", "/v1/models/{model}", "One of them", "", "AnyModel"},
    {"get", "/anthropic/v1/models", "The names, in Anthropic's shape", "", "AnthropicModelList",
     Kind::kPlain, kModelPage},
    {"get", "/anthropic/v1/models/{model}", "One of them", "", "AnthropicModel"},
    {"get", "/health", "Whether the server works", "", "Status", Kind::kOpen},
    {"get", "/ready", "Whether new requests are accepted", "", "Status", Kind::kOpen},
    {"get", "/ping", "As /ready (SageMaker)", "", "Status", Kind::kOpen},
    {"get", "/metrics", "Prometheus text format", "", kPlainText, Kind::kOpen},
    {"get", "/debug/timeline", "The last steps of the model, as Chrome trace events", "", "Object"},
    {"get", "/version", "The version of the program", "", "Version", Kind::kOpen},
    {"get", "/openapi.json", "This document", "", "Object", Kind::kOpen},
});

Json reference(std::string_view schema) {
  return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

Json content(std::string_view type, Json schema) {
  return {{std::string(type), Json{{"schema", std::move(schema)}}}};
}

Json answer(std::string_view description, std::string_view schema) {
  return {{"description", description},
          {"content", content("application/json", reference(schema))}};
}

Json good_answer(const Route& route) {
  Json good = {{"description", "OK"}};
  const bool json = route.reply.find('/') == std::string_view::npos;
  good["content"] = json ? content("application/json", reference(route.reply))
                         : content(route.reply, {{"type", "string"}});
  if (route.kind == Kind::kGenerating) {
    good["content"].update(content("text/event-stream", {{"type", "string"}}));
  }
  return good;
}

// Whether clients of both protocols use the path, each with its own answers.
bool is_shared(const Route& route) { return route.path.starts_with("/v1/models"); }

Json responses(const Route& route) {
  Json out = Json::object();
  if (route.kind != Kind::kNever) {
    out["200"] = good_answer(route);
  }
  const char* const error = is_shared(route)           ? "AnyError"
                            : is_anthropic(route.path) ? "AnthropicError"
                                                       : "Error";
  const auto refuses = [&](const char* status, const char* why) {
    out[status] = answer(why, error);
  };
  if (route.reply == "Status") {  // which an unready server answers
    out["503"] = answer("Draining", "Status");
  }
  refuses("400", "A request that is wrong");
  refuses("403", "The key, or the web page, may not do this");
  refuses("408", "A request that did not arrive in time");
  refuses("417", "An expectation other than 100-continue");
  refuses("431", "A head that is too large");
  refuses("505", "A version of HTTP other than 1.0 and 1.1");
  if (route.kind == Kind::kOpen) {
    return out;
  }
  refuses("401", "No key, or none that is known");
  refuses("404", "No such model, response, file, batch or slot");
  if (!route.body.empty()) {
    refuses("413", "A body that is too large");
    refuses("415", "A web page's body that is not JSON");
  }
  if (route.kind == Kind::kGenerating) {
    refuses("422", "An Idempotency-Key that was sent with another body");
    refuses("504", "The answer took too long");
  }
  refuses("429", "Too many requests");
  refuses("500", "A failure of the server");
  if (route.kind == Kind::kFiles) {
    refuses("501", "This server has none");
  }
  refuses("503", "Shutting down");
  return out;
}

Json parameters(const Route& route) {
  Json out = Json::array();
  const auto add = [&](std::string_view name, const char* where, bool required, Json schema) {
    out.push_back(
        {{"name", name}, {"in", where}, {"required", required}, {"schema", std::move(schema)}});
  };
  if (const std::size_t at = route.path.find('{'); at != std::string_view::npos) {
    add(route.path.substr(at + 1, route.path.find('}') - at - 1), "path", true, Json::parse(kName));
  }
  for (const Parameter& one : route.query) {
    add(one.name, "query", one.required, Json::parse(one.schema));
  }
  return out;
}

// The key that an operation needs: one of these, which has that scope.
Json security(access::Scope scope) {
  const Json scopes = Json::array({to_string(scope)});
  return Json::array({Json{{"bearer", scopes}}, Json{{"x-api-key", scopes}}});
}

Json operation(const Route& route, bool has_keys) {
  Json out = {{"summary", route.summary}};
  if (const auto scope = scope_of(route.path); has_keys && scope) {
    out["security"] = security(*scope);
  }
  if (Json all = parameters(route); !all.empty()) {
    out["parameters"] = std::move(all);
  }
  if (!route.body.empty()) {
    const bool upload = route.body == "Upload";
    out["requestBody"] = {{"required", route.body != "SlotFile"},  // to erase needs none
                          {"content", content(upload ? "multipart/form-data" : "application/json",
                                              reference(route.body))}};
  }
  out["responses"] = responses(route);
  return out;
}

}  // namespace

std::string openapi_json(const ServiceOptions& options) {
  const bool has_keys = options.access != nullptr && !options.access->open_to_all();
  Json paths = Json::object();
  for (const Route& route : kRoutes) {
    paths[std::string(route.path)][std::string(route.method)] = operation(route, has_keys);
  }
  Json components = {{"schemas", openapi_schemas()}};
  if (has_keys) {
    components["securitySchemes"] = {
        {"bearer", {{"type", "http"}, {"scheme", "bearer"}}},
        {"x-api-key", {{"type", "apiKey"}, {"in", "header"}, {"name", "x-api-key"}}}};
  }
  const Json document = {
      {"openapi", "3.1.0"},
      {"info", Json{{"title", "Daybreak"},
                    {"summary", "Kimi K3 behind the APIs that its clients speak"},
                    {"description",
                     "Paths answer other methods than theirs with 405 and Allow, but for HEAD "
                     "beside GET, and OPTIONS."},
                    {"version", options.version}}},
      {"servers", Json::array({Json{{"url", "/"}}})},  // where the document came from
      {"paths", std::move(paths)},
      {"components", std::move(components)}};
  return document.dump();
}

}  // namespace daybreak::api
