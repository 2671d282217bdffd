// SPDX-License-Identifier: Apache-2.0
#pragma once

// Arrivals: the times between requests of a given mean rate. Gamma-distributed as in vLLM's
// `bench serve`: burstiness 1 is a Poisson process, less is more bursty, infinity is even.

#include <cstdint>

#include "base/rng.h"

namespace daybreak::loadgen {

class Arrivals {
 public:
  // REQUIRES: rate > 0 requests per second, finite; burstiness > 0, which may be infinite.
  Arrivals(double rate, double burstiness, std::uint64_t seed);

  // Returns when the next request is due, in seconds since the first one's beginning to be waited
  // for: the sum of all intervals so far.
  [[nodiscard]] double next();

 private:
  [[nodiscard]] double interval();
  [[nodiscard]] double uniform();  // in (0, 1)
  [[nodiscard]] double normal();
  [[nodiscard]] double gamma(double shape);

  const double rate_;
  const double burstiness_;
  Rng rng_;
  double at_ = 0;
};

}  // namespace daybreak::loadgen
