// SPDX-License-Identifier: Apache-2.0
#pragma once

// SliceRows: mask rows that many states of many languages have in common, made on first use and
// shared: all tokens inside a string, those of at most n code points, those of a set of groups.

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "grammar/mask_collector.h"
#include "grammar/string_slices.h"

namespace daybreak::grammar {

// Thread-safe.
class SliceRows {
 public:
  static constexpr std::size_t kMaxGroupRows = 128;  // 2.6 MB for K3

  explicit SliceRows(const StringSlices& slices);

  // Returns the tokens that need at most `chars` code points; see CodingSlices::up_to.
  [[nodiscard]] BaseRow within(StringCoding coding, std::size_t chars);

  // Returns the tokens of whole code points, at most `chars`, all in `groups`. When there are too
  // many such rows in use the new one is only the caller's.
  [[nodiscard]] BaseRow of_groups(StringCoding coding, GroupMask groups, std::size_t chars);

  [[nodiscard]] std::size_t bytes() const;

 private:
  using Key = std::tuple<StringCoding, GroupMask, std::size_t>;

  [[nodiscard]] MaskRow make_group_row(StringCoding coding, GroupMask groups, std::size_t chars);

  const StringSlices* slices_;
  mutable std::mutex mutex_;
  std::array<std::vector<SharedRow>, 2> within_;  // null until asked for
  std::map<Key, SharedRow> group_rows_;
};

}  // namespace daybreak::grammar
