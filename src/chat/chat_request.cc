// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_request.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/json_tree.h"
#include "chat/field_table.h"
#include "chat/known_members.h"
#include "chat/request_fields.h"
#include "chat/request_messages.h"
#include "chat/request_output.h"
#include "chat/request_sampling.h"
#include "chat/request_scheduling.h"
#include "chat/request_thinking.h"
#include "chat/request_tools.h"
#include "chat/vendor_contract.h"

namespace daybreak::chat {
namespace {

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
  if (const auto field = root.find("n")) {
    DAYBREAK_TRY(const std::uint64_t n, field->integer(1, limits.max_choices));
    request.n = static_cast<std::uint32_t>(n);
  }
  return ok();
}

Status read_stream_options(const Field& root, ChatRequest& request) {
  const auto options = root.find("stream_options");
  if (!options) {
    return ok();
  }
  DAYBREAK_CHECK_OK(options->object());
  DAYBREAK_CHECK_OK(chat_fields().judge(*options, request.ignored_fields));
  if (const auto field = options->find("include_usage")) {
    DAYBREAK_TRY(request.include_usage, field->boolean());
  }
  if (const auto field = options->find("include_internal_content")) {
    DAYBREAK_TRY(request.include_internal_content, field->boolean());
  }
  return ok();
}

// vLLM's spelling of partial mode. With it goes add_generation_prompt false, which alone would
// leave nothing to continue.
Status read_continuation(const Field& root, ChatRequest& request) {
  const auto field = root.find("continue_final_message");
  if (!field) {
    return ok();
  }
  DAYBREAK_TRY(const bool wanted, field->boolean());
  if (!wanted) {
    return ok();
  }
  Message& last = request.messages.back();
  if (last.role != Role::kAssistant || !last.tool_calls.empty()) {
    return field->wrong("expected an assistant message without tool_calls at the end, found none");
  }
  if (const auto prompt = root.find("add_generation_prompt"); prompt && prompt->node().boolean) {
    return field->wrong("cannot be combined with \"add_generation_prompt\": true");
  }
  last.partial = true;
  request.add_generation_prompt = true;
  return ok();
}

Status read_strings(const Field& root, const ChatLimits& limits, ChatRequest& request) {
  if (const auto field = root.find("model")) {
    DAYBREAK_TRY(request.model, field->string(limits.max_name_bytes));
  }
  struct Kept {
    std::string_view key;
    std::string ChatRequest::* value;
  };
  static constexpr std::array<Kept, 3> kKept = {{
      {"user", &ChatRequest::user},
      {"safety_identifier", &ChatRequest::safety_identifier},
      {"prompt_cache_key", &ChatRequest::prompt_cache_key},
  }};
  for (const Kept& kept : kKept) {
    if (const auto field = root.find(kept.key)) {
      DAYBREAK_TRY(request.*kept.value, field->string(limits.max_id_bytes));
    }
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
  DAYBREAK_CHECK_OK(chat_fields().judge(root, request.ignored_fields));
  add_unknown_members(root, chat_members(), request.ignored_fields);
  DAYBREAK_CHECK_OK(check_vendor_contract(root, limits.contract));
  DAYBREAK_CHECK_OK(read_strings(root, limits, request));
  DAYBREAK_CHECK_OK(read_scheduling(root, limits, request));
  DAYBREAK_CHECK_OK(read_conversation(root, limits, request));
  DAYBREAK_TRY(request.thinking, read_thinking(root, request.ignored_fields));
  DAYBREAK_TRY(request.sampling, read_sampling(root, limits));
  DAYBREAK_CHECK_OK(read_flags(root, limits, request));
  DAYBREAK_CHECK_OK(read_stream_options(root, request));
  DAYBREAK_CHECK_OK(read_continuation(root, request));
  if (const auto format = root.find("response_format")) {
    DAYBREAK_TRY(request.response_format, read_response_format(*format, limits));
  }
  DAYBREAK_CHECK_OK(check_verbosity(root));
  DAYBREAK_TRY(request.output,
               read_output_form(root, request.response_format, request.tool_choice, limits));
  return request;
}

}  // namespace daybreak::chat
