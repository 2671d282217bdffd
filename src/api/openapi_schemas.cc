// SPDX-License-Identifier: Apache-2.0
#include "api/openapi_schemas.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/batch_routes.h"
#include "chat/field_table.h"

namespace daybreak::api {
namespace {

using Json = nlohmann::ordered_json;
using chat::FieldRule;
using chat::FieldTable;
using chat::FieldVerdict;

// A body whose fields are those of a table.
struct Body {
  std::string_view name;
  const FieldTable& (*fields)();
  std::string_view required;  // what of JSON Schema says which fields it needs
};

constexpr auto kBodies = std::to_array<Body>({
    {"ChatRequest", chat::chat_fields, R"({"required":["messages"]})"},
    {"CompletionRequest", chat::completion_fields, R"({"required":["prompt"]})"},
    {"ResponsesRequest", chat::responses_fields,
     R"({"anyOf":[{"required":["input"]},{"required":["previous_response_id"]}]})"},
    {"MessagesRequest", chat::anthropic_fields,
     R"({"required":["model","messages","max_tokens"]})"},
    {"CountTokensRequest", chat::anthropic_fields, R"({"required":["model","messages"]})"},
    {"TokenizeRequest", chat::tokenize_fields,
     R"({"oneOf":[{"required":["prompt"]},{"required":["messages"]}]})"},
    {"DetokenizeRequest", chat::detokenize_fields, R"({"required":["tokens"]})"},
    {"BatchRequest", batch_fields,
     R"({"required":["input_file_id","endpoint","completion_window"]})"},
});

// Schemas that no table gives.
constexpr std::string_view kSchemas = R"({
  "Object": {"type": "object"},
  "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object",
    "required": ["message", "type", "param", "code"], "properties": {"message": {"type": "string"},
    "type": {"type": "string"}, "param": {"type": ["string", "null"]}, "code": {"type": "string"}}}}},
  "AnthropicError": {"type": "object", "required": ["type", "error", "request_id"], "properties": {
    "type": {"const": "error"}, "request_id": {"type": "string"}, "error": {"type": "object",
    "required": ["type", "message"], "properties": {"type": {"type": "string"}, "message": {"type": "string"}}}}},
  "AnyError": {"oneOf": [{"$ref": "#/components/schemas/Error"}, {"$ref": "#/components/schemas/AnthropicError"}]},
  "Upload": {"type": "object", "required": ["file", "purpose"], "properties": {
    "file": {"type": "string", "contentMediaType": "application/octet-stream"}, "purpose": {"const": "batch"},
    "expires_after[anchor]": {"const": "created_at"},
    "expires_after[seconds]": {"type": "integer", "minimum": 3600, "maximum": 2592000}}},
  "Deleted": {"type": "object", "required": ["id", "object", "deleted"], "properties": {"id": {"type": "string"},
    "object": {"enum": ["file", "response"]}, "deleted": {"const": true}}},
  "Page": {"type": "object", "required": ["object", "data", "first_id", "last_id", "has_more"], "properties": {
    "object": {"const": "list"}, "data": {"type": "array", "items": {"type": "object", "required": ["id"]}},
    "first_id": {"type": ["string", "null"]}, "last_id": {"type": ["string", "null"]},
    "has_more": {"type": "boolean"}}},
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
  "Response": {"type": "object", "required": ["id", "object", "status", "output"],
    "properties": {"id": {"type": "string"}, "object": {"const": "response"}, "status": {"type": "string"},
    "output": {"type": "array", "items": {"type": "object"}}}},
  "Message": {"type": "object", "required": ["id", "type", "role", "content", "stop_reason", "usage"],
    "properties": {"id": {"type": "string"}, "type": {"const": "message"}, "role": {"const": "assistant"},
    "content": {"type": "array", "items": {"type": "object"}}}},
  "ResponsesInputTokens": {"type": "object", "required": ["object", "input_tokens"], "properties": {
    "object": {"const": "response.input_tokens"}, "input_tokens": {"type": "integer"}}},
  "InputTokens": {"type": "object", "required": ["input_tokens"], "properties": {"input_tokens": {"type": "integer"}}},
  "Invocation": {"oneOf": [{"$ref": "#/components/schemas/ChatRequest"},
    {"$ref": "#/components/schemas/CompletionRequest"}]},
  "Generation": {"oneOf": [{"$ref": "#/components/schemas/ChatCompletion"},
    {"$ref": "#/components/schemas/TextCompletion"}]},
  "TokenizeReply": {"type": "object", "required": ["count", "max_model_len", "tokens", "token_strs"],
    "properties": {"count": {"type": "integer"}, "max_model_len": {"type": "integer"},
    "tokens": {"type": "array", "items": {"type": "integer"}},
    "token_strs": {"type": ["array", "null"], "items": {"type": "string"}}}},
  "DetokenizeReply": {"type": "object", "required": ["prompt"], "properties": {"prompt": {"type": "string"}}},
  "TokenCount": {"type": "object", "required": ["data"], "properties": {"data": {"type": "object",
    "required": ["total_tokens"], "properties": {"total_tokens": {"type": "integer"}}}}},
  "Model": {"type": "object", "required": ["id", "object", "created", "owned_by"],
    "properties": {"id": {"type": "string"}, "object": {"const": "model"}, "created": {"type": "integer"},
    "owned_by": {"type": "string"}, "root": {"type": "string"}, "parent": {"type": ["string", "null"]},
    "max_model_len": {"type": "integer"}, "capabilities": {"type": "object"},
    "supported_parameters": {"type": "array", "items": {"type": "string"}}}},
  "ModelList": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"},
    "data": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}}},
  "AnthropicModel": {"type": "object", "required": ["type", "id", "display_name", "created_at", "lifecycle"],
    "properties": {"type": {"const": "model"}, "id": {"type": "string"}, "display_name": {"type": "string"},
    "created_at": {"type": "string", "format": "date-time"}, "lifecycle": {"const": "active"},
    "max_input_tokens": {"type": "integer"}, "max_tokens": {"type": "integer"}}},
  "AnthropicModelList": {"type": "object", "required": ["data", "has_more", "first_id", "last_id"], "properties": {
    "data": {"type": "array", "items": {"$ref": "#/components/schemas/AnthropicModel"}}, "has_more": {"type": "boolean"},
    "first_id": {"type": ["string", "null"]}, "last_id": {"type": ["string", "null"]}}},
  "AnyModel": {"oneOf": [{"$ref": "#/components/schemas/Model"}, {"$ref": "#/components/schemas/AnthropicModel"}]},
  "AnyModelList": {"oneOf": [{"$ref": "#/components/schemas/ModelList"},
    {"$ref": "#/components/schemas/AnthropicModelList"}]},
  "File": {"type": "object", "required": ["id", "object", "bytes", "created_at", "filename", "purpose"],
    "properties": {"id": {"type": "string"}, "object": {"const": "file"}, "bytes": {"type": "integer"},
    "created_at": {"type": "integer"}, "filename": {"type": "string"}, "purpose": {"type": "string"}}},
  "Batch": {"type": "object", "required": ["id", "object", "status", "request_counts"],
    "properties": {"id": {"type": "string"}, "object": {"const": "batch"}, "status": {"type": "string"},
    "request_counts": {"type": "object"}}},
  "SlotList": {"type": "array", "items": {"type": "object", "required": ["id", "n_ctx", "is_processing", "n_past"],
    "properties": {"id": {"type": "integer"}, "n_ctx": {"type": "integer"}, "is_processing": {"type": "boolean"},
    "n_past": {"type": "integer"}}}},
  "SlotFile": {"type": "object", "properties": {"filename": {"type": "string",
    "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"}}},
  "LoraName": {"type": "object", "required": ["lora_name"], "properties": {"lora_name": {"type": "string",
    "pattern": "^[!-~]{1,128}$"}}},
  "LoraPath": {"type": "object", "required": ["lora_name", "lora_path"], "properties": {"lora_name": {"type": "string",
    "pattern": "^[!-~]{1,128}$"}, "lora_path": {"type": "string", "minLength": 1, "maxLength": 4096},
    "load_inplace": {"type": "boolean"}}},
  "Dropped": {"type": "object", "required": ["dropped"], "properties": {"dropped": {"type": "integer"}}},
  "Status": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}},
  "Version": {"type": "object", "required": ["version"], "properties": {"version": {"type": "string"}}}
})";

