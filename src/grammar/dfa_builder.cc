// SPDX-License-Identifier: Apache-2.0
#include "grammar/dfa_builder.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "base/hash.h"

namespace daybreak::grammar {
namespace {

using State = Dfa::State;
using Edge = Dfa::Edge;

constexpr std::uint32_t kNone = 0xFFFFFFFF;

// Neighbours of each state in one array.
struct Adjacency {
  std::vector<std::uint32_t> first;  // [states + 1]
  std::vector<State> others;

  [[nodiscard]] std::span<const State> of(State state) const {
    return std::span(others).subspan(first[state], first[state + 1] - first[state]);
  }
};

template <class Arcs, class Key, class Value>
Adjacency adjacency(std::size_t states, const Arcs& arcs, Key key, Value value) {
  Adjacency out;
  out.first.assign(states + 1, 0);
  for (const auto& arc : arcs) {
    ++out.first[key(arc) + 1];
  }
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.others.resize(arcs.size());
  std::vector<std::uint32_t> at(out.first.begin(), out.first.end() - 1);
  for (const auto& arc : arcs) {
    out.others[at[key(arc)]++] = value(arc);
  }
  return out;
}

// Returns which states can be reached from `roots`.
std::vector<std::uint8_t> reach(const Adjacency& next, std::vector<State> roots) {
  std::vector<std::uint8_t> seen(next.first.size() - 1, 0);
  for (const State root : roots) {
    seen[root] = 1;
  }
  while (!roots.empty()) {
    const State state = roots.back();
    roots.pop_back();
    for (const State other : next.of(state)) {
      if (seen[other] == 0) {
        seen[other] = 1;
        roots.push_back(other);
      }
    }
  }
  return seen;
}

// Appends an edge to a list sorted by code point, joined with the last where it can be.
void append_edge(std::vector<Edge>& edges, std::size_t begin, const Edge& edge) {
  if (edges.size() > begin && edges.back().target == edge.target &&
      edges.back().high + 1 == edge.low) {
    edges.back().high = edge.high;
  } else {
    edges.push_back(edge);
  }
}

// The coarsest partition in which the states of a block accept alike and have, edge by edge, the
// same blocks as targets. A state is looked at again only when a target of it changed its block,
// and the largest part of a split block keeps its number: that makes it n log n.
class Partition {
 public:
  Partition(std::span<const std::uint8_t> accepts, std::span<const Edge> edges,
            std::span<const std::uint32_t> first, const Adjacency& sources)
      : edges_(edges), first_(first), sources_(sources), block_of_(accepts.size()) {
    place_.reserve(accepts.size());
    blocks_.resize(2);
    for (State state = 0; state < accepts.size(); ++state) {
      std::vector<State>& clean = blocks_[accepts[state]].clean;
      block_of_[state] = accepts[state];
      place_.push_back(static_cast<std::uint32_t>(clean.size()));
      clean.push_back(state);
    }
    for (State state = 0; state < accepts.size(); ++state) {
      mark(state);
    }
  }

  // Returns the block of each state.
  Result<std::vector<std::uint32_t>> refine(Budget& budget) {
    while (!queue_.empty()) {
      const std::uint32_t block = queue_.back();
      queue_.pop_back();
      DAYBREAK_CHECK_OK(split(block, budget));
    }
    return std::move(block_of_);
  }

 private:
  // States of a block: those whose signature is known to be the block's, and those to be looked at.
  struct Block {
    std::vector<State> clean, dirty;
  };
  struct Signed {
    State state;
    std::uint32_t begin, end;  // in signatures_
  };

  // Moves a state from clean to dirty.
  void mark(State state) {
    if (place_[state] == kNone) {
      return;
    }
    Block& block = blocks_[block_of_[state]];
    if (block.dirty.empty()) {
      queue_.push_back(block_of_[state]);
    }
    const std::uint32_t place = std::exchange(place_[state], kNone);
    if (const State last = block.clean.back(); last != state) {
      block.clean[place] = last;
      place_[last] = place;
    }
    block.clean.pop_back();
    block.dirty.push_back(state);
  }

  Signed sign(State state) {
    const std::size_t begin = signatures_.size();
    for (std::uint32_t i = first_[state]; i < first_[state + 1]; ++i) {
      const Edge& edge = edges_[i];
      append_edge(signatures_, begin, {edge.low, edge.high, block_of_[edge.target]});
    }
    return {state, static_cast<std::uint32_t>(begin),
            static_cast<std::uint32_t>(signatures_.size())};
  }

