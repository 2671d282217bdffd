// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_json.h"

#include <algorithm>

#include "base/json_tree.h"
#include "chat/anthropic_blocks.h"

namespace daybreak::chat {
namespace {

// Above what CallWriter lets an argument's value have, plus the object of all arguments.
constexpr std::size_t kMaxInputDepth = 128;

// Appends `,"key":"text"`.
void append_member(std::string& out, std::string_view key, std::string_view text) {
  out += ",\"";
  out += key;
  out += "\":";
  append_json_text(out, text);
}

// Appends `,"usage":{...}`. input_tokens is what was not read from the cache; writing to the cache
// has no price here, so nothing counts as written.
void append_usage(std::string& out, const TokenUsage& usage) {
  const std::size_t cached = std::min(usage.cached_tokens, usage.prompt_tokens);
  out +=
      ",\"usage\":{\"input_tokens\":" + std::to_string(usage.prompt_tokens - cached) +
      ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":" + std::to_string(cached) +
      ",\"output_tokens\":" + std::to_string(usage.completion_tokens) +
      ",\"output_tokens_details\":{\"thinking_tokens\":" + std::to_string(usage.reasoning_tokens) +
      "}}";
}

void append_stop(std::string& out, const AnthropicStop& stop) {
  const std::string_view reason = anthropic_stop_reason(stop);
  out += "\"stop_reason\":";
  append_json_text(out, reason);
  if (reason == "stop_sequence") {
    append_member(out, "stop_sequence", stop.stop_sequence);
  } else {
    out += ",\"stop_sequence\":null";
  }
}

void open_message(std::string& out, const AnthropicHead& head) {
  out += "{\"id\":";
  append_json_text(out, head.id);
  out += ",\"type\":\"message\",\"role\":\"assistant\"";
  append_member(out, "model", head.model);
  out += ",\"content\":[";
}

void append_input(std::string& out, std::string_view arguments) {
  const auto tree = parse_json_tree(arguments, {.max_depth = kMaxInputDepth});
  if (tree && tree->is(JsonNode::Kind::kObject)) {
    out += tree->raw;
    return;
  }
  out += "{\"";
  out += kInvalidJsonKey;
  out += "\":";
  append_json_text(out, arguments);
  out += '}';
}

void append_block(std::string& out, const ContentBlock& block) {
  switch (block.kind) {
    case BlockKind::kThinking:
      out += "{\"type\":\"thinking\"";
      append_member(out, "thinking", block.text);
      append_member(out, "signature", kThinkingSignature);
      break;
    case BlockKind::kText:
      out += "{\"type\":\"text\"";
      append_member(out, "text", block.text);
      break;
    case BlockKind::kToolUse:
      out += "{\"type\":\"tool_use\"";
      append_member(out, "id", block.id);
      append_member(out, "name", block.name);
      out += ",\"input\":";
      append_input(out, block.text);
      break;
  }
  out += '}';
}

// The block as content_block_start has it: empty.
std::string_view empty_block(BlockKind kind) {
  switch (kind) {
    case BlockKind::kThinking:
      return R"({"type":"thinking","thinking":"","signature":""})";
    case BlockKind::kText:
      return R"({"type":"text","text":""})";
    case BlockKind::kToolUse:
      return R"(,"input":{}})";
  }
  __builtin_unreachable();
}

std::string block_event(std::string_view type, std::size_t index) {
  return "{\"type\":\"" + std::string(type) + "\",\"index\":" + std::to_string(index);
}

void append_block_start(std::string& out, const BlockStep& step) {
  std::string json = block_event("content_block_start", step.index) + ",\"content_block\":";
  if (step.block.kind == BlockKind::kToolUse) {
    json += "{\"type\":\"tool_use\"";
    append_member(json, "id", step.block.id);
    append_member(json, "name", step.block.name);
  }
  json += empty_block(step.block.kind);
  append_anthropic_event(out, "content_block_start", json + "}");
}

void append_block_delta(std::string& out, std::size_t index, std::string_view type,
                        std::string_view key, std::string_view text) {
  std::string json = block_event("content_block_delta", index) + ",\"delta\":{\"type\":\"";
  json += type;
  json += '"';
  append_member(json, key, text);
  append_anthropic_event(out, "content_block_delta", json + "}}");
}

}  // namespace

std::string_view anthropic_stop_reason(const AnthropicStop& stop) {
  if (stop.finish_reason == "length") {
    return "max_tokens";
  }
  if (stop.finish_reason == "tool_calls") {
    return "tool_use";
  }
  return stop.stop_sequence.empty() ? "end_turn" : "stop_sequence";
}

std::string anthropic_message_json(const AnthropicHead& head, std::span<const ContentBlock> blocks,
                                   const AnthropicStop& stop, const TokenUsage& usage) {
  std::string out;
  open_message(out, head);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    out += i > 0 ? "," : "";
    append_block(out, blocks[i]);
  }
  out += "],";
  append_stop(out, stop);
  append_usage(out, usage);
  return out + "}";
}

