// SPDX-License-Identifier: Apache-2.0
#include "chat/request_tools.h"

#include <algorithm>
#include <utility>

#include "base/json_document.h"
#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kMaxToolName = 256;

std::string sorted_json(const JsonNode& node) {
  std::string out;
  append_python_json(out, node, JsonStyle::kSortedCompact);
  return out;
}

Result<std::optional<bool>> read_strict(const Field& owner) {
  const auto strict = owner.find("strict");
  if (!strict) {
    return std::optional<bool>();
  }
  DAYBREAK_TRY(const bool value, strict->boolean());
  return std::optional<bool>(value);
}

// Returns the required member `key`.
Result<Field> required(const Field& owner, std::string_view key, std::string_view what) {
  if (auto field = owner.find(key)) {
    return *std::move(field);
  }
  return Error{Errc::kInvalidArgument,
               owner.path_of(key) + ": expected " + std::string(what) + ", found nothing"};
}

Result<Tool> read_tool(const Field& item, Contract contract) {
  DAYBREAK_CHECK_OK(item.object());
  DAYBREAK_TRY(const Field type, required(item, "type", "\"function\""));
  if (type.node().text != "function") {
    return type.expected("\"function\"");
  }
  DAYBREAK_TRY(const Field function, required(item, "function", "an object"));
  DAYBREAK_CHECK_OK(function.object());
  DAYBREAK_TRY(const Field name, required(function, "name", "a name"));
  DAYBREAK_CHECK_OK(check_tool_name(name, contract));
  if (const auto description = function.find("description");
      description && !description->is(JsonNode::Kind::kString)) {
    return description->expected("a string");
  }
  Tool tool{
      .name = name.node().text, .json = sorted_json(item.node()), .parameters = {}, .strict = {}};
  if (const auto parameters = function.find("parameters")) {
    if (!parameters->is(JsonNode::Kind::kObject)) {
      return parameters->expected("a JSON Schema object");
    }
    tool.parameters = std::string(parameters->node().raw);
  }
  DAYBREAK_TRY(tool.strict, read_strict(function));
  return tool;
}

}  // namespace

Status check_tool_name(const Field& name, Contract contract) {
  const bool vendor = contract == Contract::kVendor;
  const std::string& text = name.node().text;
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  const auto plain = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  const auto allowed = [&](char c) {
    return plain(c) || (!vendor && (c == '.' || c == '/' || c == ':'));
  };
  if (!text.empty() && text.size() <= kMaxToolName && (!vendor || letter(text.front())) &&
      std::ranges::all_of(text, allowed)) {
    return ok();
  }
  return name.expected(vendor ? "a name of the form [A-Za-z_][A-Za-z0-9_-]{0,255}"
                              : "a name of the form [A-Za-z0-9_./:-]{1,256}");
}

Result<std::vector<Tool>> read_tools(const Field& field, const ChatLimits& limits,
                                     std::set<std::string, std::less<>>& names) {
  DAYBREAK_TRY(const auto items, field.array(limits.max_tools));
  std::vector<Tool> tools;
  for (const Field& item : items) {
    DAYBREAK_TRY(Tool tool, read_tool(item, limits.contract));
    if (!names.insert(tool.name).second) {
      return Error{Errc::kInvalidArgument, item.path_of("function.name") +
                                               ": expected a name of its own for every tool, "
                                               "found '" +
                                               tool.name + "' once more"};
    }
    if (names.size() > limits.max_tools) {
      return field.wrong("expected at most " + std::to_string(limits.max_tools) +
                         " tools in the whole request");
    }
    tools.push_back(std::move(tool));
  }
  return tools;
}

Result<ToolChoice> read_tool_choice(const Field& field,
                                    const std::set<std::string, std::less<>>& names) {
  static constexpr std::string_view kExpected =
      "\"auto\", \"none\", \"required\" or {\"type\":\"function\",\"function\":{\"name\":...}}";
  if (field.is(JsonNode::Kind::kString)) {
    const std::string& text = field.node().text;
    if (text == "auto") {
      return ToolChoice{};
    }
    if (text == "none") {
      return ToolChoice{ToolChoiceKind::kNone, {}};
    }
    if (text != "required") {
      return field.expected(kExpected);
    }
    if (names.empty()) {
      return field.wrong("expected a declared tool for \"required\", found none");
    }
    return ToolChoice{ToolChoiceKind::kRequired, {}};
  }
  if (!field.is(JsonNode::Kind::kObject)) {
    return field.expected(kExpected);
  }
  DAYBREAK_CHECK_OK(field.object());
  DAYBREAK_TRY(const Field type, required(field, "type", "\"function\""));
  if (type.node().text != "function") {
    return type.expected("\"function\"");
  }
  DAYBREAK_TRY(const Field function, required(field, "function", "an object"));
  DAYBREAK_CHECK_OK(function.object());
  DAYBREAK_TRY(const Field name, required(function, "name", "the name of a declared tool"));
  if (!names.contains(name.node().text)) {
    return name.expected("the name of a declared tool");
  }
  return ToolChoice{ToolChoiceKind::kNamed, name.node().text};
}

Result<ResponseFormat> read_response_format(const Field& field, const ChatLimits& limits) {
  DAYBREAK_CHECK_OK(field.object());
  DAYBREAK_TRY(const Field type, required(field, "type", "a response format"));
  const std::string& kind = type.node().text;
  ResponseFormat format;
  if (kind == "text") {
    return format;
  }
  if (kind == "json_object") {
    if (const auto schema = field.find("schema")) {
      return schema->wrong("a schema is not used with \"json_object\"; ask for \"json_schema\"");
    }
    format.kind = ResponseFormatKind::kJsonObject;
    return format;
  }
  if (kind != "json_schema") {
    return type.expected("\"text\", \"json_object\" or \"json_schema\"");
  }
  format.kind = ResponseFormatKind::kJsonSchema;
  DAYBREAK_TRY(const Field body, required(field, "json_schema", "an object"));
  DAYBREAK_CHECK_OK(body.object());
  DAYBREAK_TRY(const Field name, required(body, "name", "a name"));
  DAYBREAK_TRY(format.name, name.string(limits.max_name_bytes));
  if (format.name.empty()) {
    return name.expected("a name");
  }
  DAYBREAK_TRY(const Field schema, required(body, "schema", "a JSON Schema object"));
  if (!schema.is(JsonNode::Kind::kObject)) {
    return schema.expected("a JSON Schema object");
  }
  format.schema = sorted_json(schema.node());
  DAYBREAK_TRY(const std::optional<bool> strict, read_strict(body));
  format.strict = strict.value_or(true);
  return format;
}

}  // namespace daybreak::chat