  // <0, 0, >0, as the signatures compare.
  [[nodiscard]] int compare(const Signed& a, const Signed& b) const {
    if (a.end - a.begin != b.end - b.begin) {
      return a.end - a.begin < b.end - b.begin ? -1 : 1;
    }
    for (std::uint32_t i = a.begin, j = b.begin; i < a.end; ++i, ++j) {
      const auto key = [this](std::uint32_t at) {
        return std::tie(signatures_[at].low, signatures_[at].high, signatures_[at].target);
      };
      if (key(i) != key(j)) {
        return key(i) < key(j) ? -1 : 1;
      }
    }
    return 0;
  }

  Status split(std::uint32_t number, Budget& budget) {
    const std::vector<State> dirty = std::exchange(blocks_[number].dirty, {});
    signatures_.clear();
    std::vector<Signed> members;
    members.reserve(dirty.size());
    for (const State state : dirty) {
      DAYBREAK_CHECK_OK(budget.spend(2 + first_[state + 1] - first_[state], "automaton"));
      members.push_back(sign(state));
    }
    std::ranges::sort(members,
                      [this](const Signed& a, const Signed& b) { return compare(a, b) < 0; });
    std::vector<std::vector<State>> groups;
    std::size_t with_clean = kNone;  // the group that has the signature of the clean states
    const std::vector<State>& clean = blocks_[number].clean;
    const Signed wanted = clean.empty() ? Signed{} : sign(clean.front());
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i == 0 || compare(members[i - 1], members[i]) != 0) {
        if (!clean.empty() && compare(members[i], wanted) == 0) {
          with_clean = groups.size();
        }
        groups.emplace_back();
      }
      groups.back().push_back(members[i].state);
    }
    if (!clean.empty() && with_clean == kNone) {
      with_clean = groups.size();
      groups.emplace_back();
    }
    assign(number, std::move(groups), with_clean);
    return ok();
  }

  // Makes the groups blocks. The largest keeps the number; who leads to one of the others is dirty.
  // The clean states are touched only when they lose the number, that is, to a larger group.
  void assign(std::uint32_t number, std::vector<std::vector<State>> groups,
              std::size_t with_clean) {
    std::size_t keeper = 0;
    std::size_t keeper_size = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::size_t size =
          groups[i].size() + (i == with_clean ? blocks_[number].clean.size() : 0);
      if (size > keeper_size) {
        keeper = i;
        keeper_size = size;
      }
    }
    if (with_clean != kNone && with_clean != keeper) {
      const std::vector<State> clean = std::exchange(blocks_[number].clean, {});
      groups[with_clean].insert(groups[with_clean].end(), clean.begin(), clean.end());
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto target = i == keeper ? number : static_cast<std::uint32_t>(blocks_.size());
      if (i != keeper) {
        blocks_.emplace_back();
      }
      std::vector<State>& clean = blocks_[target].clean;
      for (const State state : groups[i]) {
        block_of_[state] = target;
        place_[state] = static_cast<std::uint32_t>(clean.size());
        clean.push_back(state);
      }
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (i == keeper) {
        continue;
      }
      for (const State state : groups[i]) {
        for (const State source : sources_.of(state)) {
          mark(source);
        }
      }
    }
  }

  std::span<const Edge> edges_;
  std::span<const std::uint32_t> first_;
  const Adjacency& sources_;
  std::vector<std::uint32_t> block_of_;
  std::vector<std::uint32_t> place_;  // in clean, or kNone: dirty
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> queue_;  // blocks with dirty states
  std::vector<Edge> signatures_;      // targets are blocks
};

}  // namespace

DfaBuilder::State DfaBuilder::add_state(bool accepting) {
  accepts_.push_back(accepting ? 1 : 0);
  return static_cast<State>(accepts_.size() - 1);
}

void DfaBuilder::add_edge(State from, std::uint32_t low, std::uint32_t high, State to) {
  if (low < 0xD800) {
    arcs_.push_back({from, {low, std::min(high, 0xD7FFU), to}});
  }
  if (high > 0xDFFF) {
    arcs_.push_back({from, {std::max(low, 0xE000U), high, to}});
  }
}

