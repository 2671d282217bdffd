// SPDX-License-Identifier: Apache-2.0
#include "grammar/dfa.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <utility>

#include "base/hash.h"
#include "base/utf8.h"
#include "grammar/dfa_builder.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint64_t kMaxCount = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > kMaxCount - b ? kMaxCount : a + b;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kMaxCount / b ? kMaxCount : a * b;
}

}  // namespace

Dfa Dfa::all() {
  DfaBuilder builder;
  builder.add_state(true);
  builder.add_edge(0, 0, kMaxCodePoint, 0);
  Budget budget(64);  // one state and two edges, whatever the input
  return *std::move(builder).build(0, budget);
}

Dfa Dfa::as_given(const std::vector<bool>& accepts, std::span<const std::vector<Edge>> edges) {
  Dfa dfa;
  dfa.accepts_.assign(accepts.begin(), accepts.end());
  dfa.first_.push_back(0);
  std::uint64_t hash = mix64(accepts.size());
  for (std::size_t state = 0; state < accepts.size(); ++state) {
    hash = mix64(hash ^ dfa.accepts_[state]);
    for (const Edge& edge : edges[state]) {
      dfa.edges_.push_back(edge);
      hash = mix64(hash ^ (std::uint64_t{edge.low} << 32 | edge.target));
    }
    dfa.first_.push_back(static_cast<std::uint32_t>(dfa.edges_.size()));
  }
  dfa.hash_ = hash;
  return dfa;
}

Result<Dfa> Dfa::strings(std::span<const std::string> strings, Budget& budget) {
  for (const std::string& string : strings) {
    DAYBREAK_CHECK_OK(budget.spend(string.size() + 1, "strings"));
  }
  // A trie. In sorted order a new edge is never before the last one of its state, and the order of
  // UTF-8 bytes is that of the code points.
  std::vector<std::string_view> sorted(strings.begin(), strings.end());
  std::ranges::sort(sorted);
  DfaBuilder builder;
  builder.add_state(false);
  std::vector<std::pair<std::uint32_t, State>> path;  // of the last string: code point, state after
  for (const std::string_view string : sorted) {
    std::size_t depth = 0;
    State state = 0;
    bool shared = true;
    for (std::size_t at = 0; at < string.size(); ++depth) {
      const CodePoint code = valid_code_point(string, at);
      at += code.length;
      shared = shared && depth < path.size() && path[depth].first == code.value;
      if (!shared) {
        path.resize(depth);
        const State next = builder.add_state(false);
        builder.add_edge(state, code.value, code.value, next);
        path.emplace_back(code.value, next);
      }
      state = path[depth].second;
    }
    path.resize(depth);
    builder.set_accepting(state);
  }
  return std::move(builder).build(0, budget);
}

bool Dfa::is_all() const {
  return states() == 1 && edges_.size() == 2 && edges_[0].low == 0 && edges_[0].high == 0xD7FF &&
         edges_[1].low == 0xE000 && edges_[1].high == kMaxCodePoint;
}

Dfa::State Dfa::next(State state, std::uint32_t code_point) const {
  const Edge* begin = edges_.data() + first_[state];
  std::size_t size = first_[state + 1] - first_[state];
  // Halves without branches that depend on the data; then a few edges in order.
  constexpr std::size_t kFew = 4;
  while (size > kFew) {
    const std::size_t half = size / 2;
    begin = begin[half].low <= code_point ? begin + half : begin;
    size -= half;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (code_point <= begin[i].high) {
      return code_point >= begin[i].low ? begin[i].target : kDead;
    }
  }
  return kDead;
}

bool Dfa::contains(std::string_view utf8) const {
  if (empty()) {
    return false;
  }
  State state = kStart;
  for (std::size_t at = 0; at < utf8.size() && state != kDead;) {
    const CodePoint code = valid_code_point(utf8, at);
    state = next(state, code.value);
    at += code.length;
  }
  return state != kDead && accepts(state);
}

std::uint64_t Dfa::count(std::uint64_t cap) const {
  if (empty()) {
    return 0;
  }
  // The number of strings on the ways that lead to each state, in topological order. A state that
  // is never without open ways in lies on or behind a cycle, and every cycle can be left towards
  // acceptance: the language is infinite.
  std::vector<std::uint32_t> open(states(), 0);
  for (const Edge& edge : edges_) {
    ++open[edge.target];
  }
  if (open[kStart] != 0) {
    return cap;
  }
  std::vector<std::uint64_t> ways(states(), 0);
  ways[kStart] = 1;
  std::vector<State> ready = {kStart};
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const State state = ready[i];
    total = saturating_add(total, accepts(state) ? ways[state] : 0);
    for (const Edge& edge : edges(state)) {
      const std::uint64_t width = edge.high - edge.low + 1;
      ways[edge.target] =
          saturating_add(ways[edge.target], saturating_multiply(ways[state], width));
      if (--open[edge.target] == 0) {
        ready.push_back(edge.target);
      }
    }
  }
  return ready.size() < states() ? cap : std::min(total, cap);
}

std::optional<std::vector<std::string>> Dfa::list(std::size_t max) const {
  std::vector<std::string> out;
  if (empty()) {
    return out;
  }
  const std::uint64_t strings = count(kMaxCount);
  if (strings > max) {
    return std::nullopt;
  }
  // Breadth first; there are at most as many prefixes of one length as strings.
  std::deque<std::pair<State, std::string>> prefixes;
  prefixes.emplace_back(kStart, "");
  for (; !prefixes.empty(); prefixes.pop_front()) {
    const auto& [state, prefix] = prefixes.front();
    if (accepts(state)) {
      out.push_back(prefix);
    }
    for (const Edge& edge : edges(state)) {
      for (std::uint32_t code = edge.low; code <= edge.high; ++code) {
        std::string longer = prefix;
        append_utf8(code, longer);
        prefixes.emplace_back(edge.target, std::move(longer));
      }
    }
  }
  return out;
}

std::size_t Dfa::bytes() const {
  return sizeof(*this) + accepts_.capacity() * sizeof(accepts_[0]) +
         first_.capacity() * sizeof(first_[0]) + edges_.capacity() * sizeof(Edge);
}

}  // namespace daybreak::grammar
