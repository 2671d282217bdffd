// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_request.h"

#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/json_document.h"
#include "base/json_tree.h"
#include "chat/anthropic_thinking.h"
#include "chat/anthropic_tools.h"
#include "chat/anthropic_turns.h"
#include "chat/field_table.h"
#include "chat/known_members.h"
#include "chat/python_json.h"
#include "chat/request_fields.h"
#include "chat/required_field.h"
#include "chat/vendor_contract.h"

namespace daybreak::chat {
namespace {

// Levels around the input of a tool_use, which counts by itself, as OpenAI's arguments do.
constexpr std::size_t kLevelsAroundInput = 6;

// Clients mark the long-context variant of a model so; here it is the same model.
constexpr std::string_view kLongContext = "[1m]";

Status read_model(const Field& root, const ChatLimits& limits, ChatRequest& request) {
  DAYBREAK_TRY(const Field field, required_field(root, "model", "the name of a model"));
  DAYBREAK_TRY(request.model, field.string(limits.max_name_bytes));
  if (request.model.ends_with(kLongContext)) {
    request.model.resize(request.model.size() - kLongContext.size());
  }
  return request.model.empty() ? field.expected("the name of a model") : ok();
}

Status read_sampling(const Field& root, AnthropicCall call, const ChatLimits& limits,
                     SamplingOptions& options) {
  options.max_tokens_field = "max_tokens";
  if (const auto field = root.find("max_tokens")) {
    DAYBREAK_TRY(options.max_tokens, field->integer(1, std::uint64_t{1} << 32));
  } else if (call == AnthropicCall::kMessages) {
    return missing_field(root, "max_tokens", "an integer from 1");
  }
  if (const auto field = root.find("temperature")) {
    DAYBREAK_TRY(options.temperature, field->number(0, 2));
  }
  if (const auto field = root.find("top_p")) {
    DAYBREAK_TRY(options.top_p, field->number(0, 1));
    if (options.top_p < std::numeric_limits<double>::min()) {
      return field->expected("a number above 0 and at most 1");
    }
  }
  if (const auto field = root.find("top_k")) {
    DAYBREAK_TRY(const std::uint64_t value,
                 field->integer(0, std::numeric_limits<std::int32_t>::max()));
    options.top_k = static_cast<std::uint32_t>(value);
  }
  if (const auto field = root.find("stop_sequences")) {
    DAYBREAK_TRY(const auto items, field->array(limits.max_stop_strings));
    for (const Field& item : items) {
      DAYBREAK_TRY(std::string text, item.string(limits.max_stop_bytes));
      if (text.empty()) {
        return item.expected("a string that is not empty");
      }
      options.stop.push_back(std::move(text));
    }
  }
  return ok();
}

Status read_metadata(const Field& root, const ChatLimits& limits, ChatRequest& request) {
  if (const auto metadata = root.find("metadata")) {
    DAYBREAK_CHECK_OK(metadata->object());
    DAYBREAK_CHECK_OK(anthropic_fields().judge(*metadata, request.ignored_fields));
    if (const auto id = metadata->find("user_id")) {
      DAYBREAK_TRY(request.user, id->string(limits.max_id_bytes));
    }
  }
  return ok();
}

// {"type":"json_schema","schema":{...}}. A forced call leaves no room for content of a form, which
// then stays in the prompt alone.
Status read_format(const Field& field, ChatRequest& request) {
  DAYBREAK_CHECK_OK(field.object());
  DAYBREAK_TRY(const Field type, required_field(field, "type", "\"json_schema\""));
  if (type.node().text != "json_schema") {
    return type.expected("\"json_schema\"");
  }
  DAYBREAK_TRY(const Field schema, required_field(field, "schema", "a JSON Schema object"));
  if (!schema.is(JsonNode::Kind::kObject)) {
    return schema.expected("a JSON Schema object");
  }
  request.response_format.kind = ResponseFormatKind::kJsonSchema;
  append_python_json(request.response_format.schema, schema.node(), JsonStyle::kSortedCompact);
  const ToolChoiceKind choice = request.tool_choice.kind;
  if (choice != ToolChoiceKind::kRequired && choice != ToolChoiceKind::kNamed) {
    request.output.kind = OutputForm::Kind::kSchema;
    request.output.source = std::string(schema.node().raw);
    request.output.field = schema.path();
  }
  return ok();
}

Status read_output(const Field& root, ChatRequest& request) {
  const auto config = root.find("output_config");
  const auto format = config ? config->find("format") : std::nullopt;
  const auto older = root.find("output_format");
  if (format && older) {
    return older->wrong("cannot be combined with output_config.format: expected one of them");
  }
  if (config) {
    DAYBREAK_CHECK_OK(anthropic_fields().judge(*config, request.ignored_fields));
  }
  if (format || older) {
    return read_format(format ? *format : *older, request);
  }
  return ok();
}

}  // namespace

Result<AnthropicRequest> parse_anthropic_request(std::string_view json, AnthropicCall call,
                                                 const ChatLimits& limits) {
  DAYBREAK_TRY(const JsonNode tree,
               parse_json_tree(json, {.max_depth = limits.max_depth + kLevelsAroundInput,
                                      .max_values = limits.max_values}));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  AnthropicRequest request;
  ChatRequest& chat = request.chat;
  DAYBREAK_CHECK_OK(anthropic_fields().judge(root, chat.ignored_fields));
  add_unknown_members(root, anthropic_members(), chat.ignored_fields);
  DAYBREAK_CHECK_OK(check_vendor_contract(root, limits.contract));
  DAYBREAK_CHECK_OK(read_model(root, limits, chat));
  std::set<std::string, std::less<>> names;
  if (const auto tools = root.find("tools")) {
    DAYBREAK_TRY(chat.tools, read_anthropic_tools(*tools, limits, names));
  }
  DAYBREAK_TRY(AnthropicTurns turns, read_anthropic_turns(root, limits));
  chat.messages = std::move(turns.messages);
  request.first_image = std::move(turns.first_image);
  if (const auto choice = root.find("tool_choice")) {
    DAYBREAK_CHECK_OK(read_anthropic_tool_choice(*choice, names, chat));
  }
  DAYBREAK_TRY(const AnthropicThinking thinking, read_anthropic_thinking(root));
  chat.thinking = thinking.thinking;
  request.show_thinking = thinking.show;
  DAYBREAK_CHECK_OK(read_sampling(root, call, limits, chat.sampling));
  DAYBREAK_CHECK_OK(read_metadata(root, limits, chat));
  if (const auto field = root.find("stream")) {
    DAYBREAK_TRY(chat.stream, field->boolean());
  }
  DAYBREAK_CHECK_OK(read_output(root, chat));
  return request;
}

}  // namespace daybreak::chat
