// SPDX-License-Identifier: Apache-2.0
#include "engine/generator.h"

namespace daybreak::engine {

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kError:
      return "error";
  }
  return "error";
}

std::uint64_t& ended(Stats& stats, FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return stats.finished_stop;
    case FinishReason::kLength:
      return stats.finished_length;
    case FinishReason::kCancelled:
      return stats.finished_cancelled;
    case FinishReason::kError:
      break;
  }
  return stats.finished_error;
}

}  // namespace daybreak::engine
