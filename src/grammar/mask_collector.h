// SPDX-License-Identifier: Apache-2.0
#pragma once

// MaskCollector: gathers the tokens of one mask, a ready-made row and single ids beside it, and
// gives them the smaller form: the row itself, shared, a new row, or a list.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/token.h"
#include "grammar/string_masks.h"

namespace daybreak::grammar {

// Longer lists become rows. A list costs four bytes an id, a K3 row 20 KiB.
inline constexpr std::size_t kMaxListIds = 1024;

using SharedRow = std::shared_ptr<const std::vector<std::uint32_t>>;

// A row to begin with.
struct BaseRow {
  SharedRow row;
  bool shared = false;  // kept by someone who counts its bytes
};

class MaskCollector {
 public:
  // At most once, before the rest.
  void take(BaseRow base) { base_ = std::move(base); }
  void add(TokenId id) { ids_.push_back(id); }

  // Fills in row or list. `words`: length of a row.
  void finish(std::size_t words, StringMask& mask);

 private:
  BaseRow base_;
  std::vector<TokenId> ids_;
};

}  // namespace daybreak::grammar
