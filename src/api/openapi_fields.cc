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
constexpr std::string_view kPenalty = R"({"type":"number","minimum":-2,"maximum":2})";
constexpr std::string_view kAboveZero = R"({"type":"number","exclusiveMinimum":0,"maximum":1})";
constexpr std::string_view kTexts =
    R"({"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]})";

// What is known of the values; the names are those of the field table.
constexpr auto kChatSchemas = std::to_array<RequestField>({
    {"model", kText},
    {"messages", R"({"type":"array","minItems":1,"items":{"type":"object","properties":)"
                 R"({"role":{"enum":["system","developer","user","assistant","tool"]}},)"
                 R"("required":["role"]}})"},
    {"tools", R"({"type":"array","items":{"type":"object"}})"},
    {"tool_choice", R"({"type":["string","object"]})"},
    {"parallel_tool_calls", kBoolean},
    {"response_format", kObject},
    {"structured_outputs", kObject},
    {"guided_json", R"({"type":["object","string"]})"},
    {"guided_regex", kText},
    {"guided_choice", R"({"type":"array","items":{"type":"string"}})"},
    {"guided_grammar", kText},
    {"guided_json_object", kBoolean},
    {"temperature", R"({"type":"number","minimum":0,"maximum":2})"},
    {"top_p", kAboveZero},
    {"top_k", R"({"type":"integer","minimum":-1})"},
    {"min_p", R"({"type":"number","minimum":0,"maximum":1})"},
    {"typical_p", kAboveZero},
    {"repetition_penalty", R"({"type":"number","minimum":0.01,"maximum":10})"},
    {"presence_penalty", kPenalty},
    {"frequency_penalty", kPenalty},
    {"logit_bias", kObject},
    {"seed", R"({"type":"integer"})"},
    {"logprobs", kBoolean},
    {"top_logprobs", R"({"type":"integer","minimum":0,"maximum":20})"},
    {"max_tokens", kCount},
    {"max_completion_tokens", kCount},
    {"min_tokens", R"({"type":"integer","minimum":0})"},
    {"stop", kTexts},
    {"stop_token_ids", R"({"type":"array","items":{"type":"integer","minimum":0}})"},
    {"ignore_eos", kBoolean},
    {"n", R"({"type":"integer","minimum":1,"maximum":8})"},
    {"stream", kBoolean},
    {"stream_options", kObject},
    {"thinking", kObject},
    {"reasoning_effort", R"({"enum":["none","low","high","max"]})"},
    {"chat_template_kwargs", kObject},
    {"user", kText},
    {"prompt_cache_key", kText},
    {"add_generation_prompt", kBoolean},
});

bool is_top_level(std::string_view name) { return name.find_first_of(".[") == name.npos; }

std::vector<RequestField> make_chat_fields() {
  std::vector<RequestField> fields;
  for (const chat::FieldRule& rule : chat::field_rules()) {
    if (rule.verdict != chat::FieldVerdict::kHonoured || !is_top_level(rule.name)) {
      continue;
    }
    const auto* known = std::ranges::find(kChatSchemas, rule.name, &RequestField::name);
    fields.push_back(
        {rule.name, known == kChatSchemas.end() ? std::string_view("{}") : known->schema});
  }
  return fields;
}

}  // namespace

std::span<const RequestField> chat_fields() {
  static const std::vector<RequestField> fields = make_chat_fields();
  return fields;
}

}  // namespace daybreak::api
