// SPDX-License-Identifier: Apache-2.0
#pragma once

// DraftLength: how many ids to guess at a time, from how the last guesses of the same sequence
// went. A step that computes guesses costs more than one that does not, so that it follows what was
// accepted: one more than that at first, twice as many after a full success; after a full failure
// it rests, each time twice as long.

#include <algorithm>
#include <cstddef>

namespace daybreak::engine {

class DraftLength {
 public:
  static constexpr std::size_t kLongestRest = 64;  // tokens

  // `most`: 1 or more.
  explicit DraftLength(std::size_t most) : most_(most), length_(std::min<std::size_t>(most, 2)) {}

  // Returns how many ids to guess for the next step; 0 while it rests. To be called once for each
  // step that could have some.
  [[nodiscard]] std::size_t next() {
    if (resting_ > 0) {
      --resting_;
      return 0;
    }
    return length_;
  }

  // Of `guessed` ids, 1 or more, the first `accepted` were right.
  void learn(std::size_t guessed, std::size_t accepted) {
    if (accepted == 0) {
      length_ = 1;
      resting_ = rest_;
      rest_ = std::min(std::max<std::size_t>(2 * rest_, 1), kLongestRest);
      return;
    }
    rest_ = 0;
    length_ = accepted == guessed ? std::max(length_, 2 * guessed) : accepted + 1;
    length_ = std::min(length_, most_);
  }

 private:
  std::size_t most_;
  std::size_t length_;
  std::size_t rest_ = 0;     // after the next failure
  std::size_t resting_ = 0;  // steps left
};

}  // namespace daybreak::engine