void append_anthropic_event(std::string& out, std::string_view type, std::string_view json) {
  out += "event: ";
  out += type;
  out += "\ndata: ";
  out += json;
  out += "\n\n";
}

void append_message_start(std::string& out, const AnthropicHead& head, const TokenUsage& usage) {
  std::string json = R"({"type":"message_start","message":)";
  open_message(json, head);
  json += R"(],"stop_reason":null,"stop_sequence":null)";
  append_usage(json, usage);
  append_anthropic_event(out, "message_start", json + "}}");
}

void append_block_event(std::string& out, const BlockStep& step) {
  const BlockKind kind = step.block.kind;
  switch (step.what) {
    case BlockStep::What::kStart:
      return append_block_start(out, step);
    case BlockStep::What::kDelta:
      switch (kind) {
        case BlockKind::kThinking:
          return append_block_delta(out, step.index, "thinking_delta", "thinking", step.block.text);
        case BlockKind::kText:
          return append_block_delta(out, step.index, "text_delta", "text", step.block.text);
        case BlockKind::kToolUse:
          return append_block_delta(out, step.index, "input_json_delta", "partial_json",
                                    step.block.text);
      }
      __builtin_unreachable();
    case BlockStep::What::kStop:
      if (kind == BlockKind::kThinking) {
        append_block_delta(out, step.index, "signature_delta", "signature", kThinkingSignature);
      }
      return append_anthropic_event(out, "content_block_stop",
                                    block_event("content_block_stop", step.index) + "}");
  }
  __builtin_unreachable();
}

void append_ping(std::string& out) { append_anthropic_event(out, "ping", R"({"type":"ping"})"); }

void append_message_end(std::string& out, const AnthropicStop& stop, const TokenUsage& usage) {
  std::string json = R"({"type":"message_delta","delta":{)";
  append_stop(json, stop);
  json += '}';
  append_usage(json, usage);
  append_anthropic_event(out, "message_delta", json + "}");
  append_anthropic_event(out, "message_stop", R"({"type":"message_stop"})");
}

std::string anthropic_count_json(std::size_t tokens) {
  return "{\"input_tokens\":" + std::to_string(tokens) + "}";
}

std::string anthropic_error_json(const Error& error, std::string_view request_id) {
  std::string out = R"({"type":"error","error":{"type":")";
  out += anthropic_error_type(error.code);
  out += '"';
  append_member(out, "message", error.message);
  // By this, not by the text, Anthropic's tool runners see that they can ask again without it.
  if (error.message.starts_with("thread: ")) {
    out += R"(,"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]})";
  }
  out += '}';
  append_member(out, "request_id", request_id);
  return out + "}";
}

std::string_view anthropic_error_type(Errc code) {
  switch (code) {
    case Errc::kInvalidArgument:
    case Errc::kUnsupported:
    case Errc::kCancelled:
      return "invalid_request_error";
    case Errc::kTooLarge:
      return "request_too_large";
    case Errc::kUnauthenticated:
      return "authentication_error";
    case Errc::kPermission:
      return "permission_error";
    case Errc::kNotFound:
      return "not_found_error";
    case Errc::kResourceLimit:
      return "rate_limit_error";
    case Errc::kCorrupt:
    case Errc::kIo:
      return "api_error";
    case Errc::kUnavailable:
      return "overloaded_error";
    case Errc::kDeadline:
      return "timeout_error";
  }
  __builtin_unreachable();
}

}  // namespace daybreak::chat
