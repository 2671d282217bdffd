// SPDX-License-Identifier: Apache-2.0
#pragma once

// Dfa: a regular language over Unicode scalar values as a minimal, trimmed automaton: every state
// is reachable and can reach an accepting one, states are numbered in breadth-first order of their
// edges, so two equal languages are equal values. Immutable, thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/char_set.h"

namespace daybreak::grammar {

class Dfa {
 public:
  using State = std::uint32_t;
  static constexpr State kDead = 0xFFFFFFFF;
  static constexpr State kStart = 0;  // REQUIRES: !empty()

  struct Edge {
    std::uint32_t low = 0;
    std::uint32_t high = 0;  // included
    State target = 0;
    friend bool operator==(const Edge&, const Edge&) = default;
  };

  // The empty language.
  Dfa() = default;
  // Every string.
  static Dfa all();
  // Exactly these strings (UTF-8; REQUIRES: valid). Any number, duplicates allowed.
  static Result<Dfa> strings(std::span<const std::string> strings, Budget& budget);
  // The automaton as it is given, start state 0: neither trimmed nor minimal nor renumbered, for
  // callers whose states mean more than acceptance. REQUIRES: every state reaches an accepting one;
  // edges sorted, disjoint.
  static Dfa as_given(const std::vector<bool>& accepts, std::span<const std::vector<Edge>> edges);

  [[nodiscard]] bool empty() const { return accepts_.empty(); }
  [[nodiscard]] bool is_all() const;
  [[nodiscard]] std::size_t states() const { return accepts_.size(); }
  [[nodiscard]] bool accepts(State state) const { return accepts_[state] != 0; }
  // Returns the edges of a state, by code point; no two overlap, neighbours with one target are
  // joined (except across the surrogates).
  [[nodiscard]] std::span<const Edge> edges(State state) const {
    return std::span(edges_).subspan(first_[state], first_[state + 1] - first_[state]);
  }
  // Returns where `code_point` leads, or kDead.
  [[nodiscard]] State next(State state, std::uint32_t code_point) const;
  // REQUIRES: valid UTF-8.
  [[nodiscard]] bool contains(std::string_view utf8) const;
  // Returns the number of strings, saturated at `cap`. O(edges).
  [[nodiscard]] std::uint64_t count(std::uint64_t cap) const;
  // Returns all strings, shortest first, if there are at most `max`; else nothing.
  [[nodiscard]] std::optional<std::vector<std::string>> list(std::size_t max) const;

  // Boolean operations. Errors: kTooLarge when the budget ends.
  [[nodiscard]] Result<Dfa> intersect(const Dfa& other, Budget& budget) const;
  [[nodiscard]] Result<Dfa> unite(const Dfa& other, Budget& budget) const;
  [[nodiscard]] Result<Dfa> complement(Budget& budget) const;

  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::size_t bytes() const;  // of memory
  friend bool operator==(const Dfa& a, const Dfa& b) {
    return a.hash_ == b.hash_ && a.accepts_ == b.accepts_ && a.first_ == b.first_ &&
           a.edges_ == b.edges_;
  }

 private:
  friend class DfaBuilder;
  std::vector<std::uint8_t> accepts_;  // [states]
  std::vector<std::uint32_t> first_;   // [states + 1] into edges_
  std::vector<Edge> edges_;
  std::uint64_t hash_ = 0;
};

}  // namespace daybreak::grammar
