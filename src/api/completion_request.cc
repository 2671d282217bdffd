// SPDX-License-Identifier: Apache-2.0
#include "api/completion_request.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/json_tree.h"
#include "chat/field_table.h"
#include "chat/known_members.h"
#include "chat/request_output.h"
#include "chat/request_sampling.h"
#include "chat/request_scheduling.h"
#include "chat/request_tools.h"
#include "chat/vendor_contract.h"

namespace daybreak::api {
namespace {

using chat::ChatLimits;
using chat::Field;

// OpenAI's default of this route.
constexpr std::uint64_t kDefaultMaxTokens = 16;
// Values of a body beside its token ids.
constexpr std::size_t kOtherValues = 250'000;

// Prompts are told apart by their first item; an item of another kind is then the error.
Result<std::vector<CompletionPrompt>> read_prompts(const Field& field, const ChatLimits& limits) {
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
    DAYBREAK_TRY(std::vector<TokenId> ids, read_token_ids(field, limits));
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
      DAYBREAK_TRY(prompt.ids, read_token_ids(item, limits));
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
    DAYBREAK_CHECK_OK(chat::completion_fields().judge(*options, request.common.ignored_fields));
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
  for (const std::string_view key : {"logprobs", "top_logprobs", "max_tokens"}) {
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

Result<std::vector<TokenId>> read_token_ids(const Field& field, const ChatLimits& limits) {
  DAYBREAK_TRY(const auto items, field.array(std::numeric_limits<std::size_t>::max()));
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
  DAYBREAK_CHECK_OK(chat::completion_fields().judge(root, request.common.ignored_fields));
  chat::add_unknown_members(root, chat::completion_members(), request.common.ignored_fields);
  DAYBREAK_CHECK_OK(chat::check_vendor_contract(root, limits.contract));
  const auto prompt = root.find("prompt");
  if (!prompt) {
    return Error{Errc::kInvalidArgument,
                 "prompt: expected a string, an array of strings, token ids or arrays of token "
                 "ids, found nothing"};
  }
  DAYBREAK_TRY(request.prompts, read_prompts(*prompt, limits));
  DAYBREAK_CHECK_OK(read_flags(root, request));
  DAYBREAK_CHECK_OK(read_counts(root, limits, request));
  DAYBREAK_CHECK_OK(read_common(root, limits, request.common));
  DAYBREAK_CHECK_OK(read_decoding(tree, limits, request));
  return request;
}

}  // namespace daybreak::api