// null counts as absent.
void allow_null(Json& schema) {
  if (schema.contains("type")) {
    Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
    types.push_back("null");
    schema["type"] = std::move(types);
  } else if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
  } else if (schema.contains("anyOf")) {
    schema["anyOf"].push_back({{"type", "null"}});
  }
}

// The values that are neither refused nor answered otherwise.
Json schema_of(const FieldRule& rule) {
  Json schema;
  if (rule.verdict == FieldVerdict::kHonoured) {
    schema = Json::parse(rule.values);
  } else {
    schema["enum"] = Json::array();
    for (const std::string_view value : rule.neutral_values()) {
      schema["enum"].push_back(Json::parse(value));
    }
  }
  schema["description"] =
      (rule.verdict == FieldVerdict::kRefused ? "Refused: " : "") + std::string(rule.text);
  return schema;
}

// Where the schema of the field `name` belongs; `name` becomes the last part of the path.
Json& properties_of(Json& body, std::string_view& name) {
  Json* owner = &body;
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.')) {
    std::string_view key = name.substr(0, dot);
    const bool list = key.ends_with("[]");
    key.remove_suffix(list ? 2 : 0);
    owner = &(*owner)["properties"][std::string(key)];
    owner = list ? &(*owner)["items"] : owner;
    name.remove_prefix(dot + 1);
  }
  return (*owner)["properties"];
}

// What is ignored, and what is unknown, is not described.
Json body_schema(const Body& body) {
  Json out = {{"type", "object"}};
  out.update(Json::parse(body.required));
  const auto needed = out.value("required", std::vector<std::string>());
  for (const FieldRule& rule : body.fields().rules()) {
    if (rule.verdict == FieldVerdict::kIgnored) {
      continue;
    }
    Json schema = schema_of(rule);
    if (std::ranges::find(needed, rule.name) == needed.end()) {
      allow_null(schema);
    }
    std::string_view name = rule.name;
    Json& properties = properties_of(out, name);
    properties[std::string(name)] = std::move(schema);
  }
  return out;
}

}  // namespace

nlohmann::ordered_json openapi_schemas() {
  Json schemas = Json::parse(kSchemas);
  for (const Body& body : kBodies) {
    schemas[std::string(body.name)] = body_schema(body);
  }
  return schemas;
}

}  // namespace daybreak::api
