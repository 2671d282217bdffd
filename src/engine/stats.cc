// SPDX-License-Identifier: Apache-2.0
#include "engine/stats.h"

namespace daybreak::engine {

void Stats::observe_answered(const RequestEnd& end) {
  request_prompt_tokens.observe(static_cast<double>(end.prompt_tokens));
  request_computed_prompt_tokens.observe(
      static_cast<double>(end.prompt_tokens - end.cached_tokens));
  request_generated_tokens.observe(static_cast<double>(end.generated_tokens));
  const RequestTimes& times = end.times;
  if (times.started && times.first_token && times.finished) {
    prefill_time.observe(seconds_between(*times.started, *times.first_token));
    decode_time.observe(seconds_between(*times.first_token, *times.finished));
    inference_time.observe(seconds_between(*times.started, *times.finished));
    if (end.generated_tokens > 1) {
      request_time_per_output_token.observe(seconds_between(*times.first_token, *times.finished) /
                                            static_cast<double>(end.generated_tokens - 1));
    }
  }
}

}  // namespace daybreak::engine
