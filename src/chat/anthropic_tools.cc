// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_tools.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "chat/python_json.h"
#include "chat/request_tools.h"
#include "chat/required_field.h"

namespace daybreak::chat {
namespace {

constexpr auto kServerTools = std::to_array<std::string_view>(
    {"web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "mcp_toolset"});
constexpr auto kTrainedTools =
    std::to_array<std::string_view>({"bash_", "text_editor_", "computer_", "memory_"});

bool begins_with_any(std::string_view type, std::span<const std::string_view> heads) {
  return std::ranges::any_of(heads, [&](std::string_view head) { return type.starts_with(head); });
}

// Only custom tools are declared to the model.
Status check_type(const Field& item) {
  const auto type = item.find("type");
  if (!type || type->node().text == "custom") {
    return ok();
  }
  if (begins_with_any(type->node().text, kServerTools)) {
    return type->wrong(describe(type->node()) +
                       " is run by the server, and this one runs no tools; declare one the client "
                       "runs, with input_schema");
  }
  if (begins_with_any(type->node().text, kTrainedTools)) {
    return type->wrong(describe(type->node()) +
                       " has no schema in the request, and this model was not trained on it; "
                       "declare it as a custom tool with input_schema");
  }
  return type->expected("\"custom\"");
}

// The function object of the prompt, keys sorted.
std::string declaration(const Tool& tool, const std::optional<Field>& description,
                        const Field& schema) {
  std::string out = "{\"function\":{";
  if (description) {
    out += "\"description\":";
    append_python_string(out, description->node().text);
    out += ',';
  }
  out += "\"name\":";
  append_python_string(out, tool.name);
  out += ",\"parameters\":";
  append_python_json(out, schema.node(), JsonStyle::kSortedCompact);
  if (tool.strict) {
    out += *tool.strict ? ",\"strict\":true" : ",\"strict\":false";
  }
  return out + "},\"type\":\"function\"}";
}

Result<Tool> read_tool(const Field& item, Contract contract) {
  DAYBREAK_CHECK_OK(item.object());
  DAYBREAK_CHECK_OK(check_type(item));
  DAYBREAK_TRY(const Field name, required_field(item, "name", "a name"));
  DAYBREAK_CHECK_OK(check_tool_name(name, contract));
  const auto description = item.find("description");
  if (description && !description->is(JsonNode::Kind::kString)) {
    return description->expected("a string");
  }
  DAYBREAK_TRY(const Field schema, required_field(item, "input_schema", "a JSON Schema object"));
  if (!schema.is(JsonNode::Kind::kObject)) {
    return schema.expected("a JSON Schema object");
  }
  Tool tool{.name = name.node().text,
            .json = {},
            .parameters = std::string(schema.node().raw),
            .strict = {}};
  if (const auto strict = item.find("strict")) {
    DAYBREAK_TRY(tool.strict, strict->boolean());
  }
  tool.json = declaration(tool, description, schema);
  return tool;
}

}  // namespace

Result<std::vector<Tool>> read_anthropic_tools(const Field& field, const ChatLimits& limits,
                                               std::set<std::string, std::less<>>& names) {
  DAYBREAK_TRY(const auto items, field.array(limits.max_tools));
  std::vector<Tool> tools;
  for (const Field& item : items) {
    DAYBREAK_TRY(Tool tool, read_tool(item, limits.contract));
    if (!names.insert(tool.name).second) {
      return Error{Errc::kInvalidArgument,
                   item.path_of("name") + ": tool '" + tool.name + "' is declared more than once"};
    }
    tools.push_back(std::move(tool));
  }
  return tools;
}

Status read_anthropic_tool_choice(const Field& field,
                                  const std::set<std::string, std::less<>>& names,
                                  ChatRequest& request) {
  static constexpr std::string_view kExpected = "\"auto\", \"any\", \"tool\" or \"none\"";
  DAYBREAK_CHECK_OK(field.object());
  DAYBREAK_TRY(const Field type, required_field(field, "type", kExpected));
  const std::string& kind = type.node().text;
  if (kind == "any") {
    if (names.empty()) {
      return field.wrong("\"any\" needs at least one tool, but none is declared");
    }
    request.tool_choice.kind = ToolChoiceKind::kRequired;
  } else if (kind == "tool") {
    DAYBREAK_TRY(const Field name, required_field(field, "name", "the name of a declared tool"));
    if (!names.contains(name.node().text)) {
      return name.expected("the name of a declared tool");
    }
    request.tool_choice = {ToolChoiceKind::kNamed, name.node().text};
  } else if (kind == "none") {
    request.tool_choice.kind = ToolChoiceKind::kNone;
  } else if (kind != "auto") {
    return type.expected(kExpected);
  }
  if (const auto single = field.find("disable_parallel_tool_use")) {
    DAYBREAK_TRY(const bool value, single->boolean());
    request.parallel_tool_calls = !value;
  }
  return ok();
}

}  // namespace daybreak::chat
