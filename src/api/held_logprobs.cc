// SPDX-License-Identifier: Apache-2.0
#include "api/held_logprobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace daybreak::api {

namespace {

Error never_fits(std::string_view how, std::size_t count, std::size_t max) {
  return {Errc::kTooLarge,
          fmt::format("log-probabilities: the answers {} {}, expected at most {} kept until they "
                      "have ended; ask for fewer tokens (max_tokens), answers (n, prompts) or "
                      "alternatives, or stream (on /v1/responses a stream keeps them too)",
                      how, count, max)};
}

}  // namespace

Status HeldLogprobs::check_longest() const {
  const std::size_t max = bound_->max_of(owner_);
  return most_ <= max ? ok() : Status(never_fits("may have", most_, max));
}

Status HeldLogprobs::grow(std::size_t tokens) {
  const std::size_t needed = tokens * each_;
  const std::size_t max = bound_->max_of(owner_);
  if (needed > max) {
    return never_fits("have", needed, max);
  }
  std::size_t wanted = held_;
  while (wanted <= needed) {
    wanted += std::clamp(wanted, kFirstHeldLogprobs, kHeldLogprobsPiece);
  }
  // Not more than it will ever need or get; what there is counts all the same.
  wanted = std::max(std::min({wanted, most_, max}), needed);
  if (wanted <= held_) {
    return ok();
  }
  std::shared_ptr<void> taken = bound_->take(owner_, wanted - held_);
  if (taken == nullptr) {
    return Error{
        Errc::kResourceLimit,
        fmt::format("log-probabilities: other requests hold too many for {} more, expected at most "
                    "{} in all and {} of one caller; try again later, or stream",
                    wanted - held_, kMaxHeldLogprobs, max)};
  }
  pieces_.push_back(std::move(taken));
  held_ = wanted;
  return ok();
}

}  // namespace daybreak::api
