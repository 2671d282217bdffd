// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tally: adds up the requests of a run, in bounded memory.

#include <cstddef>
#include <map>
#include <string>

#include "loadgen/record.h"
#include "loadgen/samples.h"
#include "loadgen/slo.h"

namespace daybreak::loadgen {

struct ErrorCount {
  std::size_t count = 0;
  std::string first;  // message
};

class Tally {
 public:
  explicit Tally(Slos slos = {}) : slos_(slos) {}

  void add(const RequestRecord& record);
  void abandon(std::size_t requests) { abandoned_ += requests; }

  [[nodiscard]] const Slos& slos() const { return slos_; }
  [[nodiscard]] std::size_t ended() const { return completed_ + failed_; }
  [[nodiscard]] std::size_t completed() const { return completed_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }
  [[nodiscard]] std::size_t abandoned() const { return abandoned_; }  // in flight when it was ended
  [[nodiscard]] std::size_t good() const { return good_; }            // that kept all objectives
  // Of completed requests.
  [[nodiscard]] std::size_t input_tokens() const { return input_; }
  [[nodiscard]] std::size_t output_tokens() const { return output_; }
  [[nodiscard]] std::size_t asked_input() const { return asked_input_; }
  [[nodiscard]] std::size_t asked_output() const { return asked_output_; }
  [[nodiscard]] std::size_t uncounted() const {
    return uncounted_;
  }  // of which the server says none
  // Of those that say how much came from a cache: that, and their input; those with any.
  [[nodiscard]] std::size_t cached_tokens() const { return cached_; }
  [[nodiscard]] std::size_t cacheable_tokens() const { return cacheable_; }
  [[nodiscard]] std::size_t told_cached() const { return told_cached_; }
  [[nodiscard]] std::size_t hits() const { return hits_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // to the last end, from the beginning
  // Kinds are "http_429", "timeout", "connection", "stream".
  [[nodiscard]] const std::map<std::string, ErrorCount>& errors() const { return errors_; }
  // Seconds, of completed requests; lag: of all, how much later than due they were sent.
  [[nodiscard]] const Samples& ttft() const { return ttft_; }
  [[nodiscard]] const Samples& tpot() const { return tpot_; }  // of answers of two tokens or more
  [[nodiscard]] const Samples& itl() const { return itl_; }
  [[nodiscard]] const Samples& e2el() const { return e2el_; }
  [[nodiscard]] const Samples& lag() const { return lag_; }

 private:
  Slos slos_;
  std::size_t completed_ = 0, failed_ = 0, abandoned_ = 0, good_ = 0;
  std::size_t input_ = 0, output_ = 0, asked_input_ = 0, asked_output_ = 0, uncounted_ = 0;
  std::size_t cached_ = 0, cacheable_ = 0, told_cached_ = 0, hits_ = 0;
  double seconds_ = 0;
  std::map<std::string, ErrorCount> errors_;
  Samples ttft_, tpot_, itl_, e2el_, lag_;
};

}  // namespace daybreak::loadgen
