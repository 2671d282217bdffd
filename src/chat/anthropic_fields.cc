// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_fields.h"

#include <algorithm>
#include <array>

#include "base/json_document.h"

namespace daybreak::chat {
namespace {

using enum FieldFate;

constexpr auto kFields = std::to_array<AnthropicField>({
    {"model", kHonoured, {}},
    {"messages", kHonoured, {}},
    {"system", kHonoured, {}},
    {"max_tokens", kHonoured, {}},
    {"tools", kHonoured, {}},
    {"tool_choice", kHonoured, {}},
    {"thinking", kHonoured, {}},
    {"output_config", kHonoured, {}},
    {"output_format", kHonoured, {}},
    {"stop_sequences", kHonoured, {}},
    {"temperature", kHonoured, {}},
    {"top_p", kHonoured, {}},
    {"top_k", kHonoured, {}},
    {"stream", kHonoured, {}},
    {"metadata", kHonoured, {}},
    {"cache_control", kIgnored, {}},       // every prompt is cached that can be
    {"context_management", kIgnored, {}},  // nothing is cleared: the model keeps all its reasoning
    {"betas", kIgnored, {}},
    {"service_tier", kIgnored, {}},
    {"container", kRefused, "there are no containers here: this server runs no code"},
    {"thread", kRefused, "this server keeps no conversations; send all messages"},
    {"compaction", kRefused, "this server writes no summaries; ask for one in a message"},
    {"mcp_servers", kRefused,
     "this server connects to no MCP servers; declare their tools in \"tools\""},
});

bool asks_for_nothing(const JsonNode& node) {
  const bool list = node.is(JsonNode::Kind::kArray) || node.is(JsonNode::Kind::kObject);
  return node.is(JsonNode::Kind::kNull) || (list && node.items.empty());
}

}  // namespace

std::span<const AnthropicField> anthropic_fields() { return kFields; }

Status check_anthropic_fields(const Field& root, std::vector<std::string>& ignored) {
  const JsonNode& node = root.node();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const auto* const known =
        std::ranges::find(kFields, std::string_view(node.keys[i]), &AnthropicField::name);
    if (known == kFields.end() || known->fate == kIgnored) {
      ignored.push_back(printable(node.keys[i], 64));
    } else if (known->fate == kRefused && !asks_for_nothing(node.items[i])) {
      return Field(node.items[i], root.path_of(known->name)).wrong(known->why);
    }
  }
  return ok();
}

}  // namespace daybreak::chat
