// SPDX-License-Identifier: Apache-2.0
#include "chat/response_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

struct ReasonNames {
  std::string_view reason;
  ErrorNames names;
};
constexpr std::array<ReasonNames, 5> kReasons = {{
    {"incorrect_api_key_error", {"incorrect_api_key_error", "invalid_api_key"}},
    {"rate_limit_reached_error", {"rate_limit_reached_error", "rate_limit_exceeded"}},
    {"exceeded_current_quota_error", {"exceeded_current_quota_error", "insufficient_quota"}},
    {kModelNotFound, {"resource_not_found_error", kModelNotFound}},
    {kContextLengthExceeded, {"invalid_request_error", kContextLengthExceeded}},
}};

// Appends `,"key":` or `"key":`, as the place wants.
void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') {
    out += ',';
  }
  out += '"';
  out += key;
  out += "\":";
}

void append_text_member(std::string& out, std::string_view key, std::string_view text) {
  append_key(out, key);
  append_json_text(out, text);
}

void append_number_member(std::string& out, std::string_view key, std::int64_t value) {
  append_key(out, key);
  out += std::to_string(value);
}

void append_count(std::string& out, std::string_view key, std::size_t value) {
  append_number_member(out, key, static_cast<std::int64_t>(value));
}

// JSON has no infinities: a token that was masked gets the lowest value clients expect.
void append_logprob(std::string& out, float value) {
  constexpr float kLowest = -9999.0F;
  append_key(out, "logprob");
  const float shown = std::isfinite(value) ? value : kLowest;
  std::array<char, 32> buffer{};
  out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), shown).ptr);
}

void append_token(std::string& out, std::string_view bytes, float logprob) {
  append_text_member(out, "token", bytes);
  append_logprob(out, logprob);
  append_key(out, "bytes");
  out += '[';
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out += (i > 0 ? "," : "") + std::to_string(static_cast<unsigned char>(bytes[i]));
  }
  out += ']';
}

// {"content":[...],"refusal":null}
void append_logprobs(std::string& out, std::span<const TokenLogprobs> tokens) {
  append_key(out, "logprobs");
  out += "{\"content\":";
  append_token_logprobs(out, tokens);
  out += ",\"refusal\":null}";
}

std::string open_reply(const ReplyHead& head, std::string_view object) {
  std::string out = "{";
  append_text_member(out, "id", head.id);
  append_text_member(out, "object", object);
  append_number_member(out, "created", head.created);
  append_text_member(out, "model", head.model);
  append_key(out, "choices");
  out += '[';
  return out;
}

void append_tool_call(std::string& out, const AssistantToolCall& call, std::string_view id) {
  out += '{';
  append_text_member(out, "id", id);
  append_text_member(out, "type", "function");
  append_key(out, "function");
  out += '{';
  append_text_member(out, "name", call.name);
  append_text_member(out, "arguments", call.arguments);
  out += "}}";
}

// Both names of the reasoning, since clients of different servers look for either.
void append_reasoning(std::string& out, std::string_view text) {
  append_text_member(out, "reasoning_content", text);
  append_text_member(out, "reasoning", text);
}

void append_message(std::string& out, const CompletionChoice& choice) {
  const AssistantMessage& message = choice.message;
  append_key(out, "message");
  out += '{';
  append_text_member(out, "role", "assistant");
  append_text_member(out, "content", message.content);
  if (!message.reasoning_content.empty()) {
    append_reasoning(out, message.reasoning_content);
  }
  if (!message.tool_calls.empty()) {
    append_key(out, "tool_calls");
    out += '[';
    for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
      out += i > 0 ? "," : "";
      append_tool_call(out, message.tool_calls[i], choice.tool_call_ids.at(i));
    }
    out += ']';
  }
  out += '}';
}

void append_choice(std::string& out, const CompletionChoice& choice) {
  out += '{';
  append_count(out, "index", choice.index);
  append_message(out, choice);
  if (choice.logprobs) {
    append_logprobs(out, *choice.logprobs);
  } else {
    append_key(out, "logprobs");
    out += "null";
  }
  append_text_member(out, "finish_reason", choice.finish_reason);
  out += '}';
}

