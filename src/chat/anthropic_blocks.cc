// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_blocks.h"

#include <limits>
#include <string>
#include <utility>

#include "base/json_document.h"
#include "chat/required_field.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();  // the body is bounded

ContentPart text_part(std::string text) { return {.text = std::move(text), .url = {}, .size = {}}; }

// Appends the optional string member `key` as a line of its own.
Status append_line(const Field& owner, std::string_view key, std::string& out) {
  if (const auto field = owner.find(key)) {
    DAYBREAK_TRY(const std::string line, field->string(kAnySize));
    out += line + "\n";
  }
  return ok();
}

// Appends a string, or the text of text blocks.
Status append_texts(const Field& field, const ChatLimits& limits, std::string& out) {
  if (field.is(JsonNode::Kind::kString)) {
    out += field.node().text;
    return ok();
  }
  if (!field.is(JsonNode::Kind::kArray)) {
    return field.expected("a string or an array of text blocks");
  }
  DAYBREAK_TRY(const auto items, field.array(limits.max_parts));
  for (const Field& item : items) {
    DAYBREAK_TRY(const std::string_view type, block_type(item));
    if (type != "text") {
      return item.find("type")->expected("\"text\"");
    }
    DAYBREAK_TRY(const ContentPart part, read_text_block(item));
    out += part.text;
  }
  return ok();
}

Status refuse_citations(const Field& block) {
  const auto citations = block.find("citations");
  const auto enabled = citations ? citations->find("enabled") : std::nullopt;
  if (enabled && enabled->node().boolean) {
    return enabled->wrong("citations are not supported");
  }
  return ok();
}

Result<ContentPart> read_document(const Field& block, const ChatLimits& limits) {
  DAYBREAK_CHECK_OK(refuse_citations(block));
  DAYBREAK_TRY(const Field source, required_field(block, "source", "an object"));
  DAYBREAK_TRY(const std::string_view type, block_type(source));
  std::string text;
  DAYBREAK_CHECK_OK(append_line(block, "title", text));
  DAYBREAK_CHECK_OK(append_line(block, "context", text));
  if (type == "text") {
    DAYBREAK_TRY(const Field data, required_field(source, "data", "a string"));
    DAYBREAK_TRY(const std::string body, data.string(kAnySize));
    return text_part(text + body);
  }
  if (type == "content") {
    DAYBREAK_TRY(const Field content, required_field(source, "content", "a string or text blocks"));
    DAYBREAK_CHECK_OK(append_texts(content, limits, text));
    return text_part(std::move(text));
  }
  return source.find("type")->wrong("documents of source " + describe(source.find("type")->node()) +
                                    " are not read here; send the text: expected \"text\" or "
                                    "\"content\"");
}

Result<ContentPart> read_search_result(const Field& block, const ChatLimits& limits) {
  DAYBREAK_CHECK_OK(refuse_citations(block));
  std::string text;
  DAYBREAK_CHECK_OK(append_line(block, "title", text));
  DAYBREAK_CHECK_OK(append_line(block, "source", text));
  if (const auto content = block.find("content")) {
    DAYBREAK_CHECK_OK(append_texts(*content, limits, text));
  }
  return text_part(std::move(text));
}

// One block of a tool result.
Result<ContentPart> read_result_block(const Field& block, const ChatLimits& limits) {
  const auto type = block_type(block);
  if (type && *type == "text") {
    return read_text_block(block);
  }
  if (type && *type == "image") {
    return read_image_block(block);
  }
  if (type) {
    if (auto part = read_textual_block(block, *type, limits)) {
      return part;
    }
  }
  return text_part("[" + (type ? printable(*type, 64) : std::string("block")) + "]");
}

}  // namespace

Result<std::string_view> block_type(const Field& block) {
  DAYBREAK_CHECK_OK(block.object());
  DAYBREAK_TRY(const Field type, required_field(block, "type", "a string"));
  if (!type.is(JsonNode::Kind::kString)) {
    return type.expected("a string");
  }
  return std::string_view(type.node().text);
}

