// SPDX-License-Identifier: Apache-2.0
#include "api/openapi.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace daybreak::api {
namespace {

using Json = nlohmann::ordered_json;

struct Route {
  std::string_view method;  // lower case
  std::string_view path;
  std::string_view summary;
  std::string_view body;   // name of a schema; empty: no body
  std::string_view reply;  // JSON Schema of the answer, or the name of one; empty: plain text
  bool streams = false;
};

constexpr auto kRoutes = std::to_array<Route>({
    {"post", "/v1/chat/completions", "Answer a conversation", "ChatRequest", "ChatCompletion",
     true},
    {"post", "/v1/completions", "Continue a text, or score it", "CompletionRequest",
     "TextCompletion", true},
    {"post", "/v1/responses", "Answer a conversation (Responses API)", "ResponsesRequest",
     "Response", true},
    {"get", "/v1/responses/{id}", "A response that is kept, or the items of its input", "",
     "Object"},
    {"delete", "/v1/responses/{id}", "Forget a response", "", "Object"},
    {"post", "/v1/messages", "Answer a conversation (Anthropic)", "MessagesRequest", "Message",
     true},
    {"post", "/v1/messages/count_tokens", "What usage.input_tokens will be", "MessagesRequest",
     "InputTokens"},
    {"post", "/anthropic/v1/messages", "As /v1/messages", "MessagesRequest", "Message", true},
    {"post", "/anthropic/v1/messages/count_tokens", "As /v1/messages/count_tokens",
     "MessagesRequest", "InputTokens"},
    {"post", "/invocations", "A chat completion or a completion, as the body says (SageMaker)",
     "Invocation", "Generation", true},
    {"post", "/tokenize", "The token ids of a text or of a conversation's prompt",
     "TokenizeRequest", "TokenizeReply"},
    {"post", "/detokenize", "The text of token ids", "DetokenizeRequest", "DetokenizeReply"},
    {"post", "/v1/tokenizers/estimate-token-count", "What usage.prompt_tokens will be",
     "ChatRequest", "TokenCount"},
    {"post", "/v1/files", "Upload the requests of a batch (multipart: file, purpose)", "", "File"},
    {"get", "/v1/files", "The files, newest first", "", "Object"},
    {"get", "/v1/files/{id}", "One of them; below it, /content: its bytes", "", "File"},
    {"delete", "/v1/files/{id}", "Delete it", "", "Object"},
    {"post", "/v1/batches", "Answer every request of a file", "BatchRequest", "Batch"},
    {"get", "/v1/batches", "The batches, newest first", "", "Object"},
    {"get", "/v1/batches/{id}", "One of them", "", "Batch"},
    {"post", "/v1/batches/{id}", "Below it, /cancel: end it early", "", "Batch"},
    {"get", "/slots", "What the engine's slots do and keep, in counts", "", "SlotList"},
    {"post", "/slots/{id}", "?action= save, restore or erase what a slot keeps (llama.cpp)",
     "SlotFile", "Object"},
    {"post", "/reset_prefix_cache", "Forget every kept sequence (vLLM)", "", "Dropped"},
    {"get", "/v1/models", "The names under which the model is served", "", "ModelList"},
    {"get", "/v1/models/{model}", "One of them", "", "Model"},
    {"get", "/health", "Whether the server works", "", "Status"},
    {"get", "/ready", "Whether new requests are accepted", "", "Status"},
    {"get", "/ping", "As /ready (SageMaker)", "", "Status"},
    {"get", "/metrics", "Prometheus text format", "", ""},
    {"get", "/debug/timeline", "The last steps of the model, as Chrome trace events", "", "Object"},
    {"get", "/version", "The version of the program", "", "Version"},
    {"get", "/openapi.json", "This document", "", "Object"},
});

// Schemas that no table gives.
constexpr std::string_view kSchemas = R"({
  "Object": {"type": "object"},
  "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object",
    "required": ["message", "type", "param", "code"], "properties": {"message": {"type": "string"},
    "type": {"type": "string"}, "param": {"type": ["string", "null"]}, "code": {"type": "string"}}}}},
  "Usage": {"type": "object", "required": ["prompt_tokens", "completion_tokens", "total_tokens"],
    "properties": {"prompt_tokens": {"type": "integer"}, "completion_tokens": {"type": "integer"},
    "total_tokens": {"type": "integer"}, "cached_tokens": {"type": "integer"}}},
  "ChatCompletion": {"type": "object", "required": ["id", "object", "created", "model", "choices", "usage"],
    "properties": {"id": {"type": "string"}, "object": {"const": "chat.completion"},
    "created": {"type": "integer"}, "model": {"type": "string"},
    "choices": {"type": "array", "items": {"type": "object"}}, "usage": {"$ref": "#/components/schemas/Usage"}}},
  "TextCompletion": {"type": "object", "required": ["id", "object", "created", "model", "choices", "usage"],
    "properties": {"id": {"type": "string"}, "object": {"const": "text_completion"},
    "created": {"type": "integer"}, "model": {"type": "string"},
    "choices": {"type": "array", "items": {"type": "object", "required": ["index", "text", "logprobs", "finish_reason"],
    "properties": {"index": {"type": "integer"}, "text": {"type": "string"},
    "logprobs": {"type": ["object", "null"]}, "finish_reason": {"enum": ["stop", "length"]}}}},
    "usage": {"$ref": "#/components/schemas/Usage"}}},
  "ResponsesRequest": {"type": "object", "required": ["input"], "properties": {"model": {"type": "string"},
    "input": {"type": ["string", "array"]}, "stream": {"type": ["boolean", "null"]}}},
  "Response": {"type": "object", "required": ["id", "object", "status", "output"],
    "properties": {"id": {"type": "string"}, "object": {"const": "response"}, "status": {"type": "string"},
    "output": {"type": "array", "items": {"type": "object"}}}},
  "MessagesRequest": {"type": "object", "required": ["messages"], "properties": {"model": {"type": "string"},
    "messages": {"type": "array", "items": {"type": "object"}}, "max_tokens": {"type": "integer", "minimum": 1},
    "stream": {"type": "boolean"}}},
  "Message": {"type": "object", "required": ["id", "type", "role", "content", "stop_reason", "usage"],
    "properties": {"id": {"type": "string"}, "type": {"const": "message"}, "role": {"const": "assistant"},
    "content": {"type": "array", "items": {"type": "object"}}}},
  "InputTokens": {"type": "object", "required": ["input_tokens"], "properties": {"input_tokens": {"type": "integer"}}},
  "Invocation": {"oneOf": [{"$ref": "#/components/schemas/ChatRequest"},
    {"$ref": "#/components/schemas/CompletionRequest"}]},
  "Generation": {"oneOf": [{"$ref": "#/components/schemas/ChatCompletion"},
    {"$ref": "#/components/schemas/TextCompletion"}]},
  "TokenizeRequest": {"type": "object", "properties": {"model": {"type": "string"}, "prompt": {"type": "string"},
    "messages": {"type": "array", "items": {"type": "object"}}, "tools": {"type": "array", "items": {"type": "object"}},
    "add_generation_prompt": {"type": "boolean"}, "chat_template_kwargs": {"type": "object"},
    "add_special_tokens": {"type": "boolean"}, "allow_special": {"type": "boolean"},
    "return_token_strs": {"type": "boolean"}}, "oneOf": [{"required": ["prompt"]}, {"required": ["messages"]}]},
  "TokenizeReply": {"type": "object", "required": ["count", "max_model_len", "tokens", "token_strs"],
    "properties": {"count": {"type": "integer"}, "max_model_len": {"type": "integer"},
    "tokens": {"type": "array", "items": {"type": "integer"}},
    "token_strs": {"type": ["array", "null"], "items": {"type": "string"}}}},
  "DetokenizeRequest": {"type": "object", "required": ["tokens"], "properties": {"model": {"type": "string"},
    "tokens": {"type": "array", "items": {"type": "integer", "minimum": 0}}}},
  "DetokenizeReply": {"type": "object", "required": ["prompt"], "properties": {"prompt": {"type": "string"}}},
  "TokenCount": {"type": "object", "required": ["data"], "properties": {"data": {"type": "object",
    "required": ["total_tokens"], "properties": {"total_tokens": {"type": "integer"}}}}},
  "Model": {"type": "object", "required": ["id", "object", "created", "owned_by"],
    "properties": {"id": {"type": "string"}, "object": {"const": "model"}, "created": {"type": "integer"},
    "owned_by": {"type": "string"}, "root": {"type": "string"}, "parent": {"type": "null"},
    "max_model_len": {"type": "integer"}, "capabilities": {"type": "object"},
    "supported_parameters": {"type": "array", "items": {"type": "string"}}}},
  "ModelList": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"},
    "data": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}}},
  "File": {"type": "object", "required": ["id", "object", "bytes", "created_at", "filename", "purpose"],
    "properties": {"id": {"type": "string"}, "object": {"const": "file"}, "bytes": {"type": "integer"},
    "created_at": {"type": "integer"}, "filename": {"type": "string"}, "purpose": {"type": "string"}}},
  "BatchRequest": {"type": "object", "required": ["input_file_id", "endpoint", "completion_window"],
    "properties": {"input_file_id": {"type": "string"}, "completion_window": {"const": "24h"},
    "endpoint": {"enum": ["/v1/chat/completions", "/v1/completions", "/v1/responses"]},
    "metadata": {"type": ["object", "null"]}}},
  "Batch": {"type": "object", "required": ["id", "object", "status", "request_counts"],
    "properties": {"id": {"type": "string"}, "object": {"const": "batch"}, "status": {"type": "string"},
    "request_counts": {"type": "object"}}},
  "SlotList": {"type": "array", "items": {"type": "object", "required": ["id", "n_ctx", "is_processing", "n_past"],
    "properties": {"id": {"type": "integer"}, "n_ctx": {"type": "integer"}, "is_processing": {"type": "boolean"},
    "n_past": {"type": "integer"}}}},
  "SlotFile": {"type": "object", "properties": {"filename": {"type": "string"}}},
  "Dropped": {"type": "object", "required": ["dropped"], "properties": {"dropped": {"type": "integer"}}},
  "Status": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}},
  "Version": {"type": "object", "required": ["version"], "properties": {"version": {"type": "string"}}}
})";