// A chunk with one choice; `rest` is what follows the delta inside it.
std::string chunk(const ReplyHead& head, std::size_t choice, std::string_view delta,
                  std::string_view rest) {
  std::string out = open_reply(head, "chat.completion.chunk");
  out += '{';
  append_count(out, "index", choice);
  append_key(out, "delta");
  out += delta;
  out += rest;
  return out + "}]}";
}

// Without the brace that closes the delta, as append_internal_content() wants it.
void append_tool_delta(std::string& out, const OutputEvent& event, std::string_view id) {
  out += "\"tool_calls\":[{";
  append_count(out, "index", event.index);
  if (event.kind == OutputEvent::Kind::kToolCallBegin) {
    append_text_member(out, "id", id);
    append_text_member(out, "type", "function");
    append_key(out, "function");
    out += '{';
    append_text_member(out, "name", event.name);
    append_text_member(out, "arguments", "");
  } else {
    append_key(out, "function");
    out += '{';
    append_text_member(out, "arguments", event.text);
  }
  out += "}}]";
}

void append_internal_content(std::string& out, std::span<const TokenId> ids) {
  append_key(out, "internal_content");
  out += "{\"token_ids\":[";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += (i > 0 ? "," : "") + std::to_string(ids[i]);
  }
  out += "]}";
}

// The field path a message starts with, as in "messages[3].content: expected ...".
std::string_view param_of(const Error& error) {
  static constexpr std::array kOfRequests = {Errc::kInvalidArgument, Errc::kTooLarge,
                                             Errc::kUnsupported, Errc::kNotFound,
                                             Errc::kPermission};
  if (std::ranges::find(kOfRequests, error.code) == kOfRequests.end()) {
    return {};
  }
  const std::size_t colon = error.message.find(": ");
  const std::string_view head = std::string_view(error.message).substr(0, colon);
  const bool path =
      colon != std::string::npos && !head.empty() && std::ranges::all_of(head, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == '[' || c == ']';
      });
  return path ? head : std::string_view();
}

}  // namespace

std::string usage_json(const TokenUsage& usage) {
  std::string out = "{";
  append_count(out, "prompt_tokens", usage.prompt_tokens);
  append_count(out, "completion_tokens", usage.completion_tokens);
  append_count(out, "total_tokens", usage.prompt_tokens + usage.completion_tokens);
  append_count(out, "cached_tokens", usage.cached_tokens);
  append_key(out, "prompt_tokens_details");
  out += "{\"cached_tokens\":" + std::to_string(usage.cached_tokens) + "}";
  append_key(out, "completion_tokens_details");
  return out + "{\"reasoning_tokens\":" + std::to_string(usage.reasoning_tokens) + "}}";
}

std::string choices_json(std::span<const CompletionChoice> choices) {
  std::string out = "[";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    out += i > 0 ? "," : "";
    append_choice(out, choices[i]);
  }
  return out + "]";
}

std::string chat_completion_json(const ReplyHead& head, std::span<const CompletionChoice> choices,
                                 const TokenUsage& usage) {
  std::string out = open_reply(head, "chat.completion");
  for (std::size_t i = 0; i < choices.size(); ++i) {
    out += i > 0 ? "," : "";
    append_choice(out, choices[i]);
  }
  out += ']';
  append_key(out, "usage");
  return out + usage_json(usage) + "}";
}

std::string role_chunk_json(const ReplyHead& head, std::size_t choice) {
  return chunk(head, choice, "{\"role\":\"assistant\",\"content\":\"\"}",
               ",\"logprobs\":null,\"finish_reason\":null");
}

