// SPDX-License-Identifier: Apache-2.0
#include "chat/render_tools.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/json_document.h"
#include "base/json_tree.h"
#include "base/utf8.h"
#include "chat/python_json.h"
#include "tokenizer/char_class.h"

namespace daybreak::chat {
namespace {

std::string argument_value(const JsonNode& node, ArgumentSpelling spelling) {
  if (node.is(JsonNode::Kind::kString)) {
    return node.text;
  }
  if (spelling == ArgumentSpelling::kLiteral) {
    return std::string(node.raw);
  }
  std::string out;
  append_python_json(out, node, JsonStyle::kSpaced);
  return out;
}

void render_arguments(SegmentWriter& writer, const std::string& arguments,
                      ArgumentSpelling spelling) {
  if (is_blank(arguments)) {
    return;
  }
  const Result<JsonNode> tree = parse_json_tree(arguments);
  if (!tree || (!tree->is(JsonNode::Kind::kObject) && !tree->is(JsonNode::Kind::kNull))) {
    writer.open("json", {{"type", "object"}});
    writer.text(arguments);
    writer.close("json");
    return;
  }
  for (std::size_t i = 0; i < tree->items.size(); ++i) {
    const JsonNode& value = tree->items[i];
    writer.open("argument", {{"key", tree->keys[i]}, {"type", to_string(value.kind)}});
    writer.text(argument_value(value, spelling));
    writer.close("argument");
  }
}

std::optional<std::size_t> find_call(std::span<const ToolCall> calls, const std::string& id) {
  const auto it = std::ranges::find(calls, id, &ToolCall::id);
  if (id.empty() || it == calls.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(it - calls.begin());
}

// The name of a result in a run that could not be sorted; empty if no rule gives one.
std::string fallback_name(const Message& message, std::span<const ToolCall> calls,
                          std::optional<std::size_t> matched, std::size_t index) {
  if (!message.tool.empty()) {
    return message.tool;
  }
  if (!message.name.empty()) {
    return message.name;
  }
  if (matched) {
    return calls[*matched].name;
  }
  return index < calls.size() ? calls[index].name : std::string();
}

}  // namespace

bool is_blank(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = valid_code_point(text, at);
    if (!tokenizer::is_python_space(point.value)) {
      return false;
    }
    at += point.length;
  }
  return true;
}

void render_tool_call(SegmentWriter& writer, const ToolCall& call, std::size_t index,
                      ArgumentSpelling spelling) {
  writer.open("call", {{"tool", call.name}, {"index", std::to_string(index)}});
  render_arguments(writer, call.arguments, spelling);
  writer.close("call");
}

Result<std::vector<ToolResult>> order_tool_results(std::span<const Message> run,
                                                   std::size_t first_position,
                                                   std::span<const ToolCall> calls,
                                                   std::size_t results_before) {
  std::vector<std::optional<std::size_t>> matched;
  for (const Message& message : run) {
    matched.push_back(find_call(calls, message.tool_call_id));
  }
  const bool all = std::ranges::all_of(matched, [](const auto& m) { return m.has_value(); });
  std::vector<std::size_t> order(run.size());
  for (std::size_t i = 0; i < run.size(); ++i) {
    order[i] = i;
  }
  if (all) {
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(*matched[i], i); });
  }
  std::vector<ToolResult> results;
  for (const std::size_t i : order) {
    const std::size_t index = results_before + results.size();
    std::string tool =
        all ? calls[*matched[i]].name : fallback_name(run[i], calls, matched[i], index);
    if (tool.empty()) {
      return Error{Errc::kInvalidArgument, "messages[" + std::to_string(first_position + i) +
                                               "].tool_call_id: '" +
                                               printable(run[i].tool_call_id) +
                                               "' is not found among the calls of the preceding "
                                               "assistant message, and the message has no name"};
    }
    results.push_back({&run[i], first_position + i, std::move(tool)});
  }
  return results;
}

}  // namespace daybreak::chat
