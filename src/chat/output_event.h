// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the output parser tells, in order. Streaming sends each event on; a one-shot reply adds them
// up (MessageBuilder): there is no other path from ids to a reply.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak::chat {

struct OutputEvent {
  enum class Kind : std::uint8_t {
    kReasoning,      // text: more reasoning
    kContent,        // text: more of the answer
    kToolCallBegin,  // index, name (whole, never split)
    kToolArguments,  // index, text: more of the arguments' JSON
    kToolCallEnd,    // index: the call is complete
  };
  Kind kind = Kind::kContent;
  std::string text;
  std::string name;
  std::size_t index = 0;  // of the call in this message: dense, from 0

  friend bool operator==(const OutputEvent&, const OutputEvent&) = default;
};

// Why generation ended, as the engine saw it.
enum class StopCause : std::uint8_t { kStopToken, kStopString, kLength, kCancelled };

// Returns the API's finish_reason: "stop", "length" or "tool_calls". A call that was cut by the
// length limit keeps "length", and its arguments stay as far as they came.
[[nodiscard]] std::string_view finish_reason(StopCause cause, std::size_t completed_calls);

}  // namespace daybreak::chat
