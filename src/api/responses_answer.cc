// SPDX-License-Identifier: Apache-2.0
#include "api/responses_answer.h"

#include <utility>

#include "chat/tool_call_id.h"

namespace daybreak::api {
namespace {

using chat::ItemForm;
using chat::OutputEvent;
using chat::ResponsesOutput;
using chat::ResponsesStatus;

std::string_view id_prefix(ResponsesOutput::Kind kind) {
  switch (kind) {
    case ResponsesOutput::Kind::kReasoning:
      return "rs_";
    case ResponsesOutput::Kind::kMessage:
      return "msg_";
    case ResponsesOutput::Kind::kFunctionCall:
      return "fc_";
  }
  __builtin_unreachable();
}

void append_member(std::string& out, std::string_view key, std::string_view json) {
  out += ",\"";
  out += key;
  out += "\":";
  out += json;
}

void append_text_member(std::string& out, std::string_view key, std::string_view text) {
  append_member(out, key, {});
  chat::append_json_text(out, text);
}

}  // namespace

std::string make_response_id(std::string_view prefix,
                             const std::function<std::uint64_t()>& random) {
  constexpr std::size_t kItsOwnPrefix = std::string_view("call_").size();
  return std::string(prefix) + chat::make_tool_call_id(random).substr(kItsOwnPrefix);
}

ResponsesAnswer::ResponsesAnswer(chat::ReplyHead head, const chat::ResponsesRequest& request,
                                 Events events, const std::function<std::uint64_t()>& random)
    : head_(std::move(head)), request_(request), tells_(events == Events::kOn), random_(random) {}

void ResponsesAnswer::begin() {
  announce_response("response.created");
  announce_response("response.in_progress");
}

void ResponsesAnswer::add(const Delta& delta) {
  switch (delta.event.kind) {
    case OutputEvent::Kind::kReasoning:
      return add_text(Kind::kReasoning, delta);
    case OutputEvent::Kind::kContent:
      return add_text(Kind::kMessage, delta);
    case OutputEvent::Kind::kToolCallBegin:
      return open_call(delta);
    case OutputEvent::Kind::kToolArguments:
      return add_text(Kind::kFunctionCall, delta);
    case OutputEvent::Kind::kToolCallEnd:
      return close(ResponsesStatus::kCompleted);
  }
  __builtin_unreachable();
}

void ResponsesAnswer::end(std::string_view finish_reason, const chat::TokenUsage& usage) {
  status_ = finish_reason == "length" ? ResponsesStatus::kIncomplete : ResponsesStatus::kCompleted;
  usage_ = usage;
  close(status_);
}

void ResponsesAnswer::announce_end() {
  announce_response(status_ == ResponsesStatus::kIncomplete ? "response.incomplete"
                                                            : "response.completed");
}

void ResponsesAnswer::fail(const Error& error) {
  close(ResponsesStatus::kIncomplete);
  status_ = ResponsesStatus::kFailed;
  error_ = error;
  announce_response("response.failed");
  events_ += "event: error\ndata: " + chat::error_event_json(error, sequence_number_++) + "\n\n";
}

std::string ResponsesAnswer::json() const {
  return chat::response_object_json(head_, request_,
                                    {.status = status_,
                                     .output = output_,
                                     .usage = usage_,
                                     .error = error_ ? &*error_ : nullptr});
}

// Ends the item before, announces a new one.
ResponsesOutput& ResponsesAnswer::open(Kind kind) {
  close(ResponsesStatus::kCompleted);
  output_.push_back({.kind = kind,
                     .status = ResponsesStatus::kInProgress,
                     .id = make_response_id(id_prefix(kind), random_),
                     .text = {},
                     .call_id = {},
                     .name = {}});
  is_open_ = true;
  return output_.back();
}

void ResponsesAnswer::open_call(const Delta& delta) {
  ResponsesOutput& call = open(Kind::kFunctionCall);
  call.call_id = delta.tool_call_id;
  call.name = delta.event.name;
  announce_part("response.output_item.added", ItemForm::kOpened);
}

void ResponsesAnswer::add_text(Kind kind, const Delta& delta) {
  if (delta.event.text.empty() && delta.logprobs.empty()) {
    return;  // such as the end of reasoning: the item's own end says so here
  }
  if (!is_open_ || output_.back().kind != kind) {
    open(kind);
    announce_part("response.output_item.added", ItemForm::kOpened);
    announce_part("response.content_part.added", ItemForm::kOpened);
  }
  ResponsesOutput& item = output_.back();
  item.text += delta.event.text;
  item.logprobs.insert(item.logprobs.end(), delta.logprobs.begin(), delta.logprobs.end());
  if (!tells_) {
    return;
  }
  std::string members = place();
  append_text_member(members, "delta", delta.event.text);
  if (kind == Kind::kFunctionCall) {
    return announce("response.function_call_arguments.delta", members);
  }
  append_member(members, "content_index", "0");
  if (kind == Kind::kReasoning) {
    return announce("response.reasoning_text.delta", members);
  }
  append_member(members, "logprobs", {});
  chat::append_token_logprobs(members, delta.logprobs);
  announce("response.output_text.delta", members);
}

// Ends the item in the making, if there is one. The arguments of a call that was cut are never
// announced as done: a client might run it.
void ResponsesAnswer::close(ResponsesStatus status) {
  if (!std::exchange(is_open_, false)) {
    return;
  }
  ResponsesOutput& item = output_.back();
  item.status = status;
  if (item.kind != Kind::kFunctionCall || status == ResponsesStatus::kCompleted) {
    announce_text_done();
  }
  if (item.kind != Kind::kFunctionCall) {
    announce_part("response.content_part.done", ItemForm::kWhole);
  }
  announce_part("response.output_item.done",
                request_.sealed_reasoning ? ItemForm::kSealed : ItemForm::kWhole);
}

// An event about the last item as a whole, or about its one part.
void ResponsesAnswer::announce_part(std::string_view type, ItemForm form) {
  if (!tells_) {
    return;
  }
  std::string members;
  if (type.starts_with("response.content_part")) {
    members = place();
    append_member(members, "content_index", "0");
    append_member(members, "part", chat::content_part_json(output_.back(), form));
  } else {
    append_member(members, "output_index", std::to_string(output_.size() - 1));
    append_member(members, "item", chat::output_item_json(output_.back(), form));
  }
  announce(type, members);
}

void ResponsesAnswer::announce_text_done() {
  if (!tells_) {
    return;
  }
  const ResponsesOutput& item = output_.back();
  std::string members = place();
  if (item.kind == Kind::kFunctionCall) {
    append_text_member(members, "name", item.name);
    append_text_member(members, "arguments", item.text);
    return announce("response.function_call_arguments.done", members);
  }
  append_member(members, "content_index", "0");
  append_text_member(members, "text", item.text);
  if (item.kind == Kind::kReasoning) {
    return announce("response.reasoning_text.done", members);
  }
  append_member(members, "logprobs", {});
  chat::append_token_logprobs(members, item.logprobs);
  announce("response.output_text.done", members);
}

void ResponsesAnswer::announce_response(std::string_view type) {
  if (!tells_) {
    return;
  }
  std::string members;
  append_member(members, "response", json());
  announce(type, members);
}

void ResponsesAnswer::announce(std::string_view type, std::string_view members) {
  events_ += "event: ";
  events_ += type;
  events_ += "\ndata: {\"type\":\"";
  events_ += type;
  events_ += "\",\"sequence_number\":" + std::to_string(sequence_number_++);
  events_ += members;
  events_ += "}\n\n";
}

std::string ResponsesAnswer::place() const {
  std::string out;
  append_text_member(out, "item_id", output_.back().id);
  append_member(out, "output_index", std::to_string(output_.size() - 1));
  return out;
}

}  // namespace daybreak::api
