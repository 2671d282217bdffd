// SPDX-License-Identifier: Apache-2.0
// The fields of the Responses API.

#include <array>

#include "chat/effort_name.h"
#include "chat/field_schemas.h"
#include "chat/field_table.h"

namespace daybreak::chat {
namespace {

using enum FieldApi;
using enum FieldVerdict;
constexpr FieldVerdict kYes = FieldVerdict::kHonoured;

constexpr std::string_view kOfText = "not a field of this route: say `text.format`";
constexpr std::string_view kOfEffort = "not a field of this route: say `reasoning.effort`";
constexpr std::string_view kOfLength = "not a field of this route: say `max_output_tokens`";
constexpr std::string_view kOfChat = "not a field of this route: `/v1/chat/completions` has it";

constexpr std::string_view kOfGrammar =
    "not a field of this route: `/v1/chat/completions` has `structured_outputs`";
constexpr std::string_view kOneAnswer = "a response is one answer: ask again for another";

constexpr auto kRules = std::to_array<FieldRule>({
    {"input", kOpenAi, kYes, R"({"type":["string","array"],"items":{"type":"object"}})",
     "text, or items; may be left out after a `previous_response_id`"},
    {"instructions", kOpenAi, kYes, kText,
     "the first system message; not carried on by `previous_response_id`"},
    {"previous_response_id", kOpenAi, kYes, kText,
     "the kept conversation goes before `input`; 404 when it is not kept any more"},
    {"store", kOpenAi, kYes, kBoolean,
     "true unless given: the response is kept; the answer says what was done"},
    {"tools", kOpenAi, kYes, kObjects,
     "function tools. Hosted tools (`web_search`, `file_search`, `mcp`, `local_shell`, ...), "
     "`custom` tools and `namespace` are refused by `tools[N].type`"},
    {"tool_choice", kOpenAi, kYes, kTextOrObject,
     "`auto`, `none`, `required`, `{\"type\":\"function\",\"name\"}`; "
     "`{\"type\":\"allowed_tools\"}` declares the allowed tools alone, so the model does not hear "
     "of the others"},
    {"text", kOpenAi, kYes, kObject, "an object of the next one"},
    {"text.format", kOpenAi, kYes, kObject,
     "the chat route's `response_format`, enforced in the same way: `text`, `json_object`, "
     "`json_schema` (`strict` unless it says false)"},
    {"reasoning", kOpenAi, kYes, kObject, "an object of the next one"},
    {"reasoning.effort", kOpenAi, kYes, kEffortNamesOrNone,
     "the chat route's `reasoning_effort`, read in the same way"},
    {"max_output_tokens", kOpenAi, kYes, kAnswerLength, "the chat route's `max_completion_tokens`"},
    {"top_logprobs", kOpenAi, kYes, kAlternatives,
     "0 to 20; more than 0 switches log-probabilities on"},
    {"include", kOpenAi, kYes, kTextList,
     "`message.output_text.logprobs`, `reasoning.encrypted_content`; what belongs to hosted tools "
     "is ignored, others are refused"},
    {"metadata", kOpenAi, kYes, kTextPairs,
     "repeated; at most 16 pairs of text, keys up to 64 bytes, values up to 512"},
    {"stream_options", kOpenAi, kYes, kObject, "an object"},
    {"truncation", kOpenAi, kYes, R"({"enum":["auto","disabled"]})",
     "`disabled`; `auto` is ignored: nothing is ever dropped, a conversation that does not fit "
     "gets 400"},

    {"text.verbosity", kOpenAi, kIgnored, R"("medium")", kNoVerbosity},
    {"reasoning.summary", kOpenAi, kIgnored, "", "nothing writes summaries: see the reasoning"},
    {"stream_options.include_obfuscation", kOpenAi, kIgnored, "false", "no padding is sent"},
    {"max_tool_calls", kOpenAi, kIgnored, "", "it counts calls of hosted tools; there are none"},
    {"prompt_cache_retention", kOpenAi, kIgnored, "", "caching does not change an answer"},
    {"client_metadata", kOpenAi, kIgnored, "", "it is about the client"},

    {"background", kOpenAi, kRefused, "false", "a response is made while its client waits"},
    {"conversation", kOpenAi, kRefused, "", "say `previous_response_id`, or send the history"},
    {"prompt", kOpenAi, kRefused, "", "no prompt templates: say `input` and `instructions`"},
    {"context_management", kOpenAi, kRefused, "", "nothing is removed from a conversation"},
    {"messages", kOpenAi, kRefused, "", "not a field of this route: say `input`"},
    {"max_tokens", kOpenAi, kRefused, "", kOfLength},
    {"max_completion_tokens", kOpenAi, kRefused, "", kOfLength},
    {"response_format", kOpenAi, kRefused, "", kOfText},
    {"structured_outputs", kVllm, kRefused, "", kOfText},
    {"guided_json", kVllm, kRefused, "", kOfText},
    {"guided_json_object", kVllm, kRefused, "false", kOfText},
    {"guided_regex", kVllm, kRefused, "", kOfChat},
    {"guided_choice", kVllm, kRefused, "", kOfChat},
    {"guided_grammar", kVllm, kRefused, "", kOfChat},
    {"json_schema", kOther, kRefused, "", kOfText},
    {"regex", kOther, kRefused, "", kOfGrammar},
    {"ebnf", kOther, kRefused, "", kOfGrammar},
    {"grammar", kOther, kRefused, "", kOfGrammar},
    {"verbosity", kOpenAi, kRefused, R"("medium")", "not a field of this route: say `text`"},
    {"return_token_ids", kVllm, kRefused, "false", "not a field of this route"},
    {"reasoning_effort", kOpenAi, kRefused, "", kOfEffort},
    {"thinking", kMoonshot, kRefused, "", kOfEffort},
    {"chat_template_kwargs", kVllm, kRefused, "", kOfEffort},
    {"logprobs", kOpenAi, kRefused, "false",
     "not a field of this route: say `include` with `message.output_text.logprobs`"},
    {"n", kOpenAi, kRefused, "1", kOneAnswer},
    {"best_of", kVllm, kRefused, "1", kOneAnswer},
});

constexpr std::string_view kAsOfChat =
    "model parallel_tool_calls temperature top_p top_k min_p typical_p repetition_penalty "
    "presence_penalty frequency_penalty logit_bias allowed_token_ids bad_words seed stop "
    "stop_token_ids min_tokens ignore_eos stream user safety_identifier prompt_cache_key "
    "cache_salt priority service_tier";

}  // namespace

const FieldTable& responses_fields() {
  static const FieldTable table(kRules, chat_fields(), kAsOfChat, FieldTable::Refusals::kAll);
  return table;
}

}  // namespace daybreak::chat
