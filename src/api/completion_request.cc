// SPDX-License-Identifier: Apache-2.0
#include "api/completion_request.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/json_document.h"
#include "base/json_tree.h"
#include "chat/request_output.h"
#include "chat/request_sampling.h"
#include "chat/request_scheduling.h"
#include "chat/request_tools.h"

namespace daybreak::api {
namespace {

using chat::ChatLimits;
using chat::Field;

constexpr std::size_t kMaxIgnoredFields = 32;
// OpenAI's default of this route.
constexpr std::uint64_t kDefaultMaxTokens = 16;
// Values of a body beside its token ids.
constexpr std::size_t kOtherValues = 250'000;

constexpr std::string_view kBoolean = R"({"type":"boolean"})";
constexpr std::string_view kObject = R"({"type":"object"})";
constexpr std::string_view kText = R"({"type":"string"})";
constexpr std::string_view kCount = R"({"type":"integer","minimum":0})";
constexpr std::string_view kAlternatives = R"({"type":"integer","minimum":0,"maximum":20})";
constexpr std::string_view kPenalty = R"({"type":"number","minimum":-2,"maximum":2})";
constexpr std::string_view kShare = R"({"type":"number","minimum":0,"maximum":1})";
constexpr std::string_view kAboveZero = R"({"type":"number","exclusiveMinimum":0,"maximum":1})";
constexpr std::string_view kIds = R"({"type":"array","items":{"type":"integer","minimum":0}})";
constexpr std::string_view kTexts =
    R"({"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]})";
constexpr std::string_view kPrompt =
    R"({"anyOf":[{"type":"string"},{"type":"array","minItems":1,"items":{"type":"string"}},)"
    R"({"type":"array","minItems":1,"items":{"type":"integer","minimum":0}},)"
    R"({"type":"array","minItems":1,"items":{"type":"array","minItems":1,)"
    R"("items":{"type":"integer","minimum":0}}}]})";

constexpr auto kFields = std::to_array<RequestField>({
    {"model", kText},
    {"prompt", kPrompt},
    {"suffix", R"({"type":"null"})"},
    {"max_tokens", kCount},
    {"min_tokens", kCount},
    {"n", R"({"type":"integer","minimum":1,"maximum":8})"},
    {"best_of", R"({"type":"integer","minimum":1,"maximum":8})"},
    {"echo", kBoolean},
    {"stream", kBoolean},
    {"stream_options", kObject},
    {"logprobs", kAlternatives},
    {"prompt_logprobs", kAlternatives},
    {"temperature", R"({"type":"number","minimum":0,"maximum":2})"},
    {"top_p", kAboveZero},
    {"top_k", R"({"type":"integer","minimum":-1})"},
    {"min_p", kShare},
    {"typical_p", kAboveZero},
    {"repetition_penalty", R"({"type":"number","minimum":0.01,"maximum":10})"},
    {"presence_penalty", kPenalty},
    {"frequency_penalty", kPenalty},
    {"logit_bias", kObject},
    {"seed", R"({"type":"integer"})"},
    {"stop", kTexts},
    {"stop_token_ids", kIds},
    {"ignore_eos", kBoolean},
    {"user", kText},
    {"cache_salt", R"({"type":"string","minLength":1})"},
    {"priority", R"({"type":"integer"})"},
    {"service_tier", kText},
    {"add_special_tokens", kBoolean},
    {"allow_special", kBoolean},
    {"skip_special_tokens", kBoolean},
    {"return_token_ids", kBoolean},
    {"return_tokens_as_token_ids", kBoolean},
    {"response_format", kObject},
    {"structured_outputs", kObject},
    {"guided_json", R"({"type":["object","string"]})"},
    {"guided_regex", kText},
    {"guided_choice", R"({"type":"array","items":{"type":"string"}})"},
    {"guided_grammar", kText},
    {"guided_json_object", kBoolean},
    {"guided_whitespace_pattern", R"({"type":"null"})"},
});

void note_ignored(const Field& root, std::vector<std::string>& ignored) {
  for (const std::string& key : root.node().keys) {
    const bool known = std::ranges::any_of(kFields, [&](const auto& f) { return f.name == key; });
    if (!known && ignored.size() < kMaxIgnoredFields) {
      ignored.push_back(printable(key, 64));
    }
  }
}

