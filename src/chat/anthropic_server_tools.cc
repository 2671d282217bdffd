// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_server_tools.h"

#include <string>
#include <utility>

#include "chat/anthropic_blocks.h"
#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

constexpr std::string_view kMcpResult = "mcp_tool_result";
constexpr std::string_view kSealed = "encrypted_";

// A copy without the members that only who wrote them can read. The depth was bounded on parsing.
JsonNode readable(const JsonNode& node) {
  JsonNode out;
  out.kind = node.kind;
  out.boolean = node.boolean;
  out.raw = node.raw;
  out.text = node.text;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (node.is(JsonNode::Kind::kObject)) {
      if (node.keys[i].starts_with(kSealed)) {
        continue;
      }
      out.keys.push_back(node.keys[i]);
    }
    out.items.push_back(readable(node.items[i]));
  }
  return out;
}

}  // namespace

bool is_server_call(std::string_view type) {
  return type == "server_tool_use" || type == "mcp_tool_use";
}

bool is_server_result(std::string_view type) { return type.ends_with("_tool_result"); }

Result<std::vector<ContentPart>> read_server_result(const Field& block, std::string_view type,
                                                    const ChatLimits& limits) {
  if (type == kMcpResult) {
    return read_result_content(block, limits);
  }
  std::vector<ContentPart> parts;
  if (const auto content = block.find("content")) {
    std::string text;
    append_python_json(text, readable(content->node()), JsonStyle::kSpaced);
    parts.push_back({.text = std::move(text), .url = {}, .size = {}});
  }
  return parts;
}

}  // namespace daybreak::chat
