// SPDX-License-Identifier: Apache-2.0
#pragma once

// RequestRecord: what became of one request.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/slo.h"

namespace daybreak::loadgen {

struct RequestRecord {
  std::string conversation;  // its name
  std::size_t turn = 0;      // in it
  double due_seconds = 0;    // since the run began
  double sent_seconds = 0;
  std::size_t asked_input = 0;  // tokens
  std::size_t asked_output = 0;
  std::size_t input_tokens = 0;  // as the server counts them, else as asked for
  std::size_t output_tokens = 0;
  std::optional<std::size_t> cached_tokens;  // of the input; nothing: the server does not say
  bool counted_by_server = false;
  RequestTimes times;               // zero for one that failed
  double latency_seconds = 0;       // until its end, of one that failed too
  std::vector<double> itl_seconds;  // between one event with text and the next
  std::string error_kind;           // empty: a whole answer
  std::string error;

  [[nodiscard]] bool failed() const { return !error_kind.empty(); }
  [[nodiscard]] double ended_seconds() const { return sent_seconds + latency_seconds; }
};

// One JSON object, without line break.
[[nodiscard]] std::string record_json(const RequestRecord& record);

}  // namespace daybreak::loadgen
