// SPDX-License-Identifier: Apache-2.0
#include "grammar/key_automaton.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/utf8.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

// The names as a tree of code points.
struct NameTree {
  struct Node {
    std::map<std::uint32_t, std::uint32_t> children;
    KeyLabel name = kNoLabel;
  };
  std::vector<Node> nodes{1};

  void add(std::string_view text, KeyLabel label) {
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint code_point = valid_code_point(text, i);
      i += code_point.length;
      const auto next = static_cast<std::uint32_t>(nodes.size());
      const auto [child, added] = nodes[at].children.emplace(code_point.value, next);
      at = child->second;
      if (added) {
        nodes.emplace_back();
      }
    }
    nodes[at].name = label;
  }
};

// Where one stands in the tree and in each pattern; kNowhere: left it.
using Position = std::vector<std::uint32_t>;

struct Draft {
  std::vector<std::vector<Dfa::Edge>> edges;
  std::vector<KeyLabel> labels;
};

class Builder {
 public:
  Builder(const std::vector<std::string>& names, const std::vector<PatternId>& patterns,
          const PatternTable& table, Budget& budget)
      : patterns_(patterns), table_(table), budget_(budget), names_(names.size()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      tree_.add(names[i], static_cast<KeyLabel>(i));
    }
  }

  Status run(KeyAutomaton& out, Draft& draft) {
    Position start(1 + patterns_.size(), 0);
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      start[1 + i] = table_.dfa(patterns_[i])->empty() ? kNowhere : Dfa::kStart;
    }
    state_of(start);
    for (std::size_t state = 0; state < positions_.size(); ++state) {
      const Position at = positions_[state];
      DAYBREAK_TRY(const KeyLabel label, label_of(at, out));
      draft.labels.push_back(label);
      DAYBREAK_TRY(std::vector<Dfa::Edge> edges, edges_of(at));
      draft.edges.push_back(std::move(edges));
    }
    return ok();
  }

 private:
  std::uint32_t state_of(const Position& position) {
    const auto next = static_cast<std::uint32_t>(positions_.size());
    const auto [place, added] = states_.emplace(position, next);
    if (added) {
      positions_.push_back(position);
    }
    return place->second;
  }

  Result<KeyLabel> label_of(const Position& at, KeyAutomaton& out) {
    if (at[0] != kNowhere && tree_.nodes[at[0]].name != kNoLabel) {
      return tree_.nodes[at[0]].name;
    }
    std::vector<PatternId> matched;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (at[1 + i] != kNowhere && table_.dfa(patterns_[i])->accepts(at[1 + i])) {
        matched.push_back(patterns_[i]);
      }
    }
    std::ranges::sort(matched);
    auto place = std::ranges::find(out.atoms, matched);
    if (place == out.atoms.end()) {
      if (out.atoms.size() == kMaxAtoms) {
        return Error{Errc::kTooLarge, "patternProperties: expected keys that match at most " +
                                          std::to_string(kMaxAtoms) +
                                          " combinations of patterns, found more"};
      }
      place = out.atoms.insert(place, std::move(matched));
    }
    return static_cast<KeyLabel>(names_ + static_cast<std::size_t>(place - out.atoms.begin()));
  }

  Result<std::vector<Dfa::Edge>> edges_of(const Position& at) {
    std::vector<std::uint32_t> cuts{0, 0xD800, 0xE000, kMaxCodePoint + 1};
    if (at[0] != kNowhere) {
      for (const auto& [code_point, child] : tree_.nodes[at[0]].children) {
        cuts.insert(cuts.end(), {code_point, code_point + 1});
      }
    }
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (at[1 + i] != kNowhere) {
        for (const Dfa::Edge& edge : table_.dfa(patterns_[i])->edges(at[1 + i])) {
          cuts.insert(cuts.end(), {edge.low, edge.high + 1});
        }
      }
    }
    std::ranges::sort(cuts);
    DAYBREAK_CHECK_OK(budget_.spend(cuts.size() * at.size(), "properties"));
    std::vector<Dfa::Edge> edges;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (cuts[i] == cuts[i + 1] || cuts[i] == 0xD800) {
        continue;
      }
      const std::uint32_t target = state_of(after(at, cuts[i]));
      if (!edges.empty() && edges.back().target == target && edges.back().high + 1 == cuts[i]) {
        edges.back().high = cuts[i + 1] - 1;
      } else {
        edges.push_back({cuts[i], cuts[i + 1] - 1, target});
      }
    }
    return edges;
  }

  Position after(const Position& at, std::uint32_t code_point) const {
    Position next(at.size(), kNowhere);
    if (at[0] != kNowhere) {
      const auto& children = tree_.nodes[at[0]].children;
      const auto child = children.find(code_point);
      next[0] = child == children.end() ? kNowhere : child->second;
    }
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (at[1 + i] != kNowhere) {
        next[1 + i] = table_.dfa(patterns_[i])->next(at[1 + i], code_point);
      }
    }
    return next;
  }

  const std::vector<PatternId>& patterns_;
  const PatternTable& table_;
  Budget& budget_;
  std::size_t names_;
  NameTree tree_;
  std::map<Position, std::uint32_t> states_;
  std::vector<Position> positions_;
};

