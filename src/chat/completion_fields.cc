// SPDX-License-Identifier: Apache-2.0
// The fields of raw completions, and of the routes that turn text and token ids into each other.

#include <array>

#include "chat/field_schemas.h"
#include "chat/field_table.h"

namespace daybreak::chat {
namespace {

using enum FieldApi;
using enum FieldVerdict;
constexpr FieldVerdict kYes = FieldVerdict::kHonoured;

constexpr std::string_view kNothingToAdd = "accepted: this tokenizer has no token to add";
constexpr std::string_view kSpelled = "false: special tokens spelled in a text are text";

constexpr std::string_view kNoTurns = "reasoning and tools belong to `/v1/chat/completions`";

constexpr auto kCompletion = std::to_array<FieldRule>({
    {"prompt", kOpenAi, kYes,
     R"({"anyOf":[{"type":"string"},{"type":"array","minItems":1,"items":{"type":"string"}},)"
     R"({"type":"array","minItems":1,"items":{"type":"integer","minimum":0}},)"
     R"({"type":"array","minItems":1,"items":{"type":"array","minItems":1,)"
     R"("items":{"type":"integer","minimum":0}}}]})",
     "a string, token ids, or an array of either; at most 128"},
    {"max_tokens", kOpenAi, kYes, kAnyLength, "16 unless given; 0 generates nothing"},
    {"best_of", kOpenAi, kYes, kChoices, "equal to `n`"},
    {"echo", kOpenAi, kYes, kBoolean, "true: the prompt before the text"},
    {"logprobs", kOpenAi, kYes, kAlternatives, "0 to 20 alternatives of every sampled token"},
    {"prompt_logprobs", kVllm, kYes, kAlternatives, "0 to 20, of the prompt; not streamed"},
    {"add_special_tokens", kVllm, kYes, kBoolean, kNothingToAdd},
    {"allow_special", kOther, kYes, kBoolean, kSpelled},
    {"skip_special_tokens", kVllm, kYes, kBoolean, "false: special tokens of the answer are shown"},
    {"return_token_ids", kVllm, kYes, kBoolean, "true: `prompt_token_ids` and `token_ids`"},
    {"return_tokens_as_token_ids", kVllm, kYes, kBoolean,
     "true: log-probabilities name tokens `token_id:N`"},
    {"stream_options", kOpenAi, kYes, kObject, "an object of the next one"},
    {"stream_options.include_usage", kOpenAi, kYes, kBoolean, "true: a chunk of usage at the end"},
    {"response_format", kOpenAi, kYes, kObject, "enforced; nothing of it is in the prompt"},

    {"max_completion_tokens", kOpenAi, kRefused, "", "not a field of this route: say `max_tokens`"},
    {"messages", kOpenAi, kRefused, "",
     "not a field of this route: say `prompt`, or ask /v1/chat/completions"},
    {"functions", kOpenAi, kRefused, "[]", kNoTurns},
    {"function_call", kOpenAi, kRefused, R"("none" or "auto")", kNoTurns},
    {"web_search_options", kOpenAi, kRefused, "", kNoTurns},
    {"reasoning", kOther, kRefused, "", kNoTurns},
    {"include_reasoning", kVllm, kRefused, "true", kNoTurns},
    {"separate_reasoning", kOther, kRefused, "true", kNoTurns},
    {"stream_reasoning", kOther, kRefused, "true", kNoTurns},
    {"verbosity", kOpenAi, kRefused, R"("medium")", "not a field of this route"},
    {"suffix", kOpenAi, kRefused, "", "this model continues a text, it does not fill gaps"},
});

constexpr std::string_view kAsOfChat =
    "model temperature top_p top_k min_p typical_p repetition_penalty presence_penalty "
    "frequency_penalty logit_bias allowed_token_ids bad_words seed n min_tokens stop "
    "stop_token_ids ignore_eos stream structured_outputs guided_json guided_regex "
    "guided_choice guided_grammar guided_json_object user cache_salt priority service_tier "
    "stream_options.include_obfuscation stream_options.continuous_usage_stats request_id "
    "guided_decoding_backend";

constexpr auto kTokenize = std::to_array<FieldRule>({
    {"prompt", kVllm, kYes, kText, "the text; without it `messages`"},
    {"add_special_tokens", kVllm, kYes, kBoolean, kNothingToAdd},
    {"allow_special", kOther, kYes, kBoolean, kSpelled},
    {"return_token_strs", kVllm, kYes, kBoolean, "true: the bytes of each token, as text"},
});

constexpr std::string_view kConversation =
    "model messages tools tool_choice thinking reasoning_effort chat_template_kwargs "
    "response_format continue_final_message add_generation_prompt";

constexpr auto kDetokenize = std::to_array<FieldRule>({
    {"tokens", kVllm, kYes, kIds, "the ids"},
});

constexpr std::string_view kModel = "model";

}  // namespace

const FieldTable& completion_fields() {
  static const FieldTable table(kCompletion, chat_fields(), kAsOfChat, FieldTable::Refusals::kAll);
  return table;
}

const FieldTable& tokenize_fields() {
  static const FieldTable table(kTokenize, chat_fields(), kConversation);
  return table;
}

const FieldTable& detokenize_fields() {
  static const FieldTable table(kDetokenize, chat_fields(), kModel);
  return table;
}

}  // namespace daybreak::chat
