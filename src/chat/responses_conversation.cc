// SPDX-License-Identifier: Apache-2.0
#include "chat/responses_conversation.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "chat/known_members.h"
#include "chat/response_json.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();  // the body is bounded

std::string_view text_of(const std::optional<Field>& field) {
  return field ? std::string_view(field->node().text) : std::string_view();
}

Error missing(const Field& owner, std::string_view key, std::string_view what) {
  return {Errc::kInvalidArgument,
          owner.path_of(key) + ": expected " + std::string(what) + ", found nothing"};
}

Result<std::string> required_string(const Field& owner, std::string_view key, std::string_view what,
                                    std::size_t max_bytes) {
  const auto field = owner.find(key);
  if (!field) {
    return missing(owner, key, what);
  }
  DAYBREAK_TRY(std::string text, field->string(max_bytes));
  return text;
}

Result<ContentPart> read_image(const Field& part) {
  if (part.find("file_id")) {
    return part.find("file_id")->wrong("files are not supported: send image_url");
  }
  ContentPart image;
  image.kind = ContentPart::Kind::kImage;
  DAYBREAK_TRY(image.url, required_string(part, "image_url", "a URL", kAnySize));
  if (image.url.empty()) {
    return missing(part, "image_url", "a URL");
  }
  return image;
}

// Reads one content part; `images`: whether the place takes them.
Result<ContentPart> read_part(const Field& part, bool images) {
  static constexpr std::array<std::string_view, 3> kTexts = {"input_text", "output_text", "text"};
  DAYBREAK_CHECK_OK(part.object());
  const auto type = part.find("type");
  const std::string_view kind = text_of(type);
  ContentPart result;
  if (std::ranges::find(kTexts, kind) != kTexts.end()) {
    DAYBREAK_TRY(result.text, required_string(part, "text", "a string", kAnySize));
    return result;
  }
  if (kind == "refusal") {
    DAYBREAK_TRY(result.text, required_string(part, "refusal", "a string", kAnySize));
    return result;
  }
  if (kind == "input_image" && images) {
    return read_image(part);
  }
  const std::string_view wanted =
      images ? "\"input_text\" or \"input_image\"" : "\"output_text\" or \"refusal\"";
  return type ? type->expected(wanted) : missing(part, "type", wanted);
}

