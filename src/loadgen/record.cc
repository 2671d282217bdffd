// SPDX-License-Identifier: Apache-2.0
#include "loadgen/record.h"

#include <nlohmann/json.hpp>

namespace daybreak::loadgen {

std::string record_json(const RequestRecord& record) {
  constexpr double kMillisecondsPerSecond = 1e3;
  nlohmann::ordered_json out = {{"conversation", record.conversation},
                                {"turn", record.turn},
                                {"due_s", record.due_seconds},
                                {"sent_s", record.sent_seconds},
                                {"ended_s", record.ended_seconds()},
                                {"asked_input_tokens", record.asked_input},
                                {"asked_output_tokens", record.asked_output}};
  if (record.failed()) {
    out["error_kind"] = record.error_kind;
    out["error"] = record.error;
    return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  out["input_tokens"] = record.input_tokens;
  out["cached_tokens"] = record.cached_tokens ? nlohmann::ordered_json(*record.cached_tokens)
                                              : nlohmann::ordered_json(nullptr);
  out["output_tokens"] = record.output_tokens;
  out["ttft_ms"] = record.times.ttft_seconds * kMillisecondsPerSecond;
  out["tpot_ms"] = record.times.tpot_seconds * kMillisecondsPerSecond;
  out["e2el_ms"] = record.times.e2el_seconds * kMillisecondsPerSecond;
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace daybreak::loadgen