// Keeps what lies on a way from the start to acceptance, sorts the edges and numbers the start 0.
// Keeps nothing when there is no such way.
Status DfaBuilder::trim(State start, Budget& budget) {
  DAYBREAK_CHECK_OK(budget.spend(accepts_.size() + arcs_.size(), "automaton"));
  const auto from = [](const Arc& arc) { return arc.from; };
  const auto to = [](const Arc& arc) { return arc.edge.target; };
  const auto reached = reach(adjacency(accepts_.size(), arcs_, from, to), {start});
  std::vector<State> accepting;
  for (State state = 0; state < accepts_.size(); ++state) {
    if (accepts_[state] != 0) {
      accepting.push_back(state);
    }
  }
  const auto useful = reach(adjacency(accepts_.size(), arcs_, to, from), std::move(accepting));
  std::vector<State> renamed(accepts_.size(), kNone);
  std::vector<std::uint8_t> accepts;
  const auto keep = [&](State state) {
    if (reached[state] != 0 && useful[state] != 0 && renamed[state] == kNone) {
      renamed[state] = static_cast<State>(accepts.size());
      accepts.push_back(accepts_[state]);
    }
  };
  keep(start);
  for (State state = 0; state < accepts_.size(); ++state) {
    keep(state);
  }
  std::erase_if(arcs_, [&](Arc& arc) {
    arc.from = renamed[arc.from];
    arc.edge.target = renamed[arc.edge.target];
    return arc.from == kNone || arc.edge.target == kNone;
  });
  std::ranges::sort(arcs_, [](const Arc& a, const Arc& b) {
    return std::tie(a.from, a.edge.low) < std::tie(b.from, b.edge.low);
  });
  accepts_ = std::move(accepts);
  return ok();
}

// Fills in the Dfa whose states are the blocks, numbered breadth first along the edges.
void DfaBuilder::number(const std::vector<std::uint32_t>& block_of, Dfa& out) const {
  const std::uint32_t blocks = *std::ranges::max_element(block_of) + 1;
  std::vector<State> name(blocks, kNone);  // block -> number
  std::vector<State> member = {0};         // number -> a state
  std::vector<std::uint32_t> begin(accepts_.size() + 1, 0);
  for (const Arc& arc : arcs_) {
    ++begin[arc.from + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  name[block_of[0]] = 0;
  for (State state = 0; state < member.size(); ++state) {
    out.accepts_.push_back(accepts_[member[state]]);
    out.first_.push_back(static_cast<std::uint32_t>(out.edges_.size()));
    const std::size_t first = out.edges_.size();
    for (std::uint32_t i = begin[member[state]]; i < begin[member[state] + 1]; ++i) {
      const Edge& edge = arcs_[i].edge;
      State& target = name[block_of[edge.target]];
      if (target == kNone) {
        target = static_cast<State>(member.size());
        member.push_back(edge.target);
      }
      append_edge(out.edges_, first, {edge.low, edge.high, target});
    }
  }
  out.first_.push_back(static_cast<std::uint32_t>(out.edges_.size()));
}

Result<Dfa> DfaBuilder::build(State start, Budget& budget) && {
  DAYBREAK_CHECK_OK(trim(start, budget));
  Dfa out;
  if (accepts_.empty()) {
    return out;
  }
  const std::size_t states = accepts_.size();
  std::vector<Edge> edges;
  edges.reserve(arcs_.size());
  for (const Arc& arc : arcs_) {
    edges.push_back(arc.edge);
  }
  const Adjacency sources = adjacency(
      states, arcs_, [](const Arc& arc) { return arc.edge.target; },
      [](const Arc& arc) { return arc.from; });
  std::vector<std::uint32_t> first(states + 1, 0);
  for (const Arc& arc : arcs_) {
    ++first[arc.from + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  Partition partition(accepts_, edges, first, sources);
  DAYBREAK_TRY(const std::vector<std::uint32_t> block_of, partition.refine(budget));
  number(block_of, out);
  std::uint64_t hash = out.accepts_.size();
  for (State state = 0; state < out.states(); ++state) {
    hash = mix64(hash + out.accepts_[state]);
    for (const Edge& edge : out.edges(state)) {
      hash = mix64(hash + edge.low);
      hash = mix64(hash + edge.high);
      hash = mix64(hash + edge.target);
    }
  }
  out.hash_ = hash;
  out.edges_.shrink_to_fit();
  return out;
}

}  // namespace daybreak::grammar
