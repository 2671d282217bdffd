// SPDX-License-Identifier: Apache-2.0
#include "chat/render_line.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/json_tree.h"
#include "chat/markers.h"
#include "chat/request_fields.h"

namespace daybreak::chat {
namespace {

// Kwargs that are spelled alike at the top level of a request, and those of its template kwargs.
constexpr std::array<std::string_view, 3> kTopLevel = {"tool_choice", "response_format",
                                                       "add_generation_prompt"};
constexpr std::array<std::string_view, 2> kTemplate = {"thinking", "thinking_effort"};

void append_member(std::string& out, std::string_view key, const std::optional<Field>& value) {
  if (value) {
    out += out.back() == '{' ? "\"" : ",\"";
    out += std::string(key) + "\":" + std::string(value->node().raw);
  }
}

// Reads WxH from "<|media_begin|>image WxH<|media_content|>...".
std::optional<ImageSize> size_of_block(std::string_view block) {
  const std::string head = std::string(kMediaBeginMarker) + "image ";
  if (!block.starts_with(head)) {
    return std::nullopt;
  }
  block.remove_prefix(head.size());
  const char* const end = block.data() + block.size();
  ImageSize size;
  const auto width = std::from_chars(block.data(), end, size.width);
  if (width.ec != std::errc{} || width.ptr == end || *width.ptr != 'x') {
    return std::nullopt;
  }
  const auto height = std::from_chars(width.ptr + 1, end, size.height);
  const std::string_view rest(height.ptr, static_cast<std::size_t>(end - height.ptr));
  if (height.ec != std::errc{} || size.width == 0 || size.height == 0 ||
      !rest.starts_with(kMediaContentMarker)) {
    return std::nullopt;
  }
  return size;
}

Status set_image_sizes(const Field& prompts, ChatRequest& request) {
  DAYBREAK_TRY(const auto items, prompts.array(ChatLimits{}.max_parts));
  std::size_t next = 0;
  for (Message& message : request.messages) {
    for (ContentPart& part : message.content) {
      if (part.kind != ContentPart::Kind::kImage || part.size || next == items.size()) {
        continue;
      }
      part.size = size_of_block(items[next].node().text);
      if (!part.size) {
        return items[next].expected("a media block that starts with its size");
      }
      ++next;
    }
  }
  if (next < items.size()) {
    return prompts.wrong("more image prompts than images");
  }
  return ok();
}

}  // namespace

Result<ChatRequest> parse_render_line(std::string_view line) {
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(line));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  const std::optional<Field> kwargs = root.find("kwargs");
  std::string body = "{";
  append_member(body, "messages", root.find("messages"));
  append_member(body, "tools", root.find("tools"));
  if (kwargs) {
    DAYBREAK_CHECK_OK(kwargs->object_of({"tool_choice", "response_format", "add_generation_prompt",
                                         "thinking", "thinking_effort", "image_prompts"}));
    for (const std::string_view key : kTopLevel) {
      append_member(body, key, kwargs->find(key));
    }
    std::string inner = "{";
    for (const std::string_view key : kTemplate) {
      append_member(inner, key, kwargs->find(key));
    }
    body +=
        (body.back() == '{' ? "" : ",") + std::string("\"chat_template_kwargs\":") + inner + "}";
  }
  body += "}";
  ChatLimits limits;
  limits.measured_images = true;
  DAYBREAK_TRY(ChatRequest request, parse_chat_request(body, limits));
  if (kwargs) {
    if (const auto prompts = kwargs->find("image_prompts")) {
      DAYBREAK_CHECK_OK(set_image_sizes(*prompts, request));
    }
  }
  return request;
}

}  // namespace daybreak::chat
