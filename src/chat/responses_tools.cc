// SPDX-License-Identifier: Apache-2.0
#include "chat/responses_tools.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "chat/field_table.h"
#include "chat/python_json.h"
#include "chat/request_output.h"
#include "chat/request_tools.h"

namespace daybreak::chat {
namespace {

using Kind = JsonNode::Kind;
using Names = std::set<std::string, std::less<>>;

Error missing(const Field& owner, std::string_view key, std::string_view what) {
  return {Errc::kInvalidArgument,
          owner.path_of(key) + ": expected " + std::string(what) + ", found nothing"};
}

Result<std::optional<bool>> read_strict(const Field& owner) {
  const auto strict = owner.find("strict");
  if (!strict) {
    return std::optional<bool>();
  }
  DAYBREAK_TRY(const bool value, strict->boolean());
  return std::optional<bool>(value);
}

// {"function":{...},"type":"function"}: the tool as the chat route has it.
std::string nested_json(const Field& item) {
  static constexpr std::array<std::string_view, 4> kKept = {"name", "description", "parameters",
                                                            "strict"};
  JsonNode function;
  function.kind = Kind::kObject;
  for (std::size_t i = 0; i < item.node().keys.size(); ++i) {
    const std::string& key = item.node().keys[i];
    const bool kept = std::ranges::find(kKept, std::string_view(key)) != kKept.end();
    if (kept && !item.node().items[i].is(Kind::kNull)) {
      function.keys.push_back(key);
      function.items.push_back(item.node().items[i]);
    }
  }
  std::string out = "{\"function\":";
  append_python_json(out, function, JsonStyle::kSortedCompact);
  return out + ",\"type\":\"function\"}";
}

Result<Tool> read_tool(const Field& item, Contract contract) {
  DAYBREAK_CHECK_OK(item.object());
  const auto type = item.find("type");
  if (!type || type->node().text != "function") {
    return type ? type->expected("\"function\" (hosted and custom tools are not supported)")
                : missing(item, "type", "\"function\"");
  }
  const auto name = item.find("name");
  if (!name) {
    return missing(item, "name", "a name");
  }
  DAYBREAK_CHECK_OK(check_tool_name(*name, contract));
  if (const auto text = item.find("description"); text && !text->is(Kind::kString)) {
    return text->expected("a string");
  }
  Tool tool{.name = name->node().text, .json = nested_json(item), .parameters = {}, .strict = {}};
  if (const auto parameters = item.find("parameters")) {
    if (!parameters->is(Kind::kObject)) {
      return parameters->expected("a JSON Schema object");
    }
    tool.parameters = std::string(parameters->node().raw);
  }
  DAYBREAK_TRY(tool.strict, read_strict(item));
  return tool;
}

// Returns the name in {"type":"function","name":NAME}, which `names` must hold.
Result<std::string> read_named(const Field& field, const Names& names) {
  DAYBREAK_CHECK_OK(field.object());
  const auto type = field.find("type");
  if (!type || type->node().text != "function") {
    return type ? type->expected("\"function\" (hosted and custom tools are not supported)")
                : missing(field, "type", "\"function\"");
  }
  const auto name = field.find("name");
  if (!name || !names.contains(name->node().text)) {
    return name ? name->expected("the name of a declared tool")
                : missing(field, "name", "the name of a declared tool");
  }
  return name->node().text;
}

Status read_allowed(const Field& field, const ChatLimits& limits, const Names& names,
                    ResponsesTools& out) {
  const auto mode = field.find("mode");
  if (!mode || (mode->node().text != "auto" && mode->node().text != "required")) {
    return mode ? mode->expected("\"auto\" or \"required\"")
                : missing(field, "mode", "\"auto\" or \"required\"");
  }
  const auto list = field.find("tools");
  if (!list) {
    return missing(field, "tools", "an array of declared tools");
  }
  DAYBREAK_TRY(const auto items, list->array(limits.max_tools));
  Names allowed;
  for (const Field& item : items) {
    DAYBREAK_TRY(std::string name, read_named(item, names));
    allowed.insert(std::move(name));
  }
  ResponsesTools kept;
  for (std::size_t i = 0; i < out.tools.size(); ++i) {
    if (allowed.contains(out.tools[i].name)) {
      kept.tools.push_back(std::move(out.tools[i]));
      kept.paths.push_back(std::move(out.paths[i]));
    }
  }
  if (mode->node().text == "required") {
    if (kept.tools.empty()) {
      return list->wrong("\"required\" needs at least one tool");
    }
    kept.choice.kind = ToolChoiceKind::kRequired;
  }
  out = std::move(kept);
  return ok();
}

Status read_choice(const Field& field, const ChatLimits& limits, const Names& names,
                   ResponsesTools& out) {
  if (field.is(Kind::kString)) {
    DAYBREAK_TRY(out.choice, read_tool_choice(field, names));
    return ok();
  }
  if (!field.is(Kind::kObject)) {
    return field.expected("\"auto\", \"none\", \"required\" or an object");
  }
  DAYBREAK_CHECK_OK(field.object());
  if (const auto type = field.find("type"); type && type->node().text == "allowed_tools") {
    return read_allowed(field, limits, names, out);
  }
  DAYBREAK_TRY(out.choice.name, read_named(field, names));
  out.choice.kind = ToolChoiceKind::kNamed;
  return ok();
}

Status read_schema_format(const Field& format, const ChatLimits& limits, ResponsesText& text) {
  text.format.kind = ResponseFormatKind::kJsonSchema;
  const auto name = format.find("name");
  if (!name) {
    return missing(format, "name", "a name");
  }
  DAYBREAK_TRY(text.format.name, name->string(limits.max_name_bytes));
  if (text.format.name.empty()) {
    return name->expected("a name");
  }
  const auto schema = format.find("schema");
  if (!schema || !schema->is(Kind::kObject)) {
    return schema ? schema->expected("a JSON Schema object")
                  : missing(format, "schema", "a JSON Schema object");
  }
  append_python_json(text.format.schema, schema->node(), JsonStyle::kSortedCompact);
  DAYBREAK_TRY(const std::optional<bool> strict, read_strict(format));
  text.format.strict = strict.value_or(true);
  text.output.field = text.format.strict ? schema->path() : format.path();
  text.output.kind = text.format.strict ? OutputForm::Kind::kSchema : OutputForm::Kind::kJsonObject;
  if (text.format.strict) {
    text.output.source = std::string(schema->node().raw);
  }
  return ok();
}

Status read_format(const Field& format, const ChatLimits& limits, ResponsesText& text) {
  DAYBREAK_CHECK_OK(format.object());
  const auto type = format.find("type");
  const std::string_view kind = type ? std::string_view(type->node().text) : std::string_view();
  if (kind == "json_schema") {
    return read_schema_format(format, limits, text);
  }
  if (kind == "json_object") {
    text.format.kind = ResponseFormatKind::kJsonObject;
    text.output.kind = OutputForm::Kind::kJsonObject;
    text.output.field = format.path();
    return ok();
  }
  if (kind == "text") {
    return ok();
  }
  static constexpr std::string_view kExpected = "\"text\", \"json_object\" or \"json_schema\"";
  return type ? type->expected(kExpected) : missing(format, "type", kExpected);
}

}  // namespace

Result<ResponsesTools> read_responses_tools(const Field& root, const ChatLimits& limits) {
  ResponsesTools out;
  Names names;
  if (const auto field = root.find("tools")) {
    DAYBREAK_TRY(const auto items, field->array(limits.max_tools));
    for (const Field& item : items) {
      DAYBREAK_TRY(Tool tool, read_tool(item, limits.contract));
      if (!names.insert(tool.name).second) {
        return Error{Errc::kInvalidArgument, item.path_of("name") + ": tool '" + tool.name +
                                                 "' is declared more than once"};
      }
      out.tools.push_back(std::move(tool));
      out.paths.push_back(item.path());
    }
  }
  if (const auto field = root.find("tool_choice")) {
    DAYBREAK_CHECK_OK(read_choice(*field, limits, names, out));
  }
  return out;
}

Result<ResponsesText> read_responses_text(const Field& root, const ToolChoice& choice,
                                          const ChatLimits& limits,
                                          std::vector<std::string>& ignored) {
  ResponsesText text;
  const auto field = root.find("text");
  if (!field) {
    return text;
  }
  DAYBREAK_CHECK_OK(field->object());
  DAYBREAK_CHECK_OK(responses_fields().judge(*field, ignored));
  DAYBREAK_CHECK_OK(check_verbosity(*field));
  if (const auto format = field->find("format")) {
    DAYBREAK_CHECK_OK(read_format(*format, limits, text));
  }
  if (choice.kind == ToolChoiceKind::kRequired || choice.kind == ToolChoiceKind::kNamed) {
    text.output = {};
  }
  return text;
}

}  // namespace daybreak::chat
