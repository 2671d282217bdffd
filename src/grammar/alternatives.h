// SPDX-License-Identifier: Apache-2.0
#pragma once

// Alternatives: a list of terms (see expander.h) without doubles, in the order they came. One that
// says nothing makes all others superfluous.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace daybreak::grammar {

// `hash` tells most terms apart; equal terms have equal hashes.
template <class Term, class Hash>
class Alternatives {
 public:
  explicit Alternatives(Hash hash) : hash_(std::move(hash)) {}

  // Amortized O(1) comparisons.
  void add(Term term) {
    if (terms_.size() == 1 && terms_.front() == Term{}) {
      return;
    }
    if (term == Term{}) {
      terms_.clear();
      places_.clear();
    }
    const auto [first, last] = places_.equal_range(hash_(term));
    for (auto it = first; it != last; ++it) {
      if (terms_[it->second] == term) {
        return;
      }
    }
    places_.emplace(hash_(term), terms_.size());
    terms_.push_back(std::move(term));
  }

  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] std::vector<Term> take() && { return std::move(terms_); }

 private:
  Hash hash_;
  std::vector<Term> terms_;
  std::unordered_multimap<std::uint64_t, std::size_t> places_;  // hash -> index
};

}  // namespace daybreak::grammar
