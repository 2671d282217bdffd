// SPDX-License-Identifier: Apache-2.0
#include "loadgen/arrivals.h"

#include <cmath>
#include <numbers>

namespace daybreak::loadgen {

Arrivals::Arrivals(double rate, double burstiness, std::uint64_t seed)
    : rate_(rate), burstiness_(burstiness), rng_(seed) {}

double Arrivals::next() {
  at_ += interval();
  return at_;
}

double Arrivals::interval() {
  return std::isinf(burstiness_) ? 1.0 / rate_ : gamma(burstiness_) / (rate_ * burstiness_);
}

double Arrivals::uniform() {
  constexpr unsigned kUnused = 11;
  return (static_cast<double>(rng_.next() >> kUnused) + 0.5) * 0x1p-53;
}

// Box and Muller.
double Arrivals::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); a shape below 1
// through that of one more.
double Arrivals::gamma(double shape) {
  if (shape < 1) {
    const double larger = gamma(shape + 1);
    return larger * std::pow(uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

}  // namespace daybreak::loadgen
