// SPDX-License-Identifier: Apache-2.0
#include "chat/responses_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/json_document.h"
#include "base/json_tree.h"
#include "chat/field_table.h"
#include "chat/known_members.h"
#include "chat/request_fields.h"
#include "chat/request_sampling.h"
#include "chat/request_scheduling.h"
#include "chat/request_thinking.h"
#include "chat/response_json.h"
#include "chat/responses_conversation.h"
#include "chat/responses_tools.h"
#include "chat/vendor_contract.h"

namespace daybreak::chat {
namespace {

using Kind = JsonNode::Kind;

JsonTreeLimits tree_limits(const ChatLimits& limits) {
  return {.max_depth = limits.max_depth, .max_values = limits.max_values};
}

void echo_raw(const Field& root, std::string_view key, std::string& out) {
  if (const auto field = root.find(key)) {
    out.clear();
    append_minified(out, field->node().raw);
  }
}

// Reads what `include` asks to be added to the answer.
Status read_include(const Field& root, ResponsesRequest& request) {
  static constexpr auto kOfHostedTools = std::to_array<std::string_view>(
      {"file_search_call.results", "web_search_call.results", "web_search_call.action.sources",
       "message.input_image.image_url", "computer_call_output.output.image_url",
       "code_interpreter_call.outputs"});
  const auto field = root.find("include");
  if (!field) {
    return ok();
  }
  DAYBREAK_TRY(const auto items, field->array(kMaxIgnoredFields));
  for (const Field& item : items) {
    const std::string& text = item.node().text;
    if (text == "reasoning.encrypted_content") {
      request.sealed_reasoning = true;
    } else if (text == "message.output_text.logprobs") {
      request.chat.sampling.logprobs = true;
    } else if (std::ranges::find(kOfHostedTools, std::string_view(text)) != kOfHostedTools.end()) {
      add_ignored(request.chat.ignored_fields, any_item(item.path()));
    } else {
      return item.expected("\"reasoning.encrypted_content\" or \"message.output_text.logprobs\"");
    }
  }
  return ok();
}

// The decoding options are those of the chat route, read from an object with the same names.
Status read_decoding(const Field& root, const ChatLimits& limits, ResponsesRequest& request) {
  static constexpr auto kShared = std::to_array<std::string_view>(
      {"temperature", "top_p", "top_k", "min_p", "typical_p", "repetition_penalty",
       "presence_penalty", "frequency_penalty", "logit_bias", "allowed_token_ids", "bad_words",
       "seed", "stop", "stop_token_ids", "min_tokens", "ignore_eos", "top_logprobs"});
  JsonNode options;
  options.kind = Kind::kObject;
  const auto add = [&options](std::string_view key, JsonNode value) {
    options.keys.emplace_back(key);
    options.items.push_back(std::move(value));
  };
  for (const std::string_view key : kShared) {
    if (const auto field = root.find(key)) {
      add(key, field->node());
    }
  }
  JsonNode logprobs;
  logprobs.kind = Kind::kBoolean;
  const auto top = root.find("top_logprobs");
  logprobs.boolean = request.chat.sampling.logprobs || (top && top->node().raw != "0");
  add("logprobs", std::move(logprobs));
  if (const auto field = root.find("max_output_tokens")) {
    static constexpr std::uint64_t kMax = std::uint64_t{1} << 32;
    DAYBREAK_TRY(const std::uint64_t most, field->integer(1, kMax));
    static_cast<void>(most);
    add("max_completion_tokens", field->node());
  }
  DAYBREAK_TRY(request.chat.sampling, read_sampling(Field(options, ""), limits));
  request.chat.sampling.max_tokens_field = "max_output_tokens";
  return ok();
}

Status read_reasoning(const Field& root, ResponsesRequest& request) {
  const auto field = root.find("reasoning");
  if (!field) {
    return ok();
  }
  DAYBREAK_CHECK_OK(field->object());
  DAYBREAK_CHECK_OK(responses_fields().judge(*field, request.chat.ignored_fields));
  JsonNode options;
  options.kind = Kind::kObject;
  if (const auto effort = field->find("effort")) {
    options.keys.emplace_back("reasoning_effort");
    options.items.push_back(effort->node());
    echo_raw(*field, "effort", request.echo.effort);
  }
  auto thinking = read_thinking(Field(options, ""), request.chat.ignored_fields);
  if (!thinking) {
    static constexpr std::string_view kChatName = "reasoning_effort";
    Error error = std::move(thinking).error();
    if (error.message.starts_with(kChatName)) {
      error.message.replace(0, kChatName.size(), "reasoning.effort");
    }
    return error;
  }
  request.chat.thinking = *thinking;
  return ok();
}

Status read_metadata(const Field& root, ResponsesRequest& request) {
  const auto field = root.find("metadata");
  if (!field) {
    return ok();
  }
  DAYBREAK_CHECK_OK(field->text_pairs());
  echo_raw(root, "metadata", request.echo.metadata);
  return ok();
}

Status read_names(const Field& root, const ChatLimits& limits, ResponsesRequest& request) {
  struct Name {
    std::string_view key;
    std::size_t max_bytes;
    std::string* value;
    std::string* echo;
  };
  std::string unused;
  ResponsesEcho& echo = request.echo;
  for (const Name& name : std::initializer_list<Name>{
           {"model", limits.max_name_bytes, &request.chat.model, &unused},
           {"user", limits.max_id_bytes, &request.chat.user, &echo.user},
           {"prompt_cache_key", limits.max_id_bytes, &request.chat.prompt_cache_key,
            &echo.prompt_cache_key},
           {"safety_identifier", limits.max_id_bytes, &unused, &echo.safety_identifier}}) {
    if (const auto field = root.find(name.key)) {
      DAYBREAK_TRY(*name.value, field->string(name.max_bytes));
      echo_raw(root, name.key, *name.echo);
    }
  }
  return ok();
}

Status read_switches(const Field& root, ResponsesRequest& request) {
  if (const auto field = root.find("store")) {
    DAYBREAK_TRY(request.store, field->boolean());
    request.store_asked = request.store;
  }
  if (const auto field = root.find("stream")) {
    DAYBREAK_TRY(request.chat.stream, field->boolean());
  }
  if (const auto field = root.find("parallel_tool_calls")) {
    DAYBREAK_TRY(request.chat.parallel_tool_calls, field->boolean());
  }
  if (const auto field = root.find("stream_options")) {
    DAYBREAK_CHECK_OK(field->object());
    DAYBREAK_CHECK_OK(responses_fields().judge(*field, request.chat.ignored_fields));
  }
  if (const auto field = root.find("truncation")) {
    if (field->node().text != "auto" && field->node().text != "disabled") {
      return field->expected("\"auto\" or \"disabled\"");
    }
    if (field->node().text == "auto") {  // nothing is ever dropped: too long is an error
      add_ignored(request.chat.ignored_fields, "truncation");
    }
  }
  return ok();
}

Status check_items(std::size_t count, const ChatLimits& limits, const std::string& path) {
  if (count > limits.max_messages) {
    return Error{Errc::kInvalidArgument,
                 path + ": expected at most " + std::to_string(limits.max_messages) +
                     " items in the conversation, found " + std::to_string(count)};
  }
  return ok();
}

// Adds an item that is kept as JSON.
Status add_kept(const ResponsesItem& item, const std::string& path, const ChatLimits& limits,
                ResponsesConversation& conversation) {
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(item.body, tree_limits(limits)));
  return conversation.add(Field(tree, path));
}

Status read_previous(const Field& root, const ResponsesHistory& history, const ChatLimits& limits,
                     ResponsesConversation& conversation, ResponsesRequest& request) {
  const auto field = root.find("previous_response_id");
  if (!field) {
    return ok();
  }
  DAYBREAK_TRY(const std::string id, field->string(limits.max_id_bytes));
  auto items = history.conversation(id);
  if (!items) {
    return field->wrong(items.error().message, items.error().code);
  }
  request.previous = *std::move(items);
  DAYBREAK_CHECK_OK(check_items(request.previous.size(), limits, field->path()));
  for (const ResponsesItemPtr& item : request.previous) {
    DAYBREAK_CHECK_OK(add_kept(*item, field->path(), limits, conversation));
  }
  echo_raw(root, field->path(), request.echo.previous_response_id);
  return ok();
}

Status read_item(const Field& item, const ResponsesHistory& history, const ChatLimits& limits,
                 ResponsesConversation& conversation, ResponsesRequest& request) {
  DAYBREAK_TRY(const std::string type, responses_item_type(item));
  if (type != "item_reference") {
    DAYBREAK_CHECK_OK(conversation.add(item));
    request.input.push_back(std::make_shared<const ResponsesItem>(kept_item(item)));
    return ok();
  }
  const auto field = item.find("id");
  if (!field) {
    return Error{Errc::kInvalidArgument,
                 item.path_of("id") + ": expected the id of an item, found nothing"};
  }
  DAYBREAK_TRY(const std::string id, field->string(limits.max_id_bytes));
  auto kept = history.item(id);
  if (!kept) {
    return field->wrong(kept.error().message, kept.error().code);
  }
  DAYBREAK_CHECK_OK(add_kept(**kept, item.path(), limits, conversation));
  request.input.push_back(*std::move(kept));
  return ok();
}

Status read_input(const Field& root, const ResponsesHistory& history, const ChatLimits& limits,
                  ResponsesConversation& conversation, ResponsesRequest& request) {
  const auto input = root.find("input");
  if (!input && request.previous.empty()) {
    return Error{Errc::kInvalidArgument,
                 "input: expected a string or an array of items, found nothing"};
  }
  if (!input) {
    return ok();
  }
  if (input->is(Kind::kString)) {
    conversation.add_user(input->node().text, "input");
    std::string body = R"({"type":"message","role":"user","content":[{"type":"input_text","text":)";
    append_json_text(body, input->node().text);
    request.input.push_back(
        std::make_shared<const ResponsesItem>(ResponsesItem{.id = {}, .body = body + "}]}"}));
    return ok();
  }
  if (!input->is(Kind::kArray)) {
    return input->expected("a string or an array of items");
  }
  DAYBREAK_TRY(const auto items, input->array(limits.max_messages));
  DAYBREAK_CHECK_OK(check_items(request.previous.size() + items.size(), limits, "input"));
  if (items.empty() && request.previous.empty()) {
    return input->wrong("expected at least one item");
  }
  for (const Field& item : items) {
    DAYBREAK_CHECK_OK(read_item(item, history, limits, conversation, request));
  }
  return ok();
}

// The conversation in the order of the prompt: instructions, what came before, what is new.
Status read_conversation(const Field& root, const ResponsesHistory& history,
                         const ChatLimits& limits, ResponsesRequest& request) {
  ResponsesConversation conversation(limits, request.chat.ignored_fields);
  if (const auto field = root.find("instructions")) {
    DAYBREAK_TRY(std::string text, field->string(std::numeric_limits<std::size_t>::max()));
    if (!text.empty()) {
      conversation.add_system(std::move(text), "instructions");
    }
    echo_raw(root, "instructions", request.echo.instructions);
  }
  DAYBREAK_CHECK_OK(read_previous(root, history, limits, conversation, request));
  DAYBREAK_CHECK_OK(read_input(root, history, limits, conversation, request));
  conversation.finish();
  request.chat.messages = std::move(conversation.messages());
  request.sources = std::move(conversation.sources());
  return ok();
}

Status read_forms(const Field& root, const ChatLimits& limits, ResponsesRequest& request) {
  DAYBREAK_TRY(ResponsesTools tools, read_responses_tools(root, limits));
  DAYBREAK_TRY(ResponsesText text,
               read_responses_text(root, tools.choice, limits, request.chat.ignored_fields));
  request.chat.tools = std::move(tools.tools);
  request.tool_paths = std::move(tools.paths);
  request.chat.tool_choice = std::move(tools.choice);
  request.chat.response_format = std::move(text.format);
  request.chat.output = std::move(text.output);
  echo_raw(root, "tools", request.echo.tools);
  echo_raw(root, "tool_choice", request.echo.tool_choice);
  if (const auto field = root.find("text")) {
    echo_raw(*field, "format", request.echo.format);
  }
  return ok();
}

// Splits "PREFIX[N]REST"; returns N and REST.
std::optional<std::pair<std::size_t, std::string_view>> indexed(std::string_view text,
                                                                std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  std::size_t number = 0;
  const auto [at, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  if (fault != std::errc{} || !text.starts_with(']')) {
    return std::nullopt;
  }
  return std::pair(number, text.substr(1));
}

}  // namespace

Result<ResponsesRequest> parse_responses_request(std::string_view json,
                                                 const ResponsesHistory& history,
                                                 const ChatLimits& limits) {
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(json, tree_limits(limits)));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  ResponsesRequest request;
  std::vector<std::string>& ignored = request.chat.ignored_fields;
  DAYBREAK_CHECK_OK(responses_fields().judge(root, ignored));
  add_unknown_members(root, responses_members(), ignored);
  DAYBREAK_CHECK_OK(check_vendor_contract(root, limits.contract));
  DAYBREAK_CHECK_OK(read_names(root, limits, request));
  DAYBREAK_CHECK_OK(read_scheduling(root, limits, request.chat));
  DAYBREAK_CHECK_OK(read_switches(root, request));
  DAYBREAK_CHECK_OK(read_metadata(root, request));
  DAYBREAK_CHECK_OK(read_forms(root, limits, request));
  DAYBREAK_CHECK_OK(read_conversation(root, history, limits, request));
  DAYBREAK_CHECK_OK(read_include(root, request));
  DAYBREAK_CHECK_OK(read_decoding(root, limits, request));
  DAYBREAK_CHECK_OK(read_reasoning(root, request));
  echo_raw(root, "max_output_tokens", request.echo.max_output_tokens);
  if (const auto field = root.find("max_tool_calls")) {
    DAYBREAK_TRY(const std::uint64_t count,
                 field->integer(0, std::numeric_limits<std::uint32_t>::max()));
    request.echo.max_tool_calls = std::to_string(count);
  }
  return request;
}

std::string in_responses_terms(std::string_view text, const ResponsesRequest& request) {
  static constexpr std::string_view kCallId = ".tool_call_id";
  static constexpr std::string_view kFunction = ".function";
  if (auto found = indexed(text, "messages["); found && found->first < request.sources.size()) {
    std::string_view rest = found->second;
    std::string out = request.sources[found->first];
    if (rest.starts_with(kCallId)) {
      rest.remove_prefix(kCallId.size());
      out += ".call_id";
    }
    return out + std::string(rest);
  }
  if (auto found = indexed(text, "tools["); found && found->first < request.tool_paths.size()) {
    std::string_view rest = found->second;
    if (rest.starts_with(kFunction)) {
      rest.remove_prefix(kFunction.size());
    }
    return request.tool_paths[found->first] + std::string(rest);
  }
  if (text.starts_with("messages: ")) {
    return "input" + std::string(text.substr(text.find(':')));
  }
  return std::string(text);
}

}  // namespace daybreak::chat