Result<std::vector<ContentPart>> read_content(const Field& field, const ChatLimits& limits,
                                              bool images) {
  std::vector<ContentPart> parts;
  if (field.is(JsonNode::Kind::kString)) {
    if (!field.node().text.empty()) {
      parts.push_back({.text = field.node().text, .url = {}, .size = {}});
    }
    return parts;
  }
  if (!field.is(JsonNode::Kind::kArray)) {
    return field.expected("a string or an array of parts");
  }
  DAYBREAK_TRY(const auto items, field.array(limits.max_parts));
  for (const Field& item : items) {
    DAYBREAK_TRY(ContentPart part, read_part(item, images));
    if (part.kind == ContentPart::Kind::kImage || !part.text.empty()) {
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

// Returns the texts of a list such as a reasoning item's content, put together.
Result<std::string> read_texts(const Field& item, std::string_view key, std::string_view type,
                               const ChatLimits& limits) {
  std::string out;
  const auto list = item.find(key);
  if (!list) {
    return out;
  }
  DAYBREAK_TRY(const auto parts, list->array(limits.max_parts));
  for (const Field& part : parts) {
    DAYBREAK_CHECK_OK(part.object());
    if (text_of(part.find("type")) != type) {
      return part.find("type") ? part.find("type")->expected("\"" + std::string(type) + "\"")
                               : missing(part, "type", "\"" + std::string(type) + "\"");
    }
    DAYBREAK_TRY(const std::string text, required_string(part, "text", "a string", kAnySize));
    out += text;
  }
  return out;
}

Result<Role> read_role(const Field& item) {
  static constexpr std::array<std::pair<std::string_view, Role>, 4> kRoles = {
      {{"user", Role::kUser},
       {"assistant", Role::kAssistant},
       {"system", Role::kSystem},
       {"developer", Role::kSystem}}};
  static constexpr std::string_view kExpected =
      "\"user\", \"assistant\", \"system\" or \"developer\"";
  const auto field = item.find("role");
  for (const auto& [name, role] : kRoles) {
    if (text_of(field) == name) {
      return role;
    }
  }
  return field ? field->expected(kExpected) : missing(item, "role", kExpected);
}

}  // namespace

Result<std::string> responses_item_type(const Field& item) {
  DAYBREAK_CHECK_OK(item.object());
  if (const auto type = item.find("type")) {
    DAYBREAK_TRY(std::string text, type->string(kAnySize));
    return text;
  }
  if (item.find("role")) {
    return std::string("message");
  }
  return item.find("id") ? Result<std::string>("item_reference")
                         : missing(item, "type", "the type of an item");
}

void ResponsesConversation::add_system(std::string text, std::string source) {
  Message message;
  message.role = Role::kSystem;
  message.content.push_back({.text = std::move(text), .url = {}, .size = {}});
  push(std::move(message), std::move(source));
}

void ResponsesConversation::add_user(std::string text, std::string source) {
  Message message;
  if (!text.empty()) {
    message.content.push_back({.text = std::move(text), .url = {}, .size = {}});
  }
  push(std::move(message), std::move(source));
}

Status ResponsesConversation::add(const Field& item) {
  DAYBREAK_TRY(const std::string type, responses_item_type(item));
  if (const auto partial = item.find("partial"); partial && partial->node().boolean) {
    return partial->wrong("not supported on this route: use /v1/chat/completions");
  }
  if (type == "message") {
    return add_message(item);
  }
  if (type == "reasoning") {
    return add_reasoning(item);
  }
  if (type == "function_call") {
    return add_call(item);
  }
  if (type == "function_call_output") {
    return add_output(item);
  }
  return item.find("type")->expected(
      "\"message\", \"reasoning\", \"function_call\", \"function_call_output\" or "
      "\"item_reference\" (hosted and custom tools are not supported)");
}

void ResponsesConversation::push(Message message, std::string source) {
  close_assistant();
  messages_.push_back(std::move(message));
  sources_.push_back(std::move(source));
}

Message& ResponsesConversation::assistant(const Field& item) {
  if (!std::exchange(is_open_, true)) {
    open_ = Message{};
    open_.role = Role::kAssistant;
    open_source_ = item.path();
  }
  return open_;
}

void ResponsesConversation::close_assistant() {
  if (std::exchange(is_open_, false)) {
    messages_.push_back(std::move(open_));
    sources_.push_back(std::move(open_source_));
  }
}

Status ResponsesConversation::add_message(const Field& item) {
  DAYBREAK_TRY(const Role role, read_role(item));
  std::vector<ContentPart> content;
  if (const auto field = item.find("content")) {
    DAYBREAK_TRY(content, read_content(*field, limits_, role != Role::kAssistant));
  } else {
    return missing(item, "content", "a string or an array of parts");
  }
  if (role != Role::kAssistant) {
    Message message;
    message.role = role;
    message.content = std::move(content);
    push(std::move(message), item.path());
    return ok();
  }
  if (is_open_ && !open_.content.empty()) {
    close_assistant();
  }
  assistant(item).content = std::move(content);
  return ok();
}

Status ResponsesConversation::add_reasoning(const Field& item) {
  DAYBREAK_TRY(std::string text, read_texts(item, "content", "reasoning_text", limits_));
  const auto sealed = item.find("encrypted_content");
  if (text.empty() && sealed) {
    DAYBREAK_TRY(const std::string all, sealed->string(kAnySize));
    if (all.starts_with(kReasoningSeal)) {
      text = all.substr(kReasoningSeal.size());
    } else if (!all.empty()) {
      add_ignored(ignored_, any_item(sealed->path()));
    }
  }
  if (text.empty()) {
    DAYBREAK_TRY(text, read_texts(item, "summary", "summary_text", limits_));
  }
  if (is_open_ && (!open_.content.empty() || !open_.tool_calls.empty())) {
    close_assistant();
  }
  if (!text.empty()) {
    assistant(item).reasoning += text;
  }
  return ok();
}

Status ResponsesConversation::add_call(const Field& item) {
  ToolCall call;
  DAYBREAK_TRY(call.id, required_string(item, "call_id", "the id of a call", limits_.max_id_bytes));
  DAYBREAK_TRY(call.name,
               required_string(item, "name", "the name of a function", limits_.max_name_bytes));
  DAYBREAK_TRY(call.arguments, required_string(item, "arguments", "a string of JSON", kAnySize));
  if (call.id.empty() || call.name.empty()) {
    return missing(item, call.id.empty() ? "call_id" : "name", "a string that is not empty");
  }
  Message& message = assistant(item);
  if (message.tool_calls.size() == limits_.max_tool_calls) {
    return item.wrong("expected at most " + std::to_string(limits_.max_tool_calls) +
                      " calls in one message");
  }
  message.tool_calls.push_back(std::move(call));
  return ok();
}

Status ResponsesConversation::add_output(const Field& item) {
  Message message;
  message.role = Role::kTool;
  DAYBREAK_TRY(
      message.tool_call_id,
      required_string(item, "call_id", "the id of the call this answers", limits_.max_id_bytes));
  if (message.tool_call_id.empty()) {
    return missing(item, "call_id", "the id of the call this answers");
  }
  const auto output = item.find("output");
  if (!output) {
    return missing(item, "output", "a string or an array of parts");
  }
  DAYBREAK_TRY(message.content, read_content(*output, limits_, true));
  push(std::move(message), item.path());
  return ok();
}

ResponsesItem kept_item(const Field& item) {
  ResponsesItem kept;
  kept.id = std::string(text_of(item.find("id")));
  kept.body = "{";
  const auto member = [&kept](std::string_view key) {
    kept.body += kept.body.size() > 1 ? "," : "";
    append_json_text(kept.body, key);
    kept.body += ':';
  };
  const bool message = !item.find("type") || text_of(item.find("type")) == "message";
  if (message) {
    member("type");
    kept.body += "\"message\"";
  }
  const JsonNode& node = item.node();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i];
    if (key == "id" || (message && key == "type")) {
      continue;
    }
    member(key);
    if (message && key == "content" && node.items[i].is(JsonNode::Kind::kString)) {
      kept.body += text_of(item.find("role")) == "assistant"
                       ? R"([{"type":"output_text","annotations":[],"text":)"
                       : R"([{"type":"input_text","text":)";
      append_json_text(kept.body, node.items[i].text);
      kept.body += "}]";
    } else {
      append_minified(kept.body, node.items[i].raw);
    }
  }
  kept.body += '}';
  return kept;
}

}  // namespace daybreak::chat
