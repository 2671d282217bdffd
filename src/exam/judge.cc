// SPDX-License-Identifier: Apache-2.0
#include "exam/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "chat/markers.h"
#include "exam/format_check.h"

namespace daybreak::exam {
namespace {

using nlohmann::json;

constexpr std::string_view kMarkers[] = {chat::kOpenMarker,       chat::kCloseMarker,
                                         chat::kSepMarker,        chat::kEndOfMessageMarker,
                                         chat::kMediaBeginMarker, chat::kMediaContentMarker,
                                         chat::kMediaEndMarker,   chat::kMediaPadMarker};

// Discarded unless `text` is one JSON value; a byte order mark, which the parser would skip, is no
// part of one.
json parsed(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  return text.starts_with(kByteOrderMark) ? json(json::value_t::discarded)
                                          : json::parse(text, nullptr, false);
}

std::string_view marker_in(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kMarkers, [&](std::string_view marker) { return text.find(marker) != text.npos; });
  return found == std::end(kMarkers) ? std::string_view{} : *found;
}

bool same_call(const json& expected, const Call& call) {
  return expected["name"] == call.name && expected["arguments"] == parsed(call.arguments);
}

}  // namespace

std::string shape_fault(const Answer& answer) {
  if (answer.finish_reason != "stop" && answer.finish_reason != "tool_calls") {
    return fmt::format("finish_reason: expected stop or tool_calls, found {}",
                       answer.finish_reason);
  }
  for (const std::string_view text :
       {std::string_view(answer.content), std::string_view(answer.reasoning)}) {
    if (const std::string_view marker = marker_in(text); !marker.empty()) {
      return fmt::format("a marker in the text: {}", marker);
    }
  }
  for (const Call& call : answer.calls) {
    if (call.name.empty() || !parsed(call.arguments).is_object()) {
      return fmt::format("call '{}': expected a name, and a JSON object as arguments", call.name);
    }
  }
  return "";
}

bool matches(const Expectation& expect, const Answer& answer) {
  if (!std::ranges::equal(expect.calls, answer.calls, same_call)) {
    return false;
  }
  if (expect.json) {
    return parsed(answer.content) == *expect.json;
  }
  return !expect.any || std::ranges::find(*expect.any, answer.content) != expect.any->end();
}

Verdict judge(const Question& question, const Answer& answer,
              const tokenizer::Tokenizer* tokenizer) {
  Verdict out;
  out.fault = shape_fault(answer);
  // Of an answer without any text there are no ids to tell: how many they were says enough.
  const bool told = !answer.ids.empty() ||
                    (answer.content.empty() && answer.reasoning.empty() && answer.calls.empty());
  if (tokenizer != nullptr && answer.completion_tokens && told) {
    std::string fault = format_fault(*tokenizer, answer.ids, *answer.completion_tokens,
                                     question.effort == "off" ? Thinking::kOff : Thinking::kOn);
    out.markers = fault.empty() && out.fault.empty();
    out.fault = out.fault.empty() ? std::move(fault) : out.fault;
  }
  out.formed = out.fault.empty();
  out.right = out.formed && matches(question.expect, answer);
  return out;
}

}  // namespace daybreak::exam
