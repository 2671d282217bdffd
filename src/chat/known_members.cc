// SPDX-License-Identifier: Apache-2.0
#include "chat/known_members.h"

#include <algorithm>
#include <array>

#include "base/json_document.h"
#include "chat/field_table.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kMaxShownMember = 64;

constexpr MemberRule kFormat = {"response_format", "", "type"};
constexpr MemberRule kSchemaFormat = {"response_format", "type=json_schema", "json_schema"};
constexpr MemberRule kSchemaOfFormat = {"response_format.json_schema", "", "name schema strict"};

// Tools have no rule: the prompt shows them whole, as the released encoder does, so that nothing of
// them is ignored.
constexpr auto kChat = std::to_array<MemberRule>({
    {"messages[]", "",
     "role content name id status annotations cache_control tools partial reasoning_content "
     "reasoning tool_calls function_call audio prefix"},
    {"messages[]", "role=assistant", "index internal_content parsed"},
    {"messages[]", "role=tool", "tool_call_id tool"},
    {"messages[].content[]", "", "type cache_control"},
    {"messages[].content[]", "type=text", "text annotations citations"},
    {"messages[].content[]", "type=refusal", "refusal"},
    {"messages[].content[]", "type=image_url", "image_url image width height"},
    {"messages[].content[]", "type=image", "image_url image width height"},
    {"messages[].content[].image_url messages[].content[].image", "", "url detail"},
    {"messages[].tool_calls[]", "", "id type index function"},
    {"messages[].tool_calls[].function", "", "name arguments parsed_arguments"},
    {"tool_choice", "", "type function"},
    {"tool_choice.function", "", "name"},
    kFormat,
    kSchemaFormat,
    kSchemaOfFormat,
});

constexpr auto kCompletion = std::to_array<MemberRule>({kFormat, kSchemaFormat, kSchemaOfFormat});

constexpr std::string_view kItemParts = "input[].content[] input[].output[] input[].summary[]";

constexpr auto kResponses = std::to_array<MemberRule>({
    {"input[]", "role=*", "type role content id status partial"},
    {"input[]", "type=reasoning", "type id status summary content encrypted_content"},
    {"input[]", "type=function_call", "type id status call_id name arguments parsed_arguments"},
    {"input[]", "type=function_call_output", "type id status call_id output"},
    {"input[]", "type=item_reference", "type id"},
    {kItemParts, "", "type"},
    {kItemParts, "type=*text", "text annotations logprobs parsed"},
    {kItemParts, "type=refusal", "refusal"},
    {kItemParts, "type=input_image", "image_url file_id detail"},
    {"tools[]", "", "type name description parameters strict"},
    {"tool_choice", "type=function", "type name"},
    {"tool_choice", "type=allowed_tools", "type mode tools"},
    {"tool_choice.tools[]", "", "type name"},
    {"text.format", "", "type"},
    {"text.format", "type=json_schema", "name schema strict"},
});

constexpr std::string_view kBlocks =
    "system[] messages[].content[] messages[].content[].content[] "
    "messages[].content[].source.content[]";

constexpr auto kAnthropic = std::to_array<MemberRule>({
    {"messages[]", "", "role content id type model stop_reason stop_sequence usage"},
    {kBlocks, "type=text", "type cache_control text citations parsed_output"},
    {kBlocks, "type=image", "type cache_control source"},
    {kBlocks, "type=document", "type cache_control source title context citations"},
    {kBlocks, "type=search_result", "type cache_control source title content citations"},
    {kBlocks, "type=tool_reference", "type cache_control tool_name"},
    {kBlocks, "type=thinking", "type cache_control thinking signature"},
    {kBlocks, "type=redacted_thinking", "type cache_control data"},
    {kBlocks, "type=*tool_use", "type cache_control id name input caller"},
    {kBlocks, "type=mcp_tool_use", "server_name"},
    {kBlocks, "type=*tool_result", "type cache_control tool_use_id content is_error caller"},
    {"messages[].content[].source messages[].content[].content[].source", "",
     "type media_type data url content"},
    {"tools[]", "", "type cache_control name description input_schema strict"},
    {"tool_choice", "", "type disable_parallel_tool_use"},
    {"tool_choice", "type=tool", "name"},
    {"thinking", "", "type budget_tokens display"},
    {"output_format output_config.format", "", "type schema"},
});

