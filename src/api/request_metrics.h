// SPDX-License-Identifier: Apache-2.0
#pragma once

// What requests ask for, all choices of one counted together: the engine sees single choices only.
// Under the names of vLLM.

#include <cstddef>
#include <string>

#include "base/metrics.h"

namespace daybreak::api {

// Thread-safe. The metrics must outlive it.
class RequestMetrics {
 public:
  RequestMetrics(Metrics& metrics, const std::string& model_name);

  // Of a request that was answered to its end.
  void observe(std::size_t choices, std::size_t max_tokens, std::size_t longest_choice);

 private:
  Histogram choices_;
  Histogram max_tokens_;
  Histogram longest_choice_;
};

}  // namespace daybreak::api
