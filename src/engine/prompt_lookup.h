// SPDX-License-Identifier: Apache-2.0
#pragma once

// PromptLookup: guesses the next ids of a sequence by finding the last ids earlier in the sequence
// itself and reading on from there ("n-gram" speculation). Text that quotes its prompt, code that
// is edited and JSON that repeats its keys are guessed well; where nothing repeats it finds
// nothing, and costs a look at one table.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/token.h"

namespace daybreak::engine {

inline constexpr std::size_t kMaxLookupIds = 16;

// Keeps 12 to 16 bytes for each id expected or there. Not thread-safe.
class PromptLookup {
 public:
  // The last `min_match` ids, 1 to kMaxLookupIds, must have been there before. There is room for
  // `expected` ids; more are sorted anew now and then, which takes a while.
  explicit PromptLookup(std::size_t min_match, std::size_t expected = 0);

  // Appends ids to the sequence. Throws std::bad_alloc.
  void append(std::span<const TokenId> ids);
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

  // Fills `out` with what may come next and returns how many ids that are: all, or none. Of the
  // places where the sequence was as it is now, the one that agrees longest decides, up to
  // kMaxLookupIds; of equals the latest.
  std::size_t propose(std::span<TokenId> out) const;

 private:
  [[nodiscard]] std::size_t bucket(std::size_t end) const;
  void insert(std::size_t end);
  void make_room(std::size_t ids);
  // Returns how many ids before `a` and `b` agree, kMaxLookupIds at most.
  [[nodiscard]] std::size_t agreement(std::size_t a, std::size_t b) const;

  const std::size_t min_match_;
  std::vector<TokenId> ids_;
  // A place is the number of ids up to it. Where the min_match_ ids before one have the same hash
  // as those before an earlier one, they are chained. 0: no place.
  std::vector<std::uint32_t> latest_;   // by bucket; a power of two, no fewer than ids_
  std::vector<std::uint32_t> earlier_;  // [ids_.size() + 1] the one before in its chain
};

}  // namespace daybreak::engine
