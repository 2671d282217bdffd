// SPDX-License-Identifier: Apache-2.0
#pragma once

// AnswerTimer: reads one streamed answer and writes down when its pieces came.

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "exam/answer_reader.h"
#include "loadgen/record.h"
#include "telemetry/http_poster.h"

namespace daybreak::loadgen {

class AnswerTimer {
 public:
  // `sent`: when the request is.
  explicit AnswerTimer(Clock::TimePoint sent) : sent_(sent) {}

  // Takes what has arrived, cut anywhere. Returns false if it is no answer.
  bool take(std::string_view bytes, Clock::TimePoint now);

  // Fills in `record` how the request ended, its error if it failed. Where the server counts no
  // tokens, the input is what was asked for and each event with text one token of the output.
  void finish(const Result<telemetry::PostReply>& reply, Clock::TimePoint now,
              RequestRecord& record) &&;

 private:
  const Clock::TimePoint sent_;
  exam::AnswerReader reader_;
  Status read_ = ok();
  Clock::TimePoint last_bytes_ = sent_;
  Clock::TimePoint last_piece_ = sent_;
  double first_seconds_ = 0;  // to the first piece
  std::vector<double> itl_seconds_;
};

}  // namespace daybreak::loadgen
