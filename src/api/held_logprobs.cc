// SPDX-License-Identifier: Apache-2.0
#include "api/held_logprobs.h"

#include <fmt/format.h>

#include <algorithm>

namespace daybreak::api {

Status HeldLogprobs::grow(std::size_t tokens) {
  const std::size_t pieces = tokens * each_ / kHeldLogprobsPiece + 1;
  // Not more than it will ever need; what there is counts all the same.
  const std::size_t wanted = std::max(std::min(pieces * kHeldLogprobsPiece, most_), tokens * each_);
  if (wanted <= held_) {
    return ok();
  }
  std::shared_ptr<void> taken = bound_->take(owner_, wanted - held_);
  if (taken == nullptr) {
    return Error{
        Errc::kResourceLimit,
        fmt::format("log-probabilities: other requests hold too many for {} more, expected at most "
                    "{} in all and {} of one caller; try again later, or stream",
                    wanted - held_, kMaxHeldLogprobs, kMaxHeldLogprobsOfOwner)};
  }
  pieces_.push_back(std::move(taken));
  held_ = wanted;
  return ok();
}

}  // namespace daybreak::api
