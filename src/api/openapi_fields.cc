// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "api/openapi.h"
#include "chat/field_table.h"

namespace daybreak::api {
namespace {

constexpr std::string_view kBoolean = R"({"type":"boolean"})";
constexpr std::string_view kObject = R"({"type":"object"})";
constexpr std::string_view kText = R"({"type":"string"})";
constexpr std::string_view kCount = R"({"type":"integer","minimum":1})";

// What is known of the values of fields that a completion has not, or has in another form.
constexpr auto kChatSchemas = std::to_array<RequestField>({
    {"messages", R"({"type":"array","minItems":1,"items":{"type":"object","properties":)"
                 R"({"role":{"enum":["system","developer","user","assistant","tool"]}},)"
                 R"("required":["role"]}})"},
    {"tools", R"({"type":"array","items":{"type":"object"}})"},
    {"tool_choice", R"({"type":["string","object"]})"},
    {"parallel_tool_calls", kBoolean},
    {"logprobs", kBoolean},
    {"top_logprobs", R"({"type":"integer","minimum":0,"maximum":20})"},
    {"max_tokens", kCount},
    {"max_completion_tokens", kCount},
    {"thinking", kObject},
    {"reasoning_effort", R"({"enum":["none","low","high","max"]})"},
    {"chat_template_kwargs", kObject},
    {"prompt_cache_key", kText},
    {"add_generation_prompt", kBoolean},
});

bool is_top_level(std::string_view name) { return name.find_first_of(".[") == name.npos; }

// Of the value of a chat field; what both routes read has one schema.
std::string_view schema_of(std::string_view name) {
  for (const std::span<const RequestField> fields :
       {std::span<const RequestField>(kChatSchemas), completion_fields()}) {
    const auto known = std::ranges::find(fields, name, &RequestField::name);
    if (known != fields.end()) {
      return known->schema;
    }
  }
  return "{}";
}

std::vector<RequestField> make_chat_fields() {
  std::vector<RequestField> fields;
  for (const chat::FieldRule& rule : chat::field_rules()) {
    if (rule.verdict != chat::FieldVerdict::kHonoured || !is_top_level(rule.name)) {
      continue;
    }
    fields.push_back({rule.name, schema_of(rule.name)});
  }
  return fields;
}

}  // namespace

std::span<const RequestField> chat_fields() {
  static const std::vector<RequestField> fields = make_chat_fields();
  return fields;
}

}  // namespace daybreak::api