// The state that each edge comes from, by the state it leads to.
using Before = std::vector<std::vector<std::uint32_t>>;

Before before_of(const std::vector<std::vector<Dfa::Edge>>& edges) {
  Before before(edges.size());
  for (std::uint32_t state = 0; state < edges.size(); ++state) {
    for (const Dfa::Edge& edge : edges[state]) {
      before[edge.target].push_back(state);
    }
  }
  return before;
}

// States from which a state in `goal` can be reached, itself included.
std::vector<bool> reaching(const Before& before, std::vector<bool> goal) {
  std::vector<std::uint32_t> queue;
  for (std::uint32_t state = 0; state < before.size(); ++state) {
    if (goal[state]) {
      queue.push_back(state);
    }
  }
  while (!queue.empty()) {
    const std::uint32_t state = queue.back();
    queue.pop_back();
    for (const std::uint32_t earlier : before[state]) {
      if (!goal[earlier]) {
        goal[earlier] = true;
        queue.push_back(earlier);
      }
    }
  }
  return goal;
}

// States of `inside` that have an endless path within it: what is left after peeling off, again and
// again, the states without a successor inside.
std::vector<bool> cyclic(const std::vector<std::vector<Dfa::Edge>>& edges, const Before& before,
                         std::vector<bool> inside) {
  std::vector<std::uint32_t> left(edges.size(), 0);  // edges to states inside
  std::vector<std::uint32_t> queue;
  for (std::uint32_t state = 0; state < edges.size(); ++state) {
    for (const Dfa::Edge& edge : edges[state]) {
      left[state] += inside[edge.target] ? 1 : 0;
    }
    if (inside[state] && left[state] == 0) {
      queue.push_back(state);
    }
  }
  while (!queue.empty()) {
    const std::uint32_t state = queue.back();
    queue.pop_back();
    inside[state] = false;
    for (const std::uint32_t earlier : before[state]) {
      if (--left[earlier] == 0 && inside[earlier]) {
        queue.push_back(earlier);
      }
    }
  }
  return inside;
}

Status describe_states(KeyAutomaton& out, const Draft& draft, Budget& budget) {
  const std::size_t states = draft.labels.size();
  out.states.assign(states, {});
  const Before before = before_of(draft.edges);
  for (std::size_t state = 0; state < states; ++state) {
    out.states[state].label = draft.labels[state];
  }
  for (std::size_t atom = 0; atom < out.atoms.size(); ++atom) {
    DAYBREAK_CHECK_OK(budget.spend(states * 4, "properties"));
    std::vector<bool> ends(states);
    for (std::size_t state = 0; state < states; ++state) {
      ends[state] = draft.labels[state] == out.names.size() + atom;
    }
    const std::vector<bool> reach = reaching(before, ends);
    const std::vector<bool> endless = cyclic(draft.edges, before, reach);
    for (std::size_t state = 0; state < states; ++state) {
      out.states[state].atoms |= static_cast<std::uint32_t>(reach[state]) << atom;
      out.states[state].endless |= static_cast<std::uint32_t>(endless[state]) << atom;
    }
  }
  return ok();
}

