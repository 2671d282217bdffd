// SPDX-License-Identifier: Apache-2.0
#include "loadgen/tally.h"

#include <algorithm>

namespace daybreak::loadgen {

void Tally::add(const RequestRecord& record) {
  seconds_ = std::max(seconds_, record.ended_seconds());
  lag_.add(std::max(0.0, record.sent_seconds - record.due_seconds));
  if (record.failed()) {
    ++failed_;
    ErrorCount& kind = errors_[record.error_kind];
    if (kind.count++ == 0) {
      kind.first = record.error;
    }
    return;
  }
  ++completed_;
  input_ += record.input_tokens;
  output_ += record.output_tokens;
  asked_input_ += record.asked_input;
  asked_output_ += record.asked_output;
  uncounted_ += record.counted_by_server ? 0 : 1;
  if (record.cached_tokens) {
    ++told_cached_;
    cached_ += *record.cached_tokens;
    cacheable_ += record.input_tokens;
    hits_ += *record.cached_tokens > 0 ? 1 : 0;
  }
  ttft_.add(record.times.ttft_seconds);
  e2el_.add(record.times.e2el_seconds);
  if (record.output_tokens > 1) {
    tpot_.add(record.times.tpot_seconds);
  }
  for (const double seconds : record.itl_seconds) {
    itl_.add(seconds);
  }
  good_ += slos_.any() && slos_.kept_by(record.times) ? 1 : 0;
}

}  // namespace daybreak::loadgen
