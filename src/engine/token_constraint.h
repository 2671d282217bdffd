// SPDX-License-Identifier: Apache-2.0
#pragma once

// TokenConstraint: which ids may come next in one answer. It knows nothing of logits, and the
// sampler nothing of what it stands for: a mask changes the ids that can be drawn, never how one of
// them is (numerics rule 10).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/token.h"

namespace daybreak::engine {

// Used by one thread at a time, not always the same.
class TokenConstraint {
 public:
  TokenConstraint() = default;
  TokenConstraint(const TokenConstraint&) = delete;
  TokenConstraint& operator=(const TokenConstraint&) = delete;
  virtual ~TokenConstraint() = default;

  // Returns the ids that may come next: id is bit id % 32 of word id / 32; at least one word per
  // started 32 ids of the vocabulary, bits beyond it ignored. Stop ids are ids like others. An
  // empty mask is an error of the constraint. Valid until accept().
  [[nodiscard]] virtual std::span<const std::uint32_t> mask() = 0;

  // Takes the id that was drawn. Returns whether it is allowed, which is so for every id of mask().
  [[nodiscard]] virtual bool accept(TokenId id) = 0;

  // Whether it gave up because following it takes too much work or memory: a fault of what it
  // stands for, not of the constraint. Then the mask is empty and nothing is accepted.
  [[nodiscard]] virtual bool overrun() const { return false; }
};

// Makes the constraint of one answer, at its first id; called once per answer that starts, on any
// thread, also for several answers at once. Never returns null.
using ConstraintFactory = std::function<std::unique_ptr<TokenConstraint>()>;

// Returns the words of a mask over `vocab_size` ids.
[[nodiscard]] constexpr std::size_t mask_words(std::size_t vocab_size) {
  return (vocab_size + 31) / 32;
}

}  // namespace daybreak::engine
