// SPDX-License-Identifier: Apache-2.0
#include "chat/responses_fields.h"

#include <algorithm>
#include <array>

#include "base/json_document.h"

namespace daybreak::chat {
namespace {

using enum FieldUse;

constexpr auto kFields = std::to_array<ResponsesField>({
    {.name = "model"},
    {.name = "input"},
    {.name = "instructions"},
    {.name = "previous_response_id"},
    {.name = "store"},
    {.name = "tools"},
    {.name = "tool_choice"},
    {.name = "parallel_tool_calls"},
    {.name = "text"},
    {.name = "reasoning"},
    {.name = "max_output_tokens"},
    {.name = "temperature"},
    {.name = "top_p"},
    {.name = "top_logprobs"},
    {.name = "include"},
    {.name = "metadata"},
    {.name = "user"},
    {.name = "safety_identifier"},
    {.name = "prompt_cache_key"},
    {.name = "stream"},
    {.name = "stream_options"},
    {.name = "truncation"},
    {.name = "top_k"},
    {.name = "min_p"},
    {.name = "typical_p"},
    {.name = "repetition_penalty"},
    {.name = "presence_penalty"},
    {.name = "frequency_penalty"},
    {.name = "logit_bias"},
    {.name = "seed"},
    {.name = "stop"},
    {.name = "stop_token_ids"},
    {.name = "min_tokens"},
    {.name = "ignore_eos"},
    {"service_tier", kIgnored, "there is one tier, \"default\""},
    {"max_tool_calls", kIgnored, "it counts calls of hosted tools, and there are none"},
    {"prompt_cache_retention", kIgnored, "caching does not change an answer"},
    {"client_metadata", kIgnored, "it is about the client"},
    {"background", kRefused, "not supported: a response is made while its client waits"},
    {"conversation", kRefused, "not supported: use previous_response_id, or send the history"},
    {"prompt", kRefused, "prompt templates are not supported: send input and instructions"},
    {"context_management", kRefused, "not supported: nothing is removed from a conversation"},
    {"messages", kRefused, "not a field of this route: use input"},
    {"max_tokens", kRefused, "not a field of this route: use max_output_tokens"},
    {"max_completion_tokens", kRefused, "not a field of this route: use max_output_tokens"},
    {"response_format", kRefused, "not a field of this route: use text.format"},
    {"structured_outputs", kRefused, "not a field of this route: use text.format"},
    {"guided_json", kRefused, "not a field of this route: use text.format"},
    {"guided_regex", kRefused, "not a field of this route: use /v1/chat/completions"},
    {"guided_choice", kRefused, "not a field of this route: use /v1/chat/completions"},
    {"guided_grammar", kRefused, "not a field of this route: use /v1/chat/completions"},
    {"guided_json_object", kRefused, "not a field of this route: use text.format"},
    {"reasoning_effort", kRefused, "not a field of this route: use reasoning.effort"},
    {"thinking", kRefused, "not a field of this route: use reasoning.effort"},
    {"chat_template_kwargs", kRefused, "not a field of this route: use reasoning.effort"},
    {"logprobs", kRefused,
     "not a field of this route: use include with \"message.output_text.logprobs\""},
    {"n", kRefused, "a response is one answer: send the request again for another"},
});

}  // namespace

std::span<const ResponsesField> responses_fields() { return kFields; }

Status check_responses_fields(const Field& root, std::vector<std::string>& ignored) {
  constexpr std::size_t kShown = 64;
  const JsonNode& node = root.node();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const JsonNode& value = node.items[i];
    const auto* const field =
        std::ranges::find(kFields, std::string_view(node.keys[i]), &ResponsesField::name);
    if (field == kFields.end()) {
      ignored.push_back(printable(node.keys[i], kShown));
    } else if (value.is(JsonNode::Kind::kNull) || field->use == kHonoured) {
      continue;
    } else if (field->use == kIgnored) {
      ignored.emplace_back(field->name);
    } else if (!value.is(JsonNode::Kind::kBoolean) || value.boolean) {
      return Field(value, std::string(field->name)).wrong(field->note);
    }
  }
  return ok();
}

}  // namespace daybreak::chat
