// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tests of Matcher share.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "grammar/grammar.h"
#include "grammar/test_tokens.h"

namespace daybreak::grammar {

using Row = std::vector<std::uint32_t>;

inline Row copy(std::span<const std::uint32_t> mask) { return {mask.begin(), mask.end()}; }

inline Matcher matcher_of(const std::shared_ptr<const Grammar>& grammar) {
  const std::array<TokenId, 1> stop{test_tokens().eos};
  return {grammar, test_tokens().index, stop};
}

}  // namespace daybreak::grammar
