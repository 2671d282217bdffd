// SPDX-License-Identifier: Apache-2.0
#include "chat/request_messages.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "chat/field_table.h"
#include "chat/request_tools.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();  // the body is bounded

struct RoleName {
  std::string_view name;
  Role role;
};
constexpr std::array<RoleName, 5> kRoles = {{{"system", Role::kSystem},
                                             {"developer", Role::kSystem},
                                             {"user", Role::kUser},
                                             {"assistant", Role::kAssistant},
                                             {"tool", Role::kTool}}};

// Returns the optional string member `key`, "" when absent.
Result<std::string> optional_string(const Field& owner, std::string_view key,
                                    std::size_t max_bytes) {
  const auto field = owner.find(key);
  return field ? field->string(max_bytes) : Result<std::string>(std::string());
}

Result<ContentPart> read_image(const Field& part, const ChatLimits& limits) {
  ContentPart image;
  image.kind = ContentPart::Kind::kImage;
  const auto source = part.find("image_url") ? part.find("image_url") : part.find("image");
  if (source && source->is(JsonNode::Kind::kString)) {
    image.url = source->node().text;
  } else if (source) {
    DAYBREAK_CHECK_OK(source->object());
    DAYBREAK_TRY(image.url, optional_string(*source, "url", kAnySize));
  }
  if (limits.measured_images) {
    const auto width = part.find("width");
    const auto height = part.find("height");
    if (width && height) {
      DAYBREAK_TRY(const std::uint64_t w, width->integer(1, limits.max_image_side));
      DAYBREAK_TRY(const std::uint64_t h, height->integer(1, limits.max_image_side));
      image.size = ImageSize{static_cast<std::uint32_t>(w), static_cast<std::uint32_t>(h)};
    }
  }
  if (image.url.empty() && !image.size) {
    return part.wrong("expected image_url in an image part, found none");
  }
  return image;
}

Result<ContentPart> read_part(const Field& part, Role role, const ChatLimits& limits) {
  DAYBREAK_CHECK_OK(part.object());
  const auto type = part.find("type");
  const std::string_view kind = type ? std::string_view(type->node().text) : std::string_view();
  if (kind == "text" || kind == "refusal") {
    const auto text = part.find(kind);
    if (!text) {
      return Error{Errc::kInvalidArgument,
                   part.path_of(kind) + ": expected a string, found nothing"};
    }
    ContentPart result;
    DAYBREAK_TRY(result.text, text->string(kAnySize));
    return result;
  }
  if ((kind == "image_url" || kind == "image") && role != Role::kAssistant) {
    return read_image(part, limits);
  }
  const std::string_view wanted =
      role == Role::kAssistant ? "\"text\"" : "\"text\" or \"image_url\"";
  return type ? type->expected(wanted)
              : part.wrong("expected a part with a type, \"text\" or \"image_url\", found none");
}

