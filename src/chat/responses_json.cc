// SPDX-License-Identifier: Apache-2.0
#include "chat/responses_json.h"

#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

using Kind = ResponsesOutput::Kind;

// An object in the making: members in the order they are added.
class Object {
 public:
  Object& raw(std::string_view key, std::string_view json) {
    out_ += out_.size() > 1 ? ",\"" : "\"";
    out_ += key;
    out_ += "\":";
    out_ += json;
    return *this;
  }
  Object& text(std::string_view key, std::string_view value) {
    raw(key, "");
    append_json_text(out_, value);
    return *this;
  }
  Object& count(std::string_view key, std::uint64_t value) {
    return raw(key, std::to_string(value));
  }
  [[nodiscard]] std::string json() const { return out_ + "}"; }

 private:
  std::string out_ = "{";
};

std::string list(std::string_view one) { return "[" + std::string(one) + "]"; }

// The members of an item after its id. `logprobs`: whether those of a message are shown.
void add_body(Object& object, const ResponsesOutput& item, ItemForm form, bool logprobs) {
  const bool opened = form == ItemForm::kOpened;
  switch (item.kind) {
    case Kind::kReasoning:
      object.text("type", "reasoning").raw("summary", "[]");
      object.raw("content", opened ? "[]" : list(content_part_json(item, form)));
      if (form == ItemForm::kSealed) {
        object.text("encrypted_content", std::string(kReasoningSeal) + item.text);
      }
      break;
    case Kind::kMessage:
      object.text("type", "message").text("role", "assistant");
      if (opened) {
        object.raw("content", "[]");
      } else if (logprobs) {
        object.raw("content", list(content_part_json(item, form)));
      } else {
        ResponsesOutput bare{
            .kind = item.kind, .id = {}, .text = item.text, .call_id = {}, .name = {}};
        object.raw("content", list(content_part_json(bare, form)));
      }
      break;
    case Kind::kFunctionCall:
      object.text("type", "function_call").text("call_id", item.call_id);
      object.text("name", item.name).text("arguments", opened ? "" : item.text);
      break;
  }
  object.text("status", to_string(item.status));
}

std::string usage_object(const TokenUsage& usage) {
  Object out;
  out.count("input_tokens", usage.prompt_tokens);
  out.raw("input_tokens_details", Object().count("cached_tokens", usage.cached_tokens).json());
  out.count("output_tokens", usage.completion_tokens);
  out.raw("output_tokens_details",
          Object().count("reasoning_tokens", usage.reasoning_tokens).json());
  out.count("total_tokens", usage.prompt_tokens + usage.completion_tokens);
  return out.json();
}

std::string output_list(const ResponsesState& state, const ResponsesRequest& request) {
  const ItemForm form = request.sealed_reasoning ? ItemForm::kSealed : ItemForm::kWhole;
  std::string out = "[";
  for (const ResponsesOutput& item : state.output) {
    out += out.size() > 1 ? "," : "";
    out += output_item_json(item, form);
  }
  return out + "]";
}

void add_request(Object& out, const ResponsesRequest& request) {
  const ResponsesEcho& echo = request.echo;
  const SamplingOptions& sampling = request.chat.sampling;
  out.raw("parallel_tool_calls", request.chat.parallel_tool_calls ? "true" : "false");
  out.raw("previous_response_id", echo.previous_response_id);
  out.raw("prompt_cache_key", echo.prompt_cache_key);
  out.raw("reasoning", Object().raw("effort", echo.effort).raw("summary", "null").json());
  out.raw("safety_identifier", echo.safety_identifier);
  out.text("service_tier", "default");
  out.raw("store", request.store ? "true" : "false");
  out.raw("temperature", python_float(sampling.temperature));
  out.raw("text", Object().raw("format", echo.format).json());
  out.raw("tool_choice", echo.tool_choice);
  out.raw("tools", echo.tools);
  out.count("top_logprobs", sampling.top_logprobs);
  out.raw("top_p", python_float(sampling.top_p));
  out.text("truncation", "disabled");
}

}  // namespace

std::string_view to_string(ResponsesStatus status) {
  switch (status) {
    case ResponsesStatus::kInProgress:
      return "in_progress";
    case ResponsesStatus::kCompleted:
      return "completed";
    case ResponsesStatus::kIncomplete:
      return "incomplete";
    case ResponsesStatus::kFailed:
      return "failed";
  }
  __builtin_unreachable();
}

std::string output_item_json(const ResponsesOutput& item, ItemForm form) {
  Object out;
  out.text("id", item.id);
  add_body(out, item, form, true);
  return out.json();
}

ResponsesItem kept_output(const ResponsesOutput& item) {
  Object body;
  add_body(body, item, ItemForm::kWhole, false);
  return {.id = item.id, .body = body.json(), .ours = true};
}

std::string content_part_json(const ResponsesOutput& item, ItemForm form) {
  const bool opened = form == ItemForm::kOpened;
  const std::string_view text = opened ? std::string_view() : item.text;
  if (item.kind == Kind::kReasoning) {
    return Object().text("type", "reasoning_text").text("text", text).json();
  }
  std::string logprobs = "[]";
  if (!opened) {
    logprobs.clear();
    append_token_logprobs(logprobs, item.logprobs);
  }
  return Object()
      .text("type", "output_text")
      .raw("annotations", "[]")
      .raw("logprobs", logprobs)
      .text("text", text)
      .json();
}

std::string response_object_json(const ReplyHead& head, const ResponsesRequest& request,
                                 const ResponsesState& state) {
  Object out;
  out.text("id", head.id).text("object", "response");
  out.raw("created_at", std::to_string(head.created)).text("status", to_string(state.status));
  out.raw("background", "false");
  std::string error = "null";
  if (state.error != nullptr) {
    error = Object()
                .text("code", failure_code(*state.error))
                .text("message", state.error->message)
                .json();
  }
  out.raw("error", error);
  out.raw("incomplete_details", state.status == ResponsesStatus::kIncomplete
                                    ? R"({"reason":"max_output_tokens"})"
                                    : "null");
  out.raw("instructions", request.echo.instructions);
  out.raw("max_output_tokens", request.echo.max_output_tokens);
  out.raw("max_tool_calls", request.echo.max_tool_calls);
  out.raw("metadata", request.echo.metadata);
  out.text("model", head.model);
  out.raw("output", output_list(state, request));
  add_request(out, request);
  out.raw("usage", state.usage ? usage_object(*state.usage) : "null");
  out.raw("user", request.echo.user);
  return out.json();
}

std::string_view failure_code(const Error& error) {
  return error.code == Errc::kResourceLimit ? "rate_limit_exceeded" : "server_error";
}

std::string error_event_json(const Error& error, std::uint64_t sequence_number) {
  const std::string body = error_json(error);  // {"error":{...}}
  constexpr std::size_t kBefore = std::string_view("{\"error\":").size();
  return Object()
      .text("type", "error")
      .count("sequence_number", sequence_number)
      .text("code", error_names(error).code)
      .text("message", error.message)
      .raw("param", "null")
      .raw("error", std::string_view(body).substr(kBefore, body.size() - kBefore - 1))
      .json();
}

}  // namespace daybreak::chat