// Names below each state are neighbours in the sorted list, for the tree is a tree.
void describe_names(KeyAutomaton& out) {
  for (std::uint32_t name = 0; name < out.names.size(); ++name) {
    Dfa::State state = Dfa::kStart;
    const auto touch = [&] {
      KeyAutomaton::State& own = out.states[state];
      own.first_name = own.last_name == 0 ? name : own.first_name;
      own.last_name = name + 1;
    };
    std::vector<Dfa::State> path{state};
    const std::string& text = out.names[name];
    for (std::size_t i = 0; i < text.size() && state != Dfa::kDead;) {
      const CodePoint code_point = valid_code_point(text, i);
      i += code_point.length;
      state = out.language->dfa().next(state, code_point.value);
      path.push_back(state);
    }
    if (state != Dfa::kDead && out.states[state].label == name) {
      for (const Dfa::State on : path) {
        state = on;
        touch();
      }
    }
  }
}

// Makes the automaton of a draft whose states all lead to a label.
Status finish(KeyAutomaton& out, const Draft& draft, Budget& budget) {
  if (draft.labels.empty()) {
    return ok();
  }
  std::vector<bool> accepts;
  for (const KeyLabel label : draft.labels) {
    accepts.push_back(label != kNoLabel);
  }
  DAYBREAK_CHECK_OK(describe_states(out, draft, budget));
  DAYBREAK_TRY(out.language, StringLanguage::make(
                                 std::make_shared<const Dfa>(Dfa::as_given(accepts, draft.edges)),
                                 0, kNoMaxChars, budget));
  describe_names(out);
  out.open = out.atoms.size() == 1 && std::ranges::all_of(out.states, [](const auto& state) {
               return state.endless == 1 && state.label != kNoLabel;
             });
  return ok();
}

}  // namespace

std::uint64_t KeyAutomaton::count(Dfa::State state, std::uint32_t wanted, std::uint64_t cap) const {
  const KeyLabel label = states[state].label;
  std::uint64_t total =
      label != kNoLabel && label >= names.size() && ((wanted >> (label - names.size())) & 1U) != 0;
  for (const Dfa::Edge& edge : language->dfa().edges(state)) {
    if (total >= cap) {
      return cap;
    }
    if ((states[edge.target].atoms & wanted) != 0) {
      const std::uint64_t each = count(edge.target, wanted, cap);
      const std::uint64_t width = edge.high - edge.low + 1;
      total += std::min(cap, each * width);  // both below 2^32
    }
  }
  return std::min(total, cap);
}

Result<KeyAutomaton> build_key_automaton(std::vector<std::string> names,
                                         const std::vector<PatternId>& patterns,
                                         const PatternTable& table, Budget& budget) {
  KeyAutomaton out;
  out.names = std::move(names);
  Draft draft;
  DAYBREAK_CHECK_OK(Builder(out.names, patterns, table, budget).run(out, draft));
  DAYBREAK_CHECK_OK(finish(out, draft, budget));
  return out;
}

Result<KeyAutomaton> keep_labels(const KeyAutomaton& all, const std::vector<bool>& keep,
                                 Budget& budget) {
  KeyAutomaton out;
  out.names = all.names;
  out.atoms = all.atoms;
  Draft draft;
  std::vector<bool> ends(all.states.size());
  for (std::size_t state = 0; state < all.states.size(); ++state) {
    const KeyLabel label = all.states[state].label;
    draft.labels.push_back(label != kNoLabel && keep[label] ? label : kNoLabel);
    ends[state] = draft.labels.back() != kNoLabel;
    const auto edges = all.language->dfa().edges(static_cast<Dfa::State>(state));
    draft.edges.emplace_back(edges.begin(), edges.end());
  }
  DAYBREAK_CHECK_OK(budget.spend(all.states.size() * 4, "properties"));
  const std::vector<bool> alive = reaching(before_of(draft.edges), ends);
  // Renumbers the states that are left; the start stays 0.
  std::vector<std::uint32_t> number(alive.size(), kNowhere);
  Draft kept;
  std::uint32_t next = 0;
  for (std::size_t state = 0; state < alive.size() && alive[0]; ++state) {
    number[state] = alive[state] ? next++ : kNowhere;
  }
  for (std::size_t state = 0; state < alive.size() && alive[0]; ++state) {
    if (!alive[state]) {
      continue;
    }
    kept.labels.push_back(draft.labels[state]);
    std::vector<Dfa::Edge>& edges = kept.edges.emplace_back();
    for (const Dfa::Edge& edge : draft.edges[state]) {
      if (alive[edge.target]) {
        edges.push_back({edge.low, edge.high, number[edge.target]});
      }
    }
  }
  DAYBREAK_CHECK_OK(finish(out, kept, budget));
  return out;
}

}  // namespace daybreak::grammar