std::string event_chunk_json(const ReplyHead& head, std::size_t choice, const OutputEvent& event,
                             std::string_view tool_call_id,
                             const std::vector<TokenLogprobs>* logprobs,
                             std::span<const TokenId> token_ids) {
  std::string delta = "{";
  switch (event.kind) {
    case OutputEvent::Kind::kReasoning:
      append_reasoning(delta, event.text);
      break;
    case OutputEvent::Kind::kContent:
      append_text_member(delta, "content", event.text);
      break;
    case OutputEvent::Kind::kToolCallBegin:
    case OutputEvent::Kind::kToolArguments:
      append_tool_delta(delta, event, tool_call_id);
      break;
    case OutputEvent::Kind::kToolCallEnd:
      return {};
  }
  if (!token_ids.empty()) {
    append_internal_content(delta, token_ids);
  }
  delta += '}';
  std::string rest = ",\"logprobs\":null";
  if (logprobs != nullptr) {
    rest.clear();
    rest += ' ';  // so that append_key writes a comma
    append_logprobs(rest, *logprobs);
    rest.erase(0, 1);
  }
  return chunk(head, choice, delta, rest + ",\"finish_reason\":null");
}

std::string finish_chunk_json(const ReplyHead& head, std::size_t choice,
                              std::string_view finish_reason, const TokenUsage& usage) {
  std::string rest = ",\"logprobs\":null";
  append_text_member(rest, "finish_reason", finish_reason);
  append_key(rest, "usage");
  rest += usage_json(usage);
  return chunk(head, choice, "{}", rest);
}

std::string usage_chunk_json(const ReplyHead& head, const TokenUsage& usage) {
  std::string out = open_reply(head, "chat.completion.chunk") + "]";
  append_key(out, "usage");
  return out + usage_json(usage) + "}";
}

std::string error_json(const Error& error) {
  const ErrorNames names = error_names(error);
  std::string out = "{\"error\":{";
  append_text_member(out, "message", error.message);
  append_text_member(out, "type", names.type);
  append_key(out, "param");
  if (const std::string_view param = param_of(error); param.empty()) {
    out += "null";
  } else {
    append_json_text(out, param);
  }
  append_text_member(out, "code", names.code);
  return out + "}}";
}

ErrorNames error_names(const Error& error) {
  const auto* const known = std::ranges::find(kReasons, error.reason, &ReasonNames::reason);
  if (known != kReasons.end()) {
    return known->names;
  }
  const bool of_key = error.code == Errc::kUnauthenticated;
  const bool of_rate = error.code == Errc::kResourceLimit;
  return {.type = error_type(error.code),
          .code = of_key    ? "invalid_api_key"
                  : of_rate ? "rate_limit_exceeded"
                            : to_string(error.code)};
}

std::string_view error_type(Errc code) {
  switch (code) {
    case Errc::kInvalidArgument:
    case Errc::kTooLarge:
    case Errc::kUnsupported:
      return "invalid_request_error";
    case Errc::kUnauthenticated:
      return "invalid_authentication_error";
    case Errc::kPermission:
      return "permission_denied_error";
    case Errc::kNotFound:
      return "resource_not_found_error";
    case Errc::kResourceLimit:
      return "engine_overloaded_error";
    case Errc::kCancelled:
      return "request_cancelled";
    case Errc::kCorrupt:
    case Errc::kIo:
      return "server_error";
    case Errc::kUnavailable:
      return "server_unavailable";
    case Errc::kDeadline:
      return "timeout_error";
  }
  __builtin_unreachable();
}

void append_token_logprobs(std::string& out, std::span<const TokenLogprobs> tokens) {
  out += '[';
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    out += i > 0 ? ",{" : "{";
    append_token(out, tokens[i].bytes, tokens[i].logprob);
    append_key(out, "top_logprobs");
    out += '[';
    for (std::size_t j = 0; j < tokens[i].top.size(); ++j) {
      out += j > 0 ? ",{" : "{";
      append_token(out, tokens[i].top[j].bytes, tokens[i].top[j].logprob);
      out += '}';
    }
    out += "]}";
  }
  out += ']';
}

void append_json_text(std::string& out, std::string_view text) {
  if (is_valid_utf8(text)) {
    append_python_string(out, text);
  } else {
    append_python_string(out, repair_utf8(text));
  }
}

}  // namespace daybreak::chat
