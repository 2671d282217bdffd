// SPDX-License-Identifier: Apache-2.0
#include "grammar/mask_collector.h"

#include <algorithm>
#include <utility>

namespace daybreak::grammar {

void MaskCollector::finish(std::size_t words, StringMask& mask) {
  const auto in_base = [&](TokenId id) { return ((*base_.row)[id / 32] >> (id % 32) & 1) != 0; };
  if (base_.row && std::ranges::all_of(ids_, in_base)) {
    mask.row = std::move(base_.row);
    mask.shared_row = base_.shared;
    return;
  }
  if (!base_.row && ids_.size() <= kMaxListIds) {
    std::ranges::sort(ids_);
    mask.list.assign(ids_.begin(), ids_.end());
    return;
  }
  auto row = base_.row ? std::make_shared<std::vector<std::uint32_t>>(*base_.row)
                       : std::make_shared<std::vector<std::uint32_t>>(words);
  for (const TokenId id : ids_) {
    (*row)[id / 32] |= std::uint32_t{1} << (id % 32);
  }
  mask.row = std::move(row);
}

}  // namespace daybreak::grammar
