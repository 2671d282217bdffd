// SPDX-License-Identifier: Apache-2.0
#pragma once

// ScriptedConstraint: a TokenConstraint whose masks are given by a function of the ids so far. Test
// code only.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/token_constraint.h"

namespace daybreak::engine {

using Mask = std::vector<std::uint32_t>;

inline Mask mask_of(std::size_t vocab_size, const std::vector<TokenId>& ids) {
  Mask mask(mask_words(vocab_size));
  for (const TokenId id : ids) {
    mask[id / 32] |= std::uint32_t{1} << (id % 32);
  }
  return mask;
}

inline Mask mask_of_all(std::size_t vocab_size) { return Mask(mask_words(vocab_size), ~0U); }

class ScriptedConstraint final : public TokenConstraint {
 public:
  using Rule = std::function<Mask(const std::vector<TokenId>& accepted)>;
  explicit ScriptedConstraint(Rule rule) : rule_(std::move(rule)) {}

  std::span<const std::uint32_t> mask() override { return mask_ = rule_(accepted_); }
  bool accept(TokenId id) override {
    accepted_.push_back(id);
    return true;
  }

  static ConstraintFactory factory(Rule rule) {
    return [rule = std::move(rule)] { return std::make_unique<ScriptedConstraint>(rule); };
  }

 private:
  Rule rule_;
  Mask mask_;
  std::vector<TokenId> accepted_;
};

// Refuses every id that its mask allows.
class RefusingConstraint final : public TokenConstraint {
 public:
  std::span<const std::uint32_t> mask() override { return mask_; }
  bool accept(TokenId) override { return false; }

 private:
  Mask mask_ = mask_of_all(4096);
};

}  // namespace daybreak::engine
