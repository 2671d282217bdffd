// SPDX-License-Identifier: Apache-2.0
#include "chat/parse_line.h"

#include <algorithm>
#include <vector>

#include "base/json_tree.h"
#include "chat/message_builder.h"
#include "chat/output_parser.h"
#include "chat/python_json.h"
#include "chat/request_fields.h"

namespace daybreak::chat {
namespace {

struct ParseLine {
  std::vector<TokenId> ids;
  std::vector<std::size_t> chunks;
  bool thinking = true;
  bool tools = true;
};

Result<ParseLine> read_line(const Field& root, std::size_t vocab_size) {
  DAYBREAK_CHECK_OK(root.object_of({"ids", "chunks", "thinking", "tools"}));
  ParseLine line;
  const auto ids = root.find("ids");
  if (!ids) {
    return Error{Errc::kInvalidArgument, "ids: expected an array of token ids, found nothing"};
  }
  DAYBREAK_TRY(const auto items, ids->array(kMaxParseLineIds));
  for (const Field& item : items) {
    DAYBREAK_TRY(const std::uint64_t id, item.integer(0, vocab_size - 1));
    line.ids.push_back(static_cast<TokenId>(id));
  }
  if (const auto chunks = root.find("chunks")) {
    DAYBREAK_TRY(const auto sizes, chunks->array(kMaxParseLineIds));
    for (const Field& size : sizes) {
      DAYBREAK_TRY(const std::uint64_t n, size.integer(0, kMaxParseLineIds));
      line.chunks.push_back(n);
    }
  }
  if (const auto field = root.find("thinking")) {
    DAYBREAK_TRY(line.thinking, field->boolean());
  }
  if (const auto field = root.find("tools")) {
    DAYBREAK_TRY(line.tools, field->boolean());
  }
  return line;
}

void append_event(std::string& out, const OutputEvent& event) {
  switch (event.kind) {
    case OutputEvent::Kind::kReasoning:
      out += "{\"type\":\"reasoning\",\"text\":";
      append_python_string(out, event.text);
      break;
    case OutputEvent::Kind::kContent:
      out += "{\"type\":\"content\",\"text\":";
      append_python_string(out, event.text);
      break;
    case OutputEvent::Kind::kToolCallBegin:
      out += "{\"type\":\"tool_call\",\"index\":" + std::to_string(event.index) + ",\"name\":";
      append_python_string(out, event.name);
      break;
    case OutputEvent::Kind::kToolArguments:
      out += "{\"type\":\"arguments\",\"index\":" + std::to_string(event.index) + ",\"text\":";
      append_python_string(out, event.text);
      break;
    case OutputEvent::Kind::kToolCallEnd:
      out += "{\"type\":\"tool_call_end\",\"index\":" + std::to_string(event.index);
      break;
  }
  out += '}';
}

std::string message_json(const AssistantMessage& message) {
  std::string out = "{\"reasoning_content\":";
  append_python_string(out, message.reasoning_content);
  out += ",\"content\":";
  append_python_string(out, message.content);
  out += ",\"tool_calls\":[";
  for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
    out += i > 0 ? "," : "";
    out += "{\"type\":\"function\",\"function\":{\"name\":";
    append_python_string(out, message.tool_calls[i].name);
    out += ",\"arguments\":";
    append_python_string(out, message.tool_calls[i].arguments);
    out += "}}";
  }
  return out + "]}";
}

}  // namespace

Result<std::string> parse_line(std::string_view text, const tokenizer::Tokenizer& tokenizer,
                               const MarkerIds& markers) {
  JsonTreeLimits limits;
  limits.max_values = 2 * kMaxParseLineIds + 8;
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(text, limits));
  DAYBREAK_TRY(const ParseLine line, read_line(Field(tree, ""), tokenizer.vocab_size()));
  OutputParserOptions options;
  options.initial = line.thinking ? Channel::kThink : Channel::kResponse;
  options.tools_allowed = line.tools;
  OutputParser parser(tokenizer, markers, options);
  std::vector<OutputEvent> events;
  std::span<const TokenId> rest(line.ids);
  for (const std::size_t size : line.chunks) {
    const std::size_t n = std::min(size, rest.size());
    parser.push(rest.first(n), events);
    rest = rest.subspan(n);
  }
  parser.push(rest, events);
  const StopCause cause = parser.done() ? StopCause::kStopToken : StopCause::kLength;
  parser.finish(cause, events);
  MessageBuilder builder;
  std::string list;
  for (const OutputEvent& event : events) {
    builder.add(event);
    list += list.empty() ? "" : ",";
    append_event(list, event);
  }
  return "{\"message\":" + message_json(builder.message()) + ",\"events\":[" + list +
         "],\"finish_reason\":\"" + std::string(finish_reason(cause, parser.completed_calls())) +
         "\"}";
}

}  // namespace daybreak::chat
