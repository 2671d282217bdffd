// SPDX-License-Identifier: Apache-2.0
// The boolean operations of Dfa: a product of two automata, and the complement.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "grammar/dfa.h"
#include "grammar/dfa_builder.h"

namespace daybreak::grammar {
namespace {

using State = Dfa::State;
using Edge = Dfa::Edge;

enum class Operation : std::uint8_t { kIntersect, kUnite };

// The automaton of pairs of states. In a union, Dfa::kDead stands for "no longer in that language".
class Product {
 public:
  Product(const Dfa& a, const Dfa& b, Operation operation)
      : a_(a), b_(b), unite_(operation == Operation::kUnite) {}

  // REQUIRES: neither language is empty.
  Result<Dfa> build(Budget& budget) && {
    find({Dfa::kStart, Dfa::kStart});
    for (State state = 0; state < pairs_.size(); ++state) {
      const Pair pair = pairs_[state];
      const auto a = pair.a == Dfa::kDead ? std::span<const Edge>() : a_.edges(pair.a);
      const auto b = pair.b == Dfa::kDead ? std::span<const Edge>() : b_.edges(pair.b);
      // Each pass of connect() ends one edge or begins one.
      DAYBREAK_CHECK_OK(budget.spend(4 + 2 * (a.size() + b.size()), "automaton product"));
      connect(state, a, b);
    }
    return std::move(builder_).build(0, budget);
  }

 private:
  struct Pair {
    State a, b;
    friend bool operator==(const Pair&, const Pair&) = default;
  };
  struct PairHash {
    std::size_t operator()(const Pair& pair) const {
      return mix64(std::uint64_t{pair.a} << 32 | pair.b);
    }
  };

  State find(Pair pair) {
    const auto [at, fresh] = numbers_.try_emplace(pair, static_cast<State>(pairs_.size()));
    if (fresh) {
      pairs_.push_back(pair);
      const bool in_a = pair.a != Dfa::kDead && a_.accepts(pair.a);
      const bool in_b = pair.b != Dfa::kDead && b_.accepts(pair.b);
      builder_.add_state(unite_ ? in_a || in_b : in_a && in_b);
    }
    return at->second;
  }

  // Adds the edges of a pair: both lists cut where either changes.
  void connect(State state, std::span<const Edge> a, std::span<const Edge> b) {
    std::uint32_t low = 0;
    while (!a.empty() || !b.empty()) {
      std::uint32_t high = kMaxCodePoint;
      const State to_a = advance(a, low, high);
      const State to_b = advance(b, low, high);
      if (unite_ ? to_a != Dfa::kDead || to_b != Dfa::kDead
                 : to_a != Dfa::kDead && to_b != Dfa::kDead) {
        builder_.add_edge(state, low, high, find({to_a, to_b}));
      }
      low = high + 1;
      drop(a, low);
      drop(b, low);
    }
  }

  // Returns where `low` leads, and lowers `high` to the last code point that leads there too.
  static State advance(std::span<const Edge> edges, std::uint32_t low, std::uint32_t& high) {
    if (edges.empty()) {
      return Dfa::kDead;
    }
    if (low < edges.front().low) {
      high = std::min(high, edges.front().low - 1);
      return Dfa::kDead;
    }
    high = std::min(high, edges.front().high);
    return edges.front().target;
  }

  static void drop(std::span<const Edge>& edges, std::uint32_t low) {
    if (!edges.empty() && edges.front().high < low) {
      edges = edges.subspan(1);
    }
  }

  const Dfa& a_;
  const Dfa& b_;
  bool unite_;
  std::unordered_map<Pair, State, PairHash> numbers_;
  std::vector<Pair> pairs_;
  DfaBuilder builder_;
};

}  // namespace

Result<Dfa> Dfa::intersect(const Dfa& other, Budget& budget) const {
  if (empty() || other.empty()) {
    return Dfa();
  }
  if (is_all()) {
    return other;
  }
  if (other.is_all() || *this == other) {
    return *this;
  }
  return Product(*this, other, Operation::kIntersect).build(budget);
}

Result<Dfa> Dfa::unite(const Dfa& other, Budget& budget) const {
  if (empty() || other.is_all()) {
    return other;
  }
  if (other.empty() || is_all() || *this == other) {
    return *this;
  }
  return Product(*this, other, Operation::kUnite).build(budget);
}

Result<Dfa> Dfa::complement(Budget& budget) const {
  if (empty()) {
    return all();
  }
  DAYBREAK_CHECK_OK(budget.spend(4 * states() + 2 * edges_.size(), "automaton complement"));
  DfaBuilder builder;
  for (State state = 0; state < states(); ++state) {
    builder.add_state(!accepts(state));
  }
  const State outside = builder.add_state(true);
  builder.add_edge(outside, 0, kMaxCodePoint, outside);
  for (State state = 0; state < states(); ++state) {
    std::uint32_t low = 0;  // first code point not yet decided
    for (const Edge& edge : edges(state)) {
      if (low < edge.low) {
        builder.add_edge(state, low, edge.low - 1, outside);
      }
      builder.add_edge(state, edge.low, edge.high, edge.target);
      low = edge.high + 1;
    }
    if (low <= kMaxCodePoint) {
      builder.add_edge(state, low, kMaxCodePoint, outside);
    }
  }
  return std::move(builder).build(kStart, budget);
}

}  // namespace daybreak::grammar
