// SPDX-License-Identifier: Apache-2.0
#include "exam/answer_reader.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_document.h"

namespace daybreak::exam {
namespace {

using nlohmann::json;

// Returns the member `key`, or null.
const json* find(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::optional<std::size_t> count_of(const json& object, const char* key) {
  const json* found = find(object, key);
  return found != nullptr && found->is_number_unsigned() ? std::optional(found->get<std::size_t>())
                                                         : std::nullopt;
}

Error no_chunk(std::string_view what) {
  return {Errc::kCorrupt, "the stream: expected " + std::string(what)};
}

std::string message_of(const json& error) {
  const json* message = error.is_object() ? find(error, "message") : nullptr;
  if (message != nullptr && message->is_string()) {
    return printable(message->get_ref<const std::string&>(), 300);
  }
  return error.is_string() ? printable(error.get_ref<const std::string&>(), 300) : "no message";
}

}  // namespace

std::string error_message(std::string_view body) {
  const json value = json::parse(body, nullptr, false);
  if (value.is_object()) {
    if (const json* error = find(value, "error")) {
      return message_of(*error);
    }
    if (const json* message = find(value, "message"); message != nullptr && message->is_string()) {
      return message_of(value);
    }
  }
  return printable(body, 200);
}

Status AnswerReader::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() + event_.size() > kMaxEventBytes) {
      return Error{Errc::kTooLarge, "the stream: expected events of at most 1 MiB"};
    }
    if (end == std::string_view::npos) {
      return ok();
    }
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) {
      line_.pop_back();
    }
    const std::string line = std::exchange(line_, {});
    DAYBREAK_CHECK_OK(take_line(line));
  }
  return ok();
}

Status AnswerReader::take_line(std::string_view line) {
  if (line.empty()) {
    const std::string event = std::exchange(event_, {});
    return event.empty() || event == "[DONE]" ? ok() : take_event(event);
  }
  constexpr std::string_view kData = "data:";
  if (line.starts_with(kData)) {
    line.remove_prefix(kData.size());
    line.remove_prefix(line.starts_with(' ') ? 1 : 0);
    event_ += event_.empty() ? "" : "\n";
    event_ += line;
  }
  return ok();  // comments and other fields say nothing here
}

Status AnswerReader::take_event(std::string_view text) {
  const json event = json::parse(text, nullptr, false);
  if (!event.is_object()) {
    return no_chunk("a JSON object as data, found " + printable(text, 60));
  }
  if (const json* error = find(event, "error")) {
    return Error{Errc::kUnavailable, message_of(*error)};
  }
  if (const json* usage = find(event, "usage")) {
    take_usage(*usage);
  }
  const json* choices = find(event, "choices");
  if (choices == nullptr || !choices->is_array()) {
    return no_chunk("choices in " + printable(text, 60));
  }
  if (!choices->empty()) {
    DAYBREAK_CHECK_OK(take_choice(choices->front()));
    pieces_ += std::exchange(has_piece_, false) ? 1 : 0;
  }
  return ok();
}

Status AnswerReader::take_choice(const json& choice) {
  if (!choice.is_object()) {
    return no_chunk("an object as choice");
  }
  if (const json* reason = find(choice, "finish_reason");
      reason != nullptr && reason->is_string()) {
    answer_.finish_reason = reason->get<std::string>();
  }
  DAYBREAK_CHECK_OK(append(answer_.content, choice, "text"));
  const json* delta = find(choice, "delta");
  if (delta == nullptr || !delta->is_object()) {
    return delta == nullptr ? ok() : Status(no_chunk("an object as delta"));
  }
  DAYBREAK_CHECK_OK(append(answer_.content, *delta, "content"));
  // Some endpoints say the same under both names.
  DAYBREAK_CHECK_OK(
      append(answer_.reasoning, *delta,
             delta->contains("reasoning_content") ? "reasoning_content" : "reasoning"));
  if (const json* calls = find(*delta, "tool_calls"); calls != nullptr && calls->is_array()) {
    for (const json& call : *calls) {
      DAYBREAK_CHECK_OK(take_call(call));
    }
  }
  const json* internal = find(*delta, "internal_content");
  const json* ids =
      internal != nullptr && internal->is_object() ? find(*internal, "token_ids") : nullptr;
  if (ids != nullptr && ids->is_array()) {
    for (const json& id : *ids) {
      if (!id.is_number_unsigned() ||
          id.get<std::uint64_t>() > std::numeric_limits<TokenId>::max() ||
          answer_.ids.size() == kMaxAnswerIds) {
        return no_chunk("at most 1048576 token ids, all of them small numbers");
      }
      answer_.ids.push_back(id.get<TokenId>());
    }
  }
  return ok();
}

Status AnswerReader::take_call(const json& call) {
  const std::size_t index =
      call.is_object() ? count_of(call, "index").value_or(answer_.calls.size()) : kMaxAnswerCalls;
  if (index > answer_.calls.size() || index >= kMaxAnswerCalls) {
    return no_chunk("calls one after the other, at most 128");
  }
  if (index == answer_.calls.size()) {
    answer_.calls.emplace_back();
  }
  has_piece_ = true;
  const json* function = find(call, "function");
  if (function == nullptr || !function->is_object()) {
    return ok();
  }
  DAYBREAK_CHECK_OK(append(answer_.calls[index].name, *function, "name"));
  return append(answer_.calls[index].arguments, *function, "arguments");
}

void AnswerReader::take_usage(const json& usage) {
  if (!usage.is_object()) {
    return;
  }
  answer_.prompt_tokens = count_of(usage, "prompt_tokens");
  if (const json* details = find(usage, "prompt_tokens_details");
      details != nullptr && details->is_object()) {
    answer_.cached_tokens = count_of(*details, "cached_tokens");
  }
  answer_.completion_tokens = count_of(usage, "completion_tokens");
  if (const json* details = find(usage, "completion_tokens_details");
      details != nullptr && details->is_object()) {
    answer_.reasoning_tokens = count_of(*details, "reasoning_tokens");
  }
}

Status AnswerReader::append(std::string& to, const json& delta, const char* key) {
  const json* found = find(delta, key);
  if (found == nullptr) {
    return ok();
  }
  if (!found->is_string()) {
    return no_chunk(std::string("text as ") + key);
  }
  const std::string& text = found->get_ref<const std::string&>();
  bytes_ += text.size();
  if (bytes_ > kMaxAnswerBytes) {
    return Error{Errc::kTooLarge, "the answer: expected at most 8 MiB"};
  }
  has_piece_ = has_piece_ || !text.empty();
  to += text;
  return ok();
}

Result<Answer> AnswerReader::finish() && {
  if (answer_.finish_reason.empty()) {
    return no_chunk("a finish_reason before its end, found none");
  }
  return std::move(answer_);
}

}  // namespace daybreak::exam