// Calls `visit(word)` for the words of a text until it returns true; returns whether one did.
template <class Visit>
bool any_word(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (visit(word)) {
      return true;
    }
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return false;
}

// Whether a place is `place`, or inside it.
bool within(std::string_view inner, std::string_view place) {
  return inner.starts_with(place) &&
         (inner.size() == place.size() || inner[place.size()] == '.' || inner[place.size()] == '[');
}

bool is_of_kind(const JsonNode& object, std::string_view kind) {
  if (kind.empty()) {
    return true;
  }
  const std::size_t equals = kind.find('=');
  const std::string_view wanted = kind.substr(equals + 1);
  const JsonNode* const found = object.find(kind.substr(0, equals));
  if (found == nullptr || !found->is(JsonNode::Kind::kString)) {
    return false;
  }
  return wanted.starts_with('*') ? found->text.ends_with(wanted.substr(1)) : found->text == wanted;
}

class Walk {
 public:
  Walk(std::span<const MemberRule> rules, std::vector<std::string>& ignored)
      : rules_(rules), ignored_(ignored) {}

  // Looks at a value and what is in it. The tables bound the depth.
  void look(const JsonNode& node, const std::string& place) {
    if (ignored_.size() >= kMaxIgnoredFields || !spoken_of(place)) {
      return;
    }
    if (node.is(JsonNode::Kind::kArray)) {
      for (const JsonNode& item : node.items) {
        look(item, place + "[]");
      }
    }
    if (!node.is(JsonNode::Kind::kObject)) {
      return;
    }
    const std::vector<const MemberRule*> rules = rules_of(node, place);
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const std::string& key = node.keys[i];
      if (!rules.empty() && !node.items[i].is(JsonNode::Kind::kNull) && !knows(rules, key)) {
        add_ignored(ignored_, place + "." + printable(key, kMaxShownMember));
      }
      if (node.items[i].is(JsonNode::Kind::kArray) || node.items[i].is(JsonNode::Kind::kObject)) {
        look(node.items[i], place.empty() ? key : place + "." + key);
      }
    }
  }

 private:
  bool spoken_of(std::string_view place) const {
    return place.empty() || std::ranges::any_of(rules_, [&](const MemberRule& rule) {
             return any_word(rule.places, [&](std::string_view at) { return within(at, place); });
           });
  }

  std::vector<const MemberRule*> rules_of(const JsonNode& object, std::string_view place) const {
    std::vector<const MemberRule*> out;
    for (const MemberRule& rule : rules_) {
      if (any_word(rule.places, [&](std::string_view at) { return at == place; }) &&
          is_of_kind(object, rule.kind)) {
        out.push_back(&rule);
      }
    }
    return out;
  }

  static bool knows(std::span<const MemberRule* const> rules, std::string_view key) {
    return std::ranges::any_of(rules, [&](const MemberRule* rule) {
      return any_word(rule->members, [&](std::string_view member) { return member == key; });
    });
  }

  std::span<const MemberRule> rules_;
  std::vector<std::string>& ignored_;
};

}  // namespace

std::span<const MemberRule> chat_members() { return kChat; }
std::span<const MemberRule> completion_members() { return kCompletion; }
std::span<const MemberRule> responses_members() { return kResponses; }
std::span<const MemberRule> anthropic_members() { return kAnthropic; }

void add_unknown_members(const Field& root, std::span<const MemberRule> rules,
                         std::vector<std::string>& ignored) {
  Walk(rules, ignored).look(root.node(), "");
}

void add_ignored(std::vector<std::string>& ignored, std::string name) {
  if (ignored.size() < kMaxIgnoredFields && std::ranges::find(ignored, name) == ignored.end()) {
    ignored.push_back(std::move(name));
  }
}

std::string any_item(std::string_view path) {
  std::string out;
  bool index = false;
  for (const char c : path) {
    index = index && c != ']';
    if (!index) {
      out += c;
    }
    index = index || c == '[';
  }
  return out;
}

}  // namespace daybreak::chat
