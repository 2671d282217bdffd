// SPDX-License-Identifier: Apache-2.0
#include "chat/output_event.h"

namespace daybreak::chat {

std::string_view finish_reason(StopCause cause, std::size_t completed_calls) {
  switch (cause) {
    case StopCause::kStopToken:
    case StopCause::kStopString:
      return completed_calls > 0 ? "tool_calls" : "stop";
    case StopCause::kLength:
      return "length";
    case StopCause::kCancelled:
      return "stop";
  }
  __builtin_unreachable();
}

}  // namespace daybreak::chat