// Prompts are told apart by their first item; an item of another kind is then the error.
Result<std::vector<CompletionPrompt>> read_prompts(const Field& field, const ChatLimits& limits,
                                                   std::size_t context_tokens) {
  using Kind = JsonNode::Kind;
  constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max();
  if (field.is(Kind::kString)) {
    return std::vector{
        CompletionPrompt{.path = field.path(), .text = field.node().text, .ids = {}}};
  }
  if (!field.is(Kind::kArray) || field.node().items.empty()) {
    return field.expected("a string, an array of strings, token ids or arrays of token ids");
  }
  if (field.node().items.front().is(Kind::kNumber)) {
    DAYBREAK_TRY(std::vector<TokenId> ids, read_token_ids(field, limits, context_tokens));
    return std::vector{CompletionPrompt{.path = field.path(), .text = {}, .ids = std::move(ids)}};
  }
  const bool texts = field.node().items.front().is(Kind::kString);
  std::vector<CompletionPrompt> prompts;
  DAYBREAK_TRY(const auto items, field.array(kMaxCompletionPrompts));
  for (const Field& item : items) {
    CompletionPrompt prompt{.path = item.path(), .text = {}, .ids = {}};
    if (texts) {
      DAYBREAK_TRY(prompt.text, item.string(kAnyBytes));
    } else if (!item.is(Kind::kArray)) {
      return item.expected("an array of token ids");
    } else {
      DAYBREAK_TRY(prompt.ids, read_token_ids(item, limits, context_tokens));
    }
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

Status read_flags(const Field& root, CompletionRequest& request) {
  bool add_special_tokens = true;  // the tokenizer of K3 has none to add
  bool allow_special = true;
  const std::array<std::pair<std::string_view, bool*>, 7> flags = {{
      {"echo", &request.echo},
      {"stream", &request.common.stream},
      {"add_special_tokens", &add_special_tokens},
      {"allow_special", &allow_special},
      {"skip_special_tokens", &request.skip_special_tokens},
      {"return_token_ids", &request.return_token_ids},
      {"return_tokens_as_token_ids", &request.tokens_as_ids},
  }};
  for (const auto& [key, value] : flags) {
    if (const auto field = root.find(key)) {
      DAYBREAK_TRY(*value, field->boolean());
    }
  }
  request.allow_special =
      allow_special ? tokenizer::AllowSpecial::kYes : tokenizer::AllowSpecial::kNo;
  request.common.include_usage = false;
  if (const auto options = root.find("stream_options")) {
    DAYBREAK_CHECK_OK(options->object());
    if (const auto field = options->find("include_usage")) {
      DAYBREAK_TRY(request.common.include_usage, field->boolean());
    }
  }
  return ok();
}

Status read_counts(const Field& root, const ChatLimits& limits, CompletionRequest& request) {
  if (const auto field = root.find("n")) {
    DAYBREAK_TRY(const std::uint64_t n, field->integer(1, limits.max_choices));
    request.common.n = static_cast<std::uint32_t>(n);
  }
  if (const auto field = root.find("best_of")) {
    DAYBREAK_TRY(const std::uint64_t best_of, field->integer(1, limits.max_choices));
    if (best_of != request.common.n) {
      return field->wrong("not supported other than equal to n, which is " +
                          std::to_string(request.common.n));
    }
  }
  for (const auto& [key, value] : {std::pair{"logprobs", &request.logprobs},
                                   std::pair{"prompt_logprobs", &request.prompt_logprobs}}) {
    if (const auto field = root.find(key)) {
      DAYBREAK_TRY(const std::uint64_t count, field->integer(0, kMaxCompletionLogprobs));
      *value = static_cast<std::uint32_t>(count);
    }
  }
  if (request.prompt_logprobs && request.common.stream) {
    return root.find("prompt_logprobs")->wrong("not available with \"stream\": true");
  }
  return ok();
}

// max_tokens, which may be 0 here; read_sampling() knows it as 1 or more.
Result<std::uint64_t> read_max_tokens(const Field& root) {
  const auto field = root.find("max_tokens");
  if (!field) {
    return kDefaultMaxTokens;
  }
  return field->integer(0, std::uint64_t{1} << 32);
}

Status read_common(const Field& root, const ChatLimits& limits, chat::ChatRequest& request) {
  if (const auto field = root.find("model")) {
    DAYBREAK_TRY(request.model, field->string(limits.max_name_bytes));
  }
  if (const auto field = root.find("user")) {
    DAYBREAK_TRY(request.user, field->string(limits.max_id_bytes));
  }
  DAYBREAK_CHECK_OK(chat::read_scheduling(root, limits, request));
  if (const auto format = root.find("response_format")) {
    DAYBREAK_TRY(request.response_format, chat::read_response_format(*format, limits));
  }
  DAYBREAK_TRY(request.output,
               chat::read_output_form(root, request.response_format, request.tool_choice, limits));
  return ok();
}

void erase_member(JsonNode& object, std::string_view key) {
  const auto found = std::ranges::find(object.keys, key);
  if (found != object.keys.end()) {
    object.items.erase(object.items.begin() + (found - object.keys.begin()));
    object.keys.erase(found);
  }
}

// The decoding options as a chat request has them, without the fields that mean something else
// there. Overwrites `tree`.
Status read_decoding(JsonNode& tree, const ChatLimits& limits, CompletionRequest& request) {
  const bool given = Field(tree, "").find("max_tokens").has_value();
  DAYBREAK_TRY(const std::uint64_t max_tokens, read_max_tokens(Field(tree, "")));
  for (const std::string_view key :
       {"logprobs", "top_logprobs", "max_tokens", "max_completion_tokens"}) {
    erase_member(tree, key);
  }
  const Field root(tree, "");
  chat::SamplingOptions& sampling = request.common.sampling;
  DAYBREAK_TRY(sampling, chat::read_sampling(root, limits));
  request.max_tokens_given = given;
  sampling.max_tokens = max_tokens;
  sampling.max_tokens_field = "max_tokens";
  if (sampling.min_tokens > max_tokens) {
    return root.find("min_tokens")
        ->wrong("expected at most max_tokens, which is " + std::to_string(max_tokens) + ", found " +
                std::to_string(sampling.min_tokens));
  }
  sampling.logprobs = request.logprobs.has_value();
  sampling.top_logprobs = request.logprobs.value_or(0);
  return ok();
}

}  // namespace

std::span<const RequestField> completion_fields() { return kFields; }

Result<std::vector<TokenId>> read_token_ids(const Field& field, const ChatLimits& limits,
                                            std::size_t max_ids) {
  DAYBREAK_TRY(const auto items, field.array(max_ids));
  const std::uint64_t max_id =
      limits.vocab_size > 0 ? limits.vocab_size - 1 : std::numeric_limits<TokenId>::max();
  std::vector<TokenId> ids;
  ids.reserve(items.size());
  for (const Field& item : items) {
    DAYBREAK_TRY(const std::uint64_t id, item.integer(0, max_id));
    ids.push_back(static_cast<TokenId>(id));
  }
  return ids;
}

Result<CompletionRequest> parse_completion_request(std::string_view json, const ChatLimits& limits,
                                                   std::size_t context_tokens) {
  DAYBREAK_TRY(JsonNode tree, parse_json_tree(json, {.max_depth = limits.max_depth,
                                                     .max_values = kOtherValues + context_tokens}));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  CompletionRequest request;
  note_ignored(root, request.common.ignored_fields);
  if (const auto suffix = root.find("suffix")) {
    return suffix->wrong("not supported: this model continues a text, it does not fill gaps");
  }
  const auto prompt = root.find("prompt");
  if (!prompt) {
    return Error{Errc::kInvalidArgument,
                 "prompt: expected a string, an array of strings, token ids or arrays of token "
                 "ids, found nothing"};
  }
  DAYBREAK_TRY(request.prompts, read_prompts(*prompt, limits, context_tokens));
  DAYBREAK_CHECK_OK(read_flags(root, request));
  DAYBREAK_CHECK_OK(read_counts(root, limits, request));
  DAYBREAK_CHECK_OK(read_common(root, limits, request.common));
  DAYBREAK_CHECK_OK(read_decoding(tree, limits, request));
  return request;
}

}  // namespace daybreak::api
