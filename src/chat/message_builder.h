// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds output events up to the whole assistant message of a one-shot reply.

#include <string>
#include <vector>

#include "chat/output_event.h"

namespace daybreak::chat {

struct AssistantToolCall {
  std::string name;
  std::string arguments;  // JSON text; cut short when `complete` is false
  bool complete = false;

  friend bool operator==(const AssistantToolCall&, const AssistantToolCall&) = default;
};

struct AssistantMessage {
  std::string reasoning_content;
  std::string content;
  std::vector<AssistantToolCall> tool_calls;

  friend bool operator==(const AssistantMessage&, const AssistantMessage&) = default;
};

// Not thread-safe. Grows with the output only.
class MessageBuilder {
 public:
  // REQUIRES: events in the order OutputParser gave them.
  void add(const OutputEvent& event);
  [[nodiscard]] const AssistantMessage& message() const { return message_; }

 private:
  AssistantMessage message_;
};

}  // namespace daybreak::chat