Result<std::vector<ContentPart>> read_content(const Field& message, Role role,
                                              const ChatLimits& limits) {
  std::vector<ContentPart> parts;
  const auto content = message.find("content");
  if (!content) {
    return parts;
  }
  if (content->is(JsonNode::Kind::kString)) {
    if (!content->node().text.empty()) {
      parts.push_back({.text = content->node().text, .url = {}, .size = {}});
    }
    return parts;
  }
  if (!content->is(JsonNode::Kind::kArray)) {
    return content->expected("a string or an array of parts");
  }
  DAYBREAK_TRY(const auto items, content->array(limits.max_parts));
  for (const Field& item : items) {
    DAYBREAK_TRY(ContentPart part, read_part(item, role, limits));
    if (part.kind == ContentPart::Kind::kImage || !part.text.empty()) {
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

Result<ToolCall> read_tool_call(const Field& item, const ChatLimits& limits) {
  DAYBREAK_CHECK_OK(item.object());
  ToolCall call;
  DAYBREAK_TRY(call.id, optional_string(item, "id", limits.max_id_bytes));
  const auto function = item.find("function");
  if (!function) {
    return item.wrong("expected function in a tool call, found none");
  }
  DAYBREAK_CHECK_OK(function->object());
  DAYBREAK_TRY(call.name, optional_string(*function, "name", limits.max_name_bytes));
  if (call.name.empty()) {
    return Error{Errc::kInvalidArgument,
                 function->path_of("name") + ": expected a name, found nothing"};
  }
  if (const auto arguments = function->find("arguments")) {
    if (arguments->is(JsonNode::Kind::kString)) {
      call.arguments = arguments->node().text;
    } else if (arguments->is(JsonNode::Kind::kObject)) {
      call.arguments = arguments->node().raw;
    } else {
      return arguments->expected("a string of JSON, or an object");
    }
  }
  return call;
}

// What other servers' histories have, and the prompt would silently lack.
Status refuse_foreign_fields(const Field& message) {
  for (const std::string_view key : {"function_call", "audio", "prefix"}) {
    if (const auto field = message.find(key)) {
      DAYBREAK_CHECK_OK(chat_fields().judge(*field, "messages[]." + std::string(key)));
    }
  }
  return ok();
}

Status read_assistant(const Field& field, const ChatLimits& limits, bool last, Message& message) {
  DAYBREAK_TRY(message.reasoning, optional_string(field, "reasoning_content", kAnySize));
  if (message.reasoning.empty()) {
    DAYBREAK_TRY(message.reasoning, optional_string(field, "reasoning", kAnySize));
  }
  if (const auto calls = field.find("tool_calls")) {
    DAYBREAK_TRY(const auto items, calls->array(limits.max_tool_calls));
    for (const Field& item : items) {
      DAYBREAK_TRY(ToolCall call, read_tool_call(item, limits));
      message.tool_calls.push_back(std::move(call));
    }
  }
  if (const auto partial = field.find("partial")) {
    DAYBREAK_TRY(message.partial, partial->boolean());
    if (message.partial && !last) {
      return partial->wrong("expected true in the last message only, found it before");
    }
    if (message.partial && !message.tool_calls.empty()) {
      return partial->wrong("expected a message without tool_calls to continue, found some");
    }
  }
  return ok();
}

// What only the model says, in a message of another role: the prompt has no place for it. Clients
// that send every field in every message leave it empty.
Status refuse_assistant_fields(const Field& field, const ChatLimits& limits,
                               std::string_view role) {
  const auto misplaced = [&role](const Field& at, std::string_view what) {
    return at.wrong("expected " + std::string(what) + " in an assistant message only, found " +
                    "it in one of role \"" + std::string(role) + "\"");
  };
  for (const std::string_view key : {"reasoning_content", "reasoning"}) {
    DAYBREAK_TRY(const std::string text, optional_string(field, key, kAnySize));
    if (!text.empty()) {
      return misplaced(*field.find(key), "text");
    }
  }
  if (const auto calls = field.find("tool_calls")) {
    DAYBREAK_TRY(const auto items, calls->array(limits.max_tool_calls));
    if (!items.empty()) {
      return misplaced(*calls, "a call");
    }
  }
  if (const auto partial = field.find("partial")) {
    DAYBREAK_TRY(const bool wanted, partial->boolean());
    if (wanted) {
      return misplaced(*partial, "true");
    }
  }
  return ok();
}

Status read_tool_message(const Field& field, const ChatLimits& limits, Message& message) {
  for (const std::string_view key : {"tool_call_id", "id"}) {
    if (message.tool_call_id.empty()) {
      DAYBREAK_TRY(message.tool_call_id, optional_string(field, key, limits.max_id_bytes));
    }
  }
  if (message.tool_call_id.empty()) {
    return Error{Errc::kInvalidArgument, field.path_of("tool_call_id") +
                                             ": expected the id of the call this answers, found "
                                             "nothing"};
  }
  DAYBREAK_TRY(message.tool, optional_string(field, "tool", limits.max_name_bytes));
  return ok();
}

Result<Message> read_message(const Field& field, bool last, const ChatLimits& limits,
                             std::set<std::string, std::less<>>& names) {
  DAYBREAK_CHECK_OK(field.object());
  const auto role = field.find("role");
  const std::string_view role_name = role ? std::string_view(role->node().text) : "";
  const auto* const known = std::ranges::find(kRoles, role_name, &RoleName::name);
  if (known == kRoles.end()) {
    static constexpr std::string_view kExpected =
        "\"system\", \"developer\", \"user\", \"assistant\" or \"tool\"";
    return role ? role->expected(kExpected)
                : Error{Errc::kInvalidArgument, field.path_of("role") + ": expected " +
                                                    std::string(kExpected) + ", found nothing"};
  }
  Message message;
  message.role = known->role;
  DAYBREAK_TRY(message.name, optional_string(field, "name", limits.max_name_bytes));
  DAYBREAK_TRY(message.content, read_content(field, message.role, limits));
  if (const auto tools = field.find("tools")) {
    if (message.role != Role::kSystem) {
      return tools->wrong("expected tools in system messages only, found them in one of role \"" +
                          std::string(role_name) + "\"");
    }
    DAYBREAK_TRY(message.tools, read_tools(*tools, limits, names));
    if (!message.tools.empty() && !message.content.empty() && role_name == "system") {
      return tools->wrong("expected content or tools in a system message, found both");
    }
  }
  DAYBREAK_CHECK_OK(refuse_foreign_fields(field));
  DAYBREAK_CHECK_OK(message.role == Role::kAssistant
                        ? read_assistant(field, limits, last, message)
                        : refuse_assistant_fields(field, limits, role_name));
  if (message.role == Role::kTool) {
    DAYBREAK_CHECK_OK(read_tool_message(field, limits, message));
  }
  return message;
}

}  // namespace

Result<std::vector<Message>> read_messages(const Field& field, const ChatLimits& limits,
                                           std::set<std::string, std::less<>>& names) {
  DAYBREAK_TRY(const auto items, field.array(limits.max_messages));
  if (items.empty()) {
    return field.wrong("expected at least one message, found none");
  }
  std::vector<Message> messages;
  messages.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    DAYBREAK_TRY(Message message, read_message(items[i], i + 1 == items.size(), limits, names));
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace daybreak::chat
