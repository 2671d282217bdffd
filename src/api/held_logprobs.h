// SPDX-License-Identifier: Apache-2.0
#pragma once

// HeldLogprobs: what one request holds of Context::logprobs: the log-probabilities that are kept
// until its answers have ended. Taken in pieces that grow with what is held: a small one before the
// answers begin, so that many requests can wait for their turn.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "api/shared_bound.h"
#include "base/result.h"

namespace daybreak::api {

// Log-probabilities, alternatives counted, that all answers and those of one owner may hold: see
// SharedBound. One takes about 100 bytes.
inline constexpr std::size_t kMaxHeldLogprobs = 4'000'000;
inline constexpr std::size_t kMaxHeldLogprobsOfOwner = kMaxHeldLogprobs / 2;
// The first piece and the largest; one in between is as much as is held.
inline constexpr std::size_t kFirstHeldLogprobs = 2'048;
inline constexpr std::size_t kHeldLogprobsPiece = 65'536;

// Not thread-safe.
class HeldLogprobs {
 public:
  // `each` for every token of at most `tokens`; `bound` outlives this.
  HeldLogprobs(SharedBound& bound, std::string owner, std::size_t each, std::size_t tokens)
      : bound_(&bound), owner_(std::move(owner)), each_(each), most_(each * tokens) {}

  // Errors: kTooLarge if the longest answers would need more than the owner may ever hold.
  [[nodiscard]] Status check_longest() const;

  // Takes what is missing for so many tokens, in whole pieces; always the first one. Errors, then
  // what it has is what it had: kTooLarge if they need more than the owner may ever hold,
  // kResourceLimit if others hold too many.
  [[nodiscard]] Status grow(std::size_t tokens);

 private:
  SharedBound* bound_;
  std::string owner_;
  std::size_t each_;
  std::size_t most_;  // that it will ever need
  std::size_t held_ = 0;
  std::vector<std::shared_ptr<void>> pieces_;
};

}  // namespace daybreak::api
