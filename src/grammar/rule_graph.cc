// SPDX-License-Identifier: Apache-2.0
#include "grammar/rule_graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace daybreak::grammar {
namespace {

using Edge = RuleGraph::Edge;
using Kind = RuleGraph::EdgeKind;
using NodeId = RuleGraph::NodeId;

// The automata while they are built: edges that take nothing are still there.
struct Draft {
  struct Node {
    std::vector<Edge> edges;
    std::vector<NodeId> empty;
  };
  std::vector<Node> nodes;

  NodeId add() {
    nodes.emplace_back();
    return static_cast<NodeId>(nodes.size() - 1);
  }
};

// Adds byte edges from `from` to `to` for the code points [low, high], which all have UTF-8 forms
// of `size` bytes.
void add_utf8(Draft& draft, NodeId from, NodeId to, std::uint32_t low, std::uint32_t high,
              std::size_t size) {
  if (size == 1) {
    draft.nodes[from].edges.push_back(
        {Kind::kByte, static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(high), 0, 0, to});
    return;
  }
  // Splits off what does not fill whole blocks of the last 6 * (size - 1) bits.
  const int shift = 6 * (static_cast<int>(size) - 1);
  const std::uint32_t mask = (std::uint32_t{1} << shift) - 1;
  const auto lead = [&](std::uint32_t code_point) {
    static constexpr std::array<std::uint8_t, 5> kLead{0, 0, 0xC0, 0xE0, 0xF0};
    return static_cast<std::uint8_t>(kLead[size] | (code_point >> shift));
  };
  const auto tail = [&](auto&& self, NodeId node, std::uint32_t first, std::uint32_t last,
                        int bits) -> void {
    if (bits == 6) {
      draft.nodes[node].edges.push_back({Kind::kByte, static_cast<std::uint8_t>(0x80 | first),
                                         static_cast<std::uint8_t>(0x80 | last), 0, 0, to});
      return;
    }
    const std::uint32_t rest = (std::uint32_t{1} << (bits - 6)) - 1;
    while (first <= last) {
      const std::uint32_t block = first >> (bits - 6);
      std::uint32_t end_block = block;
      std::uint32_t end = std::min(last, (first | rest));
      if ((first & rest) == 0 && end == (first | rest)) {
        end_block = ((last + 1) >> (bits - 6)) - 1;  // as many whole blocks as there are
        end = (end_block << (bits - 6)) | rest;
      }
      const NodeId next = draft.add();
      draft.nodes[node].edges.push_back({Kind::kByte, static_cast<std::uint8_t>(0x80 | block),
                                         static_cast<std::uint8_t>(0x80 | end_block), 0, 0, next});
      self(self, next, first & rest,
           end == (first | rest) || end_block != block ? rest : end & rest, bits - 6);
      first = end + 1;
    }
  };
  while (low <= high) {
    const std::uint32_t end = std::min(high, low | mask);
    const NodeId next = draft.add();
    draft.nodes[from].edges.push_back({Kind::kByte, lead(low), lead(low), 0, 0, next});
    tail(tail, next, low & mask, end & mask, shift);
    low = end + 1;
  }
}

void add_chars(Draft& draft, NodeId from, NodeId to, const CharSet& set) {
  static constexpr std::array<std::uint32_t, 4> kLast{0x7F, 0x7FF, 0xFFFF, kMaxCodePoint};
  for (const CharRange& range : set.ranges()) {
    std::uint32_t low = range.low;
    for (std::size_t size = 1; size <= kLast.size(); ++size) {
      const std::uint32_t high = std::min(range.high, kLast[size - 1]);
      if (low <= high) {
        add_utf8(draft, from, to, low, high, size);
        low = high + 1;
      }
    }
  }
}

class Builder {
 public:
  Builder(const RuleSet& rules, Budget& budget) : rules_(rules), budget_(budget) {}

  Result<RuleGraph> run() {
    for (std::size_t i = 0; i < rules_.rules.size(); ++i) {
      starts_.push_back(draft_.add());
      ends_.push_back(draft_.add());
    }
    const NodeId start = draft_.add();
    const NodeId end = draft_.add();
    DAYBREAK_CHECK_OK(add(*rules_.start, start, end));
    for (std::size_t i = 0; i < rules_.rules.size(); ++i) {
      DAYBREAK_CHECK_OK(add(*rules_.rules[i], starts_[i], ends_[i]));
    }
    final_.assign(draft_.nodes.size(), false);
    final_[end] = true;
    for (const NodeId rule_end : ends_) {
      final_[rule_end] = true;
    }
    graph_.start = start;
    DAYBREAK_CHECK_OK(close());
    return std::move(graph_);
  }

 private:
  Status add(const Expression& expression, NodeId from, NodeId to) {
    using Of = Expression::Kind;
    DAYBREAK_CHECK_OK(budget_.spend(1 + expression.bytes.size(), "grammar"));
    switch (expression.kind) {
      case Of::kBytes:
        add_bytes(expression.bytes, from, to);
        return ok();
      case Of::kChars:
        DAYBREAK_CHECK_OK(budget_.spend(8 * expression.chars.ranges().size(), "grammar"));
        add_chars(draft_, from, to, expression.chars);
        return ok();
      case Of::kMarker:
        edge(from, {Kind::kMarker, 0, 0, 0, expression.marker, to});
        return ok();
      case Of::kSequence:
        return add_sequence(expression, from, to);
      case Of::kChoice:
        for (const ExpressionPtr& item : expression.items) {
          DAYBREAK_CHECK_OK(add(*item, from, to));
        }
        return ok();
      case Of::kRepeat:
        return add_repeat(expression, from, to);
      case Of::kRule:
        edge(from, {Kind::kCall, 0, 0, 0, starts_[expression.rule], to});
        return ok();
      case Of::kText:
        edge(from, {Kind::kText, 0, 0, 0, static_cast<std::uint32_t>(graph_.languages.size()), to});
        graph_.languages.push_back(expression.language);
        return ok();
      case Of::kJson:
        edge(from, {Kind::kJson, 0, 0, expression.types, expression.formula, to});
        return ok();
    }
    return ok();
  }

