// SPDX-License-Identifier: Apache-2.0
#include "chat/render_tools.h"

#include <algorithm>
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

void CallHistory::add(std::span<const ToolCall> calls) {
  last_begin_ = calls_.size();
  shown_ = 0;
  for (const ToolCall& call : calls) {
    if (!call.id.empty()) {
      by_id_[call.id].push_back(calls_.size());
    }
    calls_.push_back({.call = &call, .message_begin = last_begin_, .answered = false});
  }
}

// Returns the call that a result of this id answers, which is then answered. More results than
// calls of an id in a message all answer the first.
std::optional<std::size_t> CallHistory::answer(std::string_view id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    return std::nullopt;
  }
  const std::vector<std::size_t>& places = found->second;
  const auto nearest = std::ranges::lower_bound(places, calls_[places.back()].message_begin);
  const auto open = std::find_if(nearest, places.end(),
                                 [&](std::size_t place) { return !calls_[place].answered; });
  const std::size_t place = open == places.end() ? *nearest : *open;
  calls_[place].answered = true;
  return place;
}

// `place`: how many results of the same assistant message stand before. "" if no rule gives a name.
std::string CallHistory::own_or_placed_name(const Message& message, std::size_t place) {
  if (!message.tool.empty()) {
    return message.tool;
  }
  if (!message.name.empty()) {
    return message.name;
  }
  const std::size_t at = last_begin_ + place;
  if (at >= calls_.size() || std::exchange(calls_[at].answered, true)) {
    return {};
  }
  return calls_[at].call->name;
}

Result<std::vector<ToolResult>> CallHistory::name_results(std::span<const Message> run,
                                                          std::size_t first_position) {
  // By id first: a call that another result of the run names is nobody's by its place.
  std::vector<std::optional<std::size_t>> answered;
  std::vector<std::size_t> order;
  for (const Message& message : run) {
    order.push_back(answered.size());
    answered.push_back(answer(message.tool_call_id));
  }
  const bool sorted = std::ranges::all_of(
      answered, [this](const auto& place) { return place && *place >= last_begin_; });
  if (sorted) {
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(*answered[i], i); });
  }
  std::vector<ToolResult> results;
  for (const std::size_t i : order) {
    const Message& message = run[i];
    const std::string& own = message.tool.empty() ? message.name : message.tool;
    std::string tool = answered[i] && (sorted || own.empty()) ? calls_[*answered[i]].call->name
                                                              : own_or_placed_name(message, shown_);
    if (tool.empty()) {
      return Error{Errc::kInvalidArgument,
                   "messages[" + std::to_string(first_position + i) + "].tool_call_id: '" +
                       printable(message.tool_call_id) +
                       "' is not found among the calls before it, the message has no name, and no "
                       "call without a result stands at its place"};
    }
    results.push_back({&message, first_position + i, std::move(tool), ++shown_});
  }
  return results;
}

}  // namespace daybreak::chat