Json reference(std::string_view schema) {
  return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

// The JSON Schema of a body with these fields. Unknown ones are ignored, and null counts as absent.
Json object_schema(std::span<const RequestField> fields, const char* required) {
  Json properties = Json::object();
  for (const RequestField& field : fields) {
    Json schema = Json::parse(field.schema);
    const bool needed = field.name == required;
    properties[std::string(field.name)] =
        needed ? std::move(schema)
               : Json{{"anyOf", Json::array({std::move(schema), Json{{"type", "null"}}})}};
  }
  return {{"type", "object"},
          {"required", Json::array({required})},
          {"properties", std::move(properties)}};
}

Json content(std::string_view type, Json schema) {
  return {{std::string(type), Json{{"schema", std::move(schema)}}}};
}

Json responses(const Route& route) {
  Json good = {{"description", "OK"}};
  good["content"] = route.reply.empty() ? content("text/plain", {{"type", "string"}})
                                        : content("application/json", reference(route.reply));
  if (route.streams) {
    good["content"].update(content("text/event-stream", {{"type", "string"}}));
  }
  const Json bad = {{"description", "An error"},
                    {"content", content("application/json", reference("Error"))}};
  const bool status = route.reply == "Status";  // which an unready server answers with 503
  return {{"200", std::move(good)},
          {status ? "503" : "default",
           status ? Json{{"description", "Draining"},
                         {"content", content("application/json", reference("Status"))}}
                  : bad}};
}

Json operation(const Route& route) {
  Json out = {{"summary", route.summary}};
  if (const std::size_t at = route.path.find('{'); at != std::string_view::npos) {
    const std::string_view name = route.path.substr(at + 1, route.path.size() - at - 2);
    out["parameters"] = Json::array({Json{
        {"name", name}, {"in", "path"}, {"required", true}, {"schema", Json{{"type", "string"}}}}});
  }
  if (!route.body.empty()) {
    out["requestBody"] = {{"required", true},
                          {"content", content("application/json", reference(route.body))}};
  }
  out["responses"] = responses(route);
  return out;
}

}  // namespace

std::string openapi_json(const ServiceOptions& options) {
  Json paths = Json::object();
  for (const Route& route : kRoutes) {
    paths[std::string(route.path)][std::string(route.method)] = operation(route);
  }
  Json schemas = Json::parse(kSchemas);
  schemas["ChatRequest"] = object_schema(chat_fields(), "messages");
  schemas["CompletionRequest"] = object_schema(completion_fields(), "prompt");
  const Json document = {
      {"openapi", "3.1.0"},
      {"info", Json{{"title", "Daybreak"},
                    {"summary", "Kimi K3 behind the APIs that its clients speak"},
                    {"version", options.version}}},
      {"paths", std::move(paths)},
      {"components", Json{{"schemas", std::move(schemas)}}}};
  return document.dump();
}

}  // namespace daybreak::api