  void edge(NodeId from, Edge edge) { draft_.nodes[from].edges.push_back(edge); }
  void nothing(NodeId from, NodeId to) { draft_.nodes[from].empty.push_back(to); }

  void add_bytes(std::string_view text, NodeId from, NodeId to) {
    if (text.empty()) {
      nothing(from, to);
      return;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
      const NodeId next = i + 1 == text.size() ? to : draft_.add();
      const auto byte = static_cast<std::uint8_t>(text[i]);
      edge(from, {Kind::kByte, byte, byte, 0, 0, next});
      from = next;
    }
  }

  Status add_sequence(const Expression& expression, NodeId from, NodeId to) {
    for (const ExpressionPtr& item : expression.items) {
      const NodeId next = draft_.add();
      DAYBREAK_CHECK_OK(add(*item, from, next));
      from = next;
    }
    nothing(from, to);
    return ok();
  }

  // One copy per possible turn, or a circle at the end. Each turn has nodes of its own: a choice
  // between `from` and `to` must not let two repeats share a circle.
  Status add_repeat(const Expression& expression, NodeId from, NodeId to) {
    const Expression& item = *expression.items.front();
    NodeId at = draft_.add();
    nothing(from, at);
    for (std::uint32_t turn = 0; turn < expression.min; ++turn) {
      const NodeId next = draft_.add();
      DAYBREAK_CHECK_OK(add(item, at, next));
      at = next;
    }
    if (expression.max == Expression::kNoMax) {
      const NodeId circle = draft_.add();
      nothing(at, circle);
      const NodeId turn = draft_.add();
      DAYBREAK_CHECK_OK(add(item, circle, turn));
      nothing(turn, circle);
      nothing(circle, to);
      return ok();
    }
    for (std::uint32_t turn = expression.min; turn < expression.max; ++turn) {
      nothing(at, to);
      const NodeId next = draft_.add();
      DAYBREAK_CHECK_OK(add(item, at, next));
      at = next;
    }
    nothing(at, to);
    return ok();
  }

  // Gives every node the edges of all nodes it reaches by taking nothing.
  Status close() {
    std::vector<NodeId> number(draft_.nodes.size(), kUnused);
    std::vector<NodeId> order;
    const auto number_of = [&](NodeId node) {
      if (number[node] == kUnused) {
        number[node] = static_cast<NodeId>(order.size());
        order.push_back(node);
      }
      return number[node];
    };
    graph_.start = number_of(graph_.start);
    for (std::size_t i = 0; i < order.size(); ++i) {
      DAYBREAK_TRY(std::vector<Edge> edges, closure(order[i]));
      RuleGraph::Node node;
      node.final = closure_final_;
      node.first = static_cast<std::uint32_t>(graph_.edges.size());
      for (Edge& edge : edges) {
        node.reads = node.reads || edge.kind == Kind::kByte || edge.kind == Kind::kMarker;
        edge.target = number_of(edge.target);
        edge.value = edge.kind == Kind::kCall ? number_of(edge.value) : edge.value;
        graph_.edges.push_back(edge);
      }
      node.last = static_cast<std::uint32_t>(graph_.edges.size());
      graph_.nodes.push_back(node);
    }
    return ok();
  }

  Result<std::vector<Edge>> closure(NodeId node) {
    std::vector<NodeId> reached{node};
    std::vector<Edge> edges;
    closure_final_ = false;
    ++round_;
    seen_.resize(draft_.nodes.size());
    seen_[node] = round_;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const Draft::Node& own = draft_.nodes[reached[i]];
      closure_final_ = closure_final_ || final_[reached[i]];
      edges.insert(edges.end(), own.edges.begin(), own.edges.end());
      for (const NodeId next : own.empty) {
        if (seen_[next] != round_) {
          seen_[next] = round_;
          reached.push_back(next);
        }
      }
    }
    DAYBREAK_CHECK_OK(budget_.spend(reached.size() + edges.size(), "grammar"));
    std::ranges::sort(edges);
    const auto doubles = std::ranges::unique(edges);
    edges.erase(doubles.begin(), doubles.end());
    return edges;
  }

  static constexpr NodeId kUnused = 0xFFFFFFFF;
  const RuleSet& rules_;
  Budget& budget_;
  Draft draft_;
  std::vector<NodeId> starts_, ends_;
  std::vector<bool> final_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  bool closure_final_ = false;
  RuleGraph graph_;
};

}  // namespace

std::size_t RuleGraph::bytes() const {
  std::size_t total = nodes.size() * sizeof(Node) + edges.size() * sizeof(Edge) +
                      languages.size() * sizeof(languages.front());
  for (const auto& language : languages) {
    total += language->free() ? 0 : language->bytes();
  }
  return total;
}

Result<RuleGraph> build_rule_graph(const RuleSet& rules, Budget& budget) {
  return Builder(rules, budget).run();
}

}  // namespace daybreak::grammar
