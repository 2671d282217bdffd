// SPDX-License-Identifier: Apache-2.0
#include "chat/message_builder.h"

namespace daybreak::chat {

void MessageBuilder::add(const OutputEvent& event) {
  switch (event.kind) {
    case OutputEvent::Kind::kReasoning:
      message_.reasoning_content += event.text;
      return;
    case OutputEvent::Kind::kContent:
      message_.content += event.text;
      return;
    case OutputEvent::Kind::kToolCallBegin:
      message_.tool_calls.push_back({.name = event.name, .arguments = {}, .complete = false});
      return;
    case OutputEvent::Kind::kToolArguments:
      message_.tool_calls.at(event.index).arguments += event.text;
      return;
    case OutputEvent::Kind::kToolCallEnd:
      message_.tool_calls.at(event.index).complete = true;
      return;
  }
  __builtin_unreachable();
}

}  // namespace daybreak::chat
