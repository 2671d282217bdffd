// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far shares can be trusted: 95 % confidence intervals.

#include <cstddef>

namespace daybreak::exam {

struct Interval {
  double low = 0;
  double high = 1;
};

// The share of `right` among `asked` (Wilson 1927, the score interval without correction for
// continuity). Nothing asked: [0, 1]. REQUIRES: right <= asked.
[[nodiscard]] Interval wilson(std::size_t right, std::size_t asked);

// The change of a share between two runs over the same `pairs` questions, of which `lost` were
// right in the first only and `gained` in the second only (Agresti and Min 2005: Wald's interval
// with half a question added to each of the four cells). No pairs: [-1, 1]. REQUIRES: lost + gained
// <= pairs.
[[nodiscard]] Interval paired_change(std::size_t lost, std::size_t gained, std::size_t pairs);

}  // namespace daybreak::exam