Result<ContentPart> read_text_block(const Field& block) {
  DAYBREAK_TRY(const Field text, required_field(block, "text", "a string"));
  DAYBREAK_TRY(std::string value, text.string(kAnySize));
  return text_part(std::move(value));
}

Result<ContentPart> read_image_block(const Field& block) {
  DAYBREAK_TRY(const Field source, required_field(block, "source", "an object"));
  DAYBREAK_TRY(const std::string_view type, block_type(source));
  ContentPart image{.kind = ContentPart::Kind::kImage, .text = {}, .url = {}, .size = {}};
  if (type == "base64") {
    DAYBREAK_TRY(const Field media, required_field(source, "media_type", "a media type"));
    DAYBREAK_TRY(const std::string media_type, media.string(kAnySize));
    DAYBREAK_TRY(const Field data, required_field(source, "data", "base64 text"));
    DAYBREAK_TRY(const std::string base64, data.string(kAnySize));
    image.url = "data:" + media_type + ";base64," + base64;
    return image;
  }
  if (type != "url") {
    return source.find("type")->expected("\"base64\" or \"url\"");
  }
  DAYBREAK_TRY(const Field url, required_field(source, "url", "a URL"));
  DAYBREAK_TRY(image.url, url.string(kAnySize));
  return image.url.empty() ? url.expected("a URL") : Result<ContentPart>(std::move(image));
}

Result<ContentPart> read_textual_block(const Field& block, std::string_view type,
                                       const ChatLimits& limits) {
  if (type == "document") {
    return read_document(block, limits);
  }
  if (type == "search_result") {
    return read_search_result(block, limits);
  }
  if (type == "tool_reference") {
    DAYBREAK_TRY(const Field name, required_field(block, "tool_name", "a name"));
    DAYBREAK_TRY(std::string text, name.string(kAnySize));
    return text_part(std::move(text));
  }
  return block.find("type")->wrong("blocks of type " + describe(block.find("type")->node()) +
                                   " are not supported here");
}

Result<std::vector<ContentPart>> read_result_content(const Field& result,
                                                     const ChatLimits& limits) {
  std::vector<ContentPart> parts;
  const auto content = result.find("content");
  if (!content) {
    return parts;
  }
  if (content->is(JsonNode::Kind::kString)) {
    if (!content->node().text.empty()) {
      parts.push_back(text_part(content->node().text));
    }
    return parts;
  }
  if (!content->is(JsonNode::Kind::kArray)) {
    return content->expected("a string or an array of blocks");
  }
  DAYBREAK_TRY(const auto items, content->array(limits.max_parts));
  for (const Field& item : items) {
    DAYBREAK_TRY(ContentPart part, read_result_block(item, limits));
    if (part.kind == ContentPart::Kind::kImage || !part.text.empty()) {
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

Result<ToolCall> read_tool_use(const Field& block, const ChatLimits& limits) {
  ToolCall call;
  DAYBREAK_TRY(const Field id, required_field(block, "id", "a string"));
  DAYBREAK_TRY(call.id, id.string(limits.max_id_bytes));
  DAYBREAK_TRY(const Field name, required_field(block, "name", "a name"));
  DAYBREAK_TRY(call.name, name.string(limits.max_name_bytes));
  if (call.name.empty()) {
    return name.expected("a name");
  }
  DAYBREAK_TRY(const Field input, required_field(block, "input", "an object"));
  if (!input.is(JsonNode::Kind::kObject)) {
    return input.expected("an object");
  }
  const JsonNode& node = input.node();
  const bool invalid = node.keys.size() == 1 && node.keys.front() == kInvalidJsonKey &&
                       node.items.front().is(JsonNode::Kind::kString);
  call.arguments = invalid ? node.items.front().text : std::string(node.raw);
  return call;
}

}  // namespace daybreak::chat
