// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_request.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/json_document.h"
#include "base/json_tree.h"
#include "chat/request_fields.h"
#include "chat/request_messages.h"
#include "chat/request_output.h"
#include "chat/request_sampling.h"
#include "chat/request_thinking.h"
#include "chat/request_tools.h"

namespace daybreak::chat {
namespace {

constexpr auto kKnownFields = std::to_array<std::string_view>({"model",
                                                               "messages",
                                                               "tools",
                                                               "tool_choice",
                                                               "parallel_tool_calls",
                                                               "response_format",
                                                               "structured_outputs",
                                                               "guided_json",
                                                               "guided_regex",
                                                               "guided_choice",
                                                               "guided_grammar",
                                                               "guided_json_object",
                                                               "guided_whitespace_pattern",
                                                               "temperature",
                                                               "top_p",
                                                               "top_k",
                                                               "min_p",
                                                               "typical_p",
                                                               "repetition_penalty",
                                                               "presence_penalty",
                                                               "frequency_penalty",
                                                               "logit_bias",
                                                               "seed",
                                                               "logprobs",
                                                               "top_logprobs",
                                                               "max_tokens",
                                                               "max_completion_tokens",
                                                               "min_tokens",
                                                               "stop",
                                                               "stop_token_ids",
                                                               "ignore_eos",
                                                               "n",
                                                               "stream",
                                                               "stream_options",
                                                               "thinking",
                                                               "reasoning_effort",
                                                               "chat_template_kwargs",
                                                               "user",
                                                               "prompt_cache_key",
                                                               "add_generation_prompt"});
constexpr std::size_t kMaxIgnoredFields = 32;  // listed; more are ignored without being named

void note_ignored(const Field& root, std::vector<std::string>& ignored) {
  for (const std::string& key : root.node().keys) {
    if (std::ranges::find(kKnownFields, std::string_view(key)) == kKnownFields.end()) {
      ignored.push_back(printable(key, 64));
    }
  }
}

Status read_flags(const Field& root, const ChatLimits& limits, ChatRequest& request) {
  struct Flag {
    std::string_view key;
    bool ChatRequest::* value;
  };
  static constexpr std::array<Flag, 3> kFlags = {{
      {"stream", &ChatRequest::stream},
      {"parallel_tool_calls", &ChatRequest::parallel_tool_calls},
      {"add_generation_prompt", &ChatRequest::add_generation_prompt},
  }};
  for (const Flag& flag : kFlags) {
    if (const auto field = root.find(flag.key)) {
      DAYBREAK_TRY(request.*flag.value, field->boolean());
    }
  }
  if (const auto options = root.find("stream_options")) {
    DAYBREAK_CHECK_OK(options->object());
    if (const auto field = options->find("include_usage")) {
      DAYBREAK_TRY(request.include_usage, field->boolean());
    }
  }
  if (const auto field = root.find("n")) {
    DAYBREAK_TRY(const std::uint64_t n, field->integer(1, limits.max_choices));
    request.n = static_cast<std::uint32_t>(n);
  }
  return ok();
}

Status read_strings(const Field& root, const ChatLimits& limits, ChatRequest& request) {
  if (const auto field = root.find("model")) {
    DAYBREAK_TRY(request.model, field->string(limits.max_name_bytes));
  }
  if (const auto field = root.find("user")) {
    DAYBREAK_TRY(request.user, field->string(limits.max_id_bytes));
  }
  if (const auto field = root.find("prompt_cache_key")) {
    DAYBREAK_TRY(request.prompt_cache_key, field->string(limits.max_id_bytes));
  }
  return ok();
}

// Tools and messages first: tool_choice may refer to any declared tool.
Status read_conversation(const Field& root, const ChatLimits& limits, ChatRequest& request) {
  std::set<std::string, std::less<>> names;
  if (const auto tools = root.find("tools")) {
    DAYBREAK_TRY(request.tools, read_tools(*tools, limits, names));
  }
  const auto messages = root.find("messages");
  if (!messages) {
    return Error{Errc::kInvalidArgument, "messages: expected an array, found nothing"};
  }
  DAYBREAK_TRY(request.messages, read_messages(*messages, limits, names));
  if (const auto choice = root.find("tool_choice")) {
    DAYBREAK_TRY(request.tool_choice, read_tool_choice(*choice, names));
  }
  return ok();
}

}  // namespace

bool ChatRequest::tools_allowed() const {
  return tool_choice.kind != ToolChoiceKind::kNone &&
         (!tools.empty() ||
          std::ranges::any_of(messages, [](const Message& m) { return !m.tools.empty(); }));
}

Result<ChatRequest> parse_chat_request(std::string_view json, const ChatLimits& limits) {
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(json, {.max_depth = limits.max_depth,
                                                           .max_values = limits.max_values}));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  ChatRequest request;
  note_ignored(root, request.ignored_fields);
  DAYBREAK_CHECK_OK(read_strings(root, limits, request));
  DAYBREAK_CHECK_OK(read_conversation(root, limits, request));
  DAYBREAK_TRY(request.thinking, read_thinking(root, request.ignored_fields));
  DAYBREAK_TRY(request.sampling, read_sampling(root, limits));
  DAYBREAK_CHECK_OK(read_flags(root, limits, request));
  if (const auto format = root.find("response_format")) {
    DAYBREAK_TRY(request.response_format, read_response_format(*format, limits));
  }
  DAYBREAK_TRY(request.output,
               read_output_form(root, request.response_format, request.tool_choice, limits));
  if (request.ignored_fields.size() > kMaxIgnoredFields) {
    request.ignored_fields.resize(kMaxIgnoredFields);
  }
  return request;
}

}  // namespace daybreak::chat
