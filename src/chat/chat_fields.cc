// SPDX-License-Identifier: Apache-2.0
// The fields of chat completions. A field that is added to the API gets its row here; the test of
// the table then asks for an example.

#include <array>

#include "chat/effort_name.h"
#include "chat/field_schemas.h"
#include "chat/field_table.h"

namespace daybreak::chat {
namespace {

using enum FieldApi;
using enum FieldVerdict;
constexpr FieldVerdict kYes = FieldVerdict::kHonoured;

constexpr std::string_view kEffort = R"({"enum":["low","high","max"]})";

constexpr auto kRules = std::to_array<FieldRule>({
    // Conversation and tools.
    {"messages", kOpenAi, kYes,
     R"({"type":"array","minItems":1,"items":{"type":"object","properties":{"role":)"
     R"({"enum":["system","developer","user","assistant","tool"]}},"required":["role"]}})",
     "the conversation, at least one message"},
    {"messages[].partial", kMoonshot, kYes, kBoolean, "on the last assistant message: continue it"},
    {"messages[].tools", kMoonshot, kYes, kObjects, "tools declared by a system message"},
    {"model", kOpenAi, kYes, kText, "a name under which the model is served"},
    {"tools", kOpenAi, kYes, kObjects, "declared to the model and enforced"},
    {"tool_choice", kOpenAi, kYes, kTextOrObject,
     "`auto`, `none`, `required`, or a named tool; stated and enforced"},
    {"parallel_tool_calls", kOpenAi, kYes, kBoolean, "false: one call at most"},
    {"continue_final_message", kVllm, kYes, kBoolean, "true: as `partial` on the last message"},
    {"add_generation_prompt", kVllm, kYes, kBoolean, "false: the prompt does not open an answer"},
    // Thinking.
    {"thinking", kMoonshot, kYes, R"({"type":["object","boolean"]})",
     "an object, or a boolean for `type`"},
    {"thinking.type", kMoonshot, kYes, R"({"enum":["enabled","disabled"]})",
     "`enabled` or `disabled`"},
    {"thinking.effort", kMoonshot, kYes, kEffort,
     "`low`, `high` or `max`; beats `reasoning_effort`"},
    {"thinking.keep", kMoonshot, kYes, R"({"const":"all"})",
     "`all`, which is what happens; else refused"},
    {"reasoning_effort", kOpenAi, kYes, kEffortNamesOrNone,
     "`none`: no thinking; `minimal`, `low`: low; `medium`, `high`: high; `xhigh`, `max`: max"},
    {"chat_template_kwargs", kVllm, kYes, kObject, "an object of the next four"},
    {"chat_template_kwargs.thinking", kVllm, kYes, kBoolean, "a boolean; beats `thinking`"},
    {"chat_template_kwargs.enable_thinking", kVllm, kYes, kBoolean, "the same, of lower rank"},
    {"chat_template_kwargs.thinking_effort", kVllm, kYes, kEffort, "beats `thinking.effort`"},
    {"chat_template_kwargs.reasoning_effort", kVllm, kYes, kEffortNamesOrNone,
     "as the other `reasoning_effort`, of lower rank than `thinking_effort`"},
    // The form of the answer.
    {"response_format", kOpenAi, kYes, kObject, "stated and enforced"},
    {"structured_outputs", kVllm, kYes, kObject, "enforced"},
    {"guided_json", kVllm, kYes, kTextOrObject, "enforced"},
    {"guided_regex", kVllm, kYes, kSomeText, "enforced"},
    {"guided_choice", kVllm, kYes, R"({"type":"array","minItems":1,"items":{"type":"string"}})",
     "enforced"},
    {"guided_grammar", kVllm, kYes, kSomeText, "enforced"},
    {"guided_json_object", kVllm, kYes, kBoolean, "enforced"},
    // Sampling.
    {"temperature", kOpenAi, kYes, kTemperature, "0 (greedy) to 2, default 1"},
    {"top_p", kOpenAi, kYes, kAboveZero, "above 0, to 1; default 0.95"},
    {"top_k", kVllm, kYes, R"({"type":"integer","minimum":-1,"maximum":2147483647})",
     "0 and -1: off"},
    {"min_p", kVllm, kYes, kShare, "0 to 1"},
    {"typical_p", kOther, kYes, kAboveZero, "above 0, to 1"},
    {"repetition_penalty", kVllm, kYes, R"({"type":"number","minimum":0.01,"maximum":10})",
     "0.01 to 10, of prompt and answer"},
    {"presence_penalty", kOpenAi, kYes, kPenalty, "-2 to 2, of the answer"},
    {"frequency_penalty", kOpenAi, kYes, kPenalty, "-2 to 2, of the answer"},
    {"logit_bias", kOpenAi, kYes,
     R"({"type":"object","additionalProperties":{"type":"number","minimum":-100,"maximum":100}})",
     "-100 to 100 by token id"},
    {"allowed_token_ids", kVllm, kYes,
     R"({"type":"array","minItems":1,"items":{"type":"integer","minimum":0}})",
     "nothing else is drawn: to end, or to leave the thinking, list those ids too"},
    {"bad_words", kVllm, kYes, kTextList,
     "never generated, thinking included: their tokens, at the start of a text or after a space"},
    {"seed", kOpenAi, kYes, kInteger, "64 bits; equal seeds give equal answers"},
    {"n", kOpenAi, kYes, kChoices, "1 to 8 answers"},
    // Length and end.
    {"max_tokens", kOpenAi, kYes, kAnswerLength,
     "older name of `max_completion_tokens`, which beats it"},
    {"max_completion_tokens", kOpenAi, kYes, kAnswerLength, "ids of an answer, thinking included"},
    {"min_tokens", kVllm, kYes, kAnyLength, "stop ids wait until the answer has as many ids"},
    {"stop", kOpenAi, kYes,
     R"({"type":["string","array"],"minLength":1,"items":{"type":"string","minLength":1}})",
     "strings that end the content"},
    {"stop_token_ids", kVllm, kYes, kIds, "ids that end the answer, unseen"},
    {"ignore_eos", kVllm, kYes, kBoolean, "true: the model does not end the answer"},
    // The reply.
    {"stream", kOpenAi, kYes, kBoolean, "true: events"},
    {"stream_options", kOpenAi, kYes, kObject, "an object of the next two"},
    {"stream_options.include_usage", kOpenAi, kYes, kBoolean,
     "false: no chunk of usage at the end"},
    {"stream_options.include_internal_content", kMoonshot, kYes, kBoolean,
     "true: `internal_content.token_ids` in every delta"},
    {"logprobs", kOpenAi, kYes, kBoolean, "of the content's tokens"},
    {"top_logprobs", kOpenAi, kYes, kAlternatives, "0 to 20 alternatives"},
    // Kept with the request.
    {"user", kOpenAi, kYes, kText, "a string, kept with the request; no part of the answer"},
    {"safety_identifier", kOpenAi, kYes, kText, "the same"},
    {"prompt_cache_key", kOpenAi, kYes, kText, "a string, kept for caches; no part of the answer"},
    {"cache_salt", kVllm, kYes, kSomeText,
     "not empty; only requests of the same salt share what was computed of a prompt"},
    {"priority", kVllm, kYes, kInteger,
     "levels below the API key's own priority, to 0; a negative number counts as 0"},
    {"service_tier", kOpenAi, kYes, kText,
     "`flex`: starts when nothing of higher priority waits; other tiers change nothing"},

    // No part of the answer.
    {"store", kOpenAi, kIgnored, "false", "no answer is stored"},
    {"verbosity", kOpenAi, kIgnored, R"("medium")", kNoVerbosity},
    {"metadata", kOpenAi, kIgnored, "{}", "belongs to stored answers"},
    {"prediction", kOpenAi, kIgnored, "", "would change the speed only"},
    {"prompt_cache_retention", kOpenAi, kIgnored, "", "caches are the server's affair"},
    {"stream_options.include_obfuscation", kOpenAi, kIgnored, "false", "no padding is sent"},
    {"stream_options.continuous_usage_stats", kVllm, kIgnored, "false",
     "usage comes once, when it is final"},
    {"request_id", kVllm, kIgnored, "", "the header `x-request-id` names a request"},
    {"rid", kOther, kIgnored, "", "the same"},
    {"spaces_between_special_tokens", kVllm, kIgnored, "true", "no special token is shown"},
    {"guided_decoding_backend", kVllm, kIgnored, "", "there is one, and it is exact"},

    // Would change the answer.
    {"functions", kOpenAi, kRefused, "[]", "the older form of `tools`: say `tools`"},
    {"function_call", kOpenAi, kRefused, R"("none" or "auto")",
     "the older form of `tool_choice`: say `tool_choice`"},
    {"messages[].function_call", kOpenAi, kRefused, "",
     "the older form of `tool_calls`: say `tool_calls`"},
    {"messages[].audio", kOpenAi, kRefused, "", "the model hears nothing"},
    {"messages[].prefix", kOther, kRefused, "false", "say `partial`"},
    {"modalities", kOpenAi, kRefused, R"(["text"])", "answers are text"},
    {"audio", kOpenAi, kRefused, "", "answers are text"},
    {"web_search_options", kOpenAi, kRefused, "", "there is no search: declare a tool"},
    {"reasoning", kOther, kRefused, "", "say `thinking` or `reasoning_effort`"},
    {"include_reasoning", kVllm, kRefused, "true", "reasoning is always part of the reply"},
    {"separate_reasoning", kOther, kRefused, "true", "reasoning has its own field"},
    {"stream_reasoning", kOther, kRefused, "true", "reasoning is streamed as it comes"},
    {"chat_template", kVllm, kRefused, "", "the prompt format is the model's own"},
    {"chat_template_kwargs.preserve_thinking", kMoonshot, kRefused, "true",
     "all reasoning that is sent back is kept"},
    {"documents", kVllm, kRefused, "[]", "the prompt format has no place for them"},
    {"echo", kVllm, kRefused, "false", "an answer does not repeat the prompt"},
    {"add_special_tokens", kVllm, kRefused, "false", "the prompt format has all it needs"},
    {"truncate_prompt_tokens", kVllm, kRefused, "", "a prompt is never cut"},
    {"prompt_logprobs", kVllm, kRefused, "", "prompts are not scored"},
    {"return_token_ids", kVllm, kRefused, "false", "say `stream_options.include_internal_content`"},
    {"return_tokens_as_token_ids", kVllm, kRefused, "false", "tokens are shown as text and bytes"},
    {"skip_special_tokens", kVllm, kRefused, "true", "no special token is shown"},
    {"include_stop_str_in_output", kVllm, kRefused, "false", "no stop string is shown"},
    {"no_stop_trim", kOther, kRefused, "false", "no stop string is shown"},
    {"stop_regex", kOther, kRefused, "", "stops are strings or ids"},
    {"mm_processor_kwargs", kVllm, kRefused, "{}", "images are prepared in one way"},
    {"kv_transfer_params", kVllm, kRefused, "{}", "prompts are not computed elsewhere"},
    {"logits_processors", kVllm, kRefused, "[]", "no client code runs here"},
    {"guided_whitespace_pattern", kVllm, kRefused, "",
     "not supported: JSON is written without white space between values"},
    {"json_schema", kOther, kRefused, "", "say `structured_outputs`"},
    {"regex", kOther, kRefused, "", "say `structured_outputs`"},
    {"ebnf", kOther, kRefused, "", "say `structured_outputs`"},
    {"grammar", kOther, kRefused, "", "say `structured_outputs`"},
    {"use_beam_search", kVllm, kRefused, "false", "answers are sampled"},
    {"best_of", kVllm, kRefused, "1", "say `n`"},
    {"length_penalty", kVllm, kRefused, "1", "belongs to beam search"},
    {"early_stopping", kVllm, kRefused, "false", "belongs to beam search"},
    {"top_a", kOther, kRefused, "0", "say `min_p`"},
    {"lora_path", kOther, kRefused, "", "an adapter is chosen by `model`"},
});

}  // namespace

const FieldTable& chat_fields() {
  static const FieldTable table(kRules);
  return table;
}

}  // namespace daybreak::chat
