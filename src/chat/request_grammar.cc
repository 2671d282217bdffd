// SPDX-License-Identifier: Apache-2.0
#include "chat/request_grammar.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace daybreak::chat {
namespace {

using grammar::MessageRules;

// What compile() calls the schema of the content.
constexpr std::string_view kBodySchema = "response_format.json_schema.schema";
constexpr std::string_view kTools = "tools[";

MessageRules::Start start_of(Channel initial) {
  switch (initial) {
    case Channel::kNone:
      return MessageRules::Start::kNone;
    case Channel::kThink:
      return MessageRules::Start::kThink;
    case Channel::kResponse:
      return MessageRules::Start::kResponse;
  }
  __builtin_unreachable();
}

MessageRules::Body body_of(OutputForm::Kind kind) {
  switch (kind) {
    case OutputForm::Kind::kText:
      return MessageRules::Body::kText;
    case OutputForm::Kind::kJsonObject:
      return MessageRules::Body::kJsonObject;
    case OutputForm::Kind::kSchema:
      return MessageRules::Body::kSchema;
    case OutputForm::Kind::kRegex:
      return MessageRules::Body::kRegex;
    case OutputForm::Kind::kChoice:
      return MessageRules::Body::kChoice;
    case OutputForm::Kind::kGrammar:
      return MessageRules::Body::kGrammar;
  }
  __builtin_unreachable();
}

MessageRules::Tools use_of(const ChatRequest& request) {
  if (!request.tools_allowed()) {
    return MessageRules::Tools::kNone;
  }
  return request.tool_choice.kind == ToolChoiceKind::kAuto ? MessageRules::Tools::kOptional
                                                           : MessageRules::Tools::kRequired;
}

void add_tools(const std::vector<Tool>& tools, const std::string& path, const ToolChoice& choice,
               RequestGrammar& out) {
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const Tool& tool = tools[i];
    if (choice.kind == ToolChoiceKind::kNamed && tool.name != choice.name) {
      continue;
    }
    out.rules.tools.push_back(
        {.name = tool.name, .parameters = tool.parameters, .strict = tool.strict.value_or(true)});
    out.tool_fields.push_back(path + "[" + std::to_string(i) + "].function");
  }
}

// What the prompt already holds of the content.
std::string begun_content(const ChatRequest& request, Channel initial) {
  std::string text;
  if (initial == Channel::kResponse && request.messages.back().partial) {
    for (const ContentPart& part : request.messages.back().content) {
      text += part.text;
    }
  }
  return text;
}

// Splits "tools[N]REST"; returns the tool's number and REST.
std::optional<std::pair<std::size_t, std::string_view>> tool_in(std::string_view message) {
  if (!message.starts_with(kTools)) {
    return std::nullopt;
  }
  message.remove_prefix(kTools.size());
  std::size_t number = 0;
  const auto [at, fault] = std::from_chars(message.data(), message.data() + message.size(), number);
  message.remove_prefix(static_cast<std::size_t>(at - message.data()));
  if (fault != std::errc{} || !message.starts_with(']')) {
    return std::nullopt;
  }
  return std::pair(number, message.substr(1));
}

// "FIELD.parameters: tool 'NAME': WHY" from the rest after the tool's number.
std::string tool_message(const std::string& field, const std::string& name, std::string_view rest) {
  constexpr std::string_view kFunction = ".function";
  if (rest.starts_with(kFunction)) {
    rest.remove_prefix(kFunction.size());
  }
  const std::size_t colon = std::min(rest.find(": "), rest.size());
  return field + std::string(rest.substr(0, colon)) + ": tool '" + name + "'" +
         std::string(rest.substr(colon));
}

}  // namespace

RequestGrammar request_grammar(const ChatRequest& request, Channel initial) {
  RequestGrammar out;
  MessageRules& rules = out.rules;
  rules.start = start_of(initial);
  rules.body = body_of(request.output.kind);
  rules.body_source = request.output.source;
  rules.choices = request.output.choices;
  out.body_field = request.output.field;
  rules.use = use_of(request);
  rules.parallel = request.parallel_tool_calls;
  if (rules.use != MessageRules::Tools::kNone) {
    add_tools(request.tools, "tools", request.tool_choice, out);
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
      add_tools(request.messages[i].tools, "messages[" + std::to_string(i) + "].tools",
                request.tool_choice, out);
    }
  }
  if (rules.body != MessageRules::Body::kText) {  // free text may have begun in any way
    rules.partial = begun_content(request, initial);
  }
  return out;
}

grammar::MessageMarkers message_markers(const MarkerIds& ids) {
  return {.open = ids.open, .close = ids.close, .sep = ids.sep, .end_of_msg = ids.end_of_msg};
}

Error compile_error(const Error& error, const RequestGrammar& grammar) {
  const bool of_request = error.code == Errc::kUnsupported || error.code == Errc::kTooLarge;
  Error out{of_request ? Errc::kInvalidArgument : error.code, error.message};
  if (out.code != Errc::kInvalidArgument) {
    return out;  // not about what the client wrote
  }
  const std::string_view message = error.message;
  if (const auto tool = tool_in(message); tool && tool->first < grammar.tool_fields.size()) {
    out.message = tool_message(grammar.tool_fields[tool->first],
                               grammar.rules.tools[tool->first].name, tool->second);
  } else if (grammar.body_field.empty()) {
    return out;
  } else if (message.starts_with(kBodySchema)) {
    out.message = grammar.body_field + std::string(message.substr(kBodySchema.size()));
  } else if (!message.starts_with(grammar.body_field)) {
    out.message = grammar.body_field + ": " + error.message;
  }
  return out;
}

}  // namespace daybreak::chat
