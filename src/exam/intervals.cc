// SPDX-License-Identifier: Apache-2.0
#include "exam/intervals.h"

#include <algorithm>
#include <cmath>

namespace daybreak::exam {
namespace {

constexpr double kZ = 1.959963984540054;  // leaves 2.5 % of the normal distribution on either side

}  // namespace

Interval wilson(std::size_t right, std::size_t asked) {
  if (asked == 0) {
    return {};
  }
  const auto n = static_cast<double>(asked);
  const double share = static_cast<double>(right) / n;
  const double scale = 1 + kZ * kZ / n;
  const double centre = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  // At the edges the exact ends are 0 and 1; rounding must not move them.
  return {right == 0 ? 0 : std::max(0.0, centre - half),
          right == asked ? 1 : std::min(1.0, centre + half)};
}

Interval paired_change(std::size_t lost, std::size_t gained, std::size_t pairs) {
  if (pairs == 0) {
    return {-1, 1};
  }
  const double n = static_cast<double>(pairs) + 2;
  const double b = static_cast<double>(lost) + 0.5;
  const double c = static_cast<double>(gained) + 0.5;
  const double change = (c - b) / n;
  const double half = kZ / n * std::sqrt(b + c - (c - b) * (c - b) / n);
  return {std::max(-1.0, change - half), std::min(1.0, change + half)};
}

}  // namespace daybreak::exam
