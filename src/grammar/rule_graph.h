// SPDX-License-Identifier: Apache-2.0
#pragma once

// RuleGraph: the rules of a grammar as automata that call each other. Without edges that take
// nothing, so that every edge but a call reads something.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "grammar/budget.h"
#include "grammar/expression.h"

namespace daybreak::grammar {

struct RuleGraph {
  using NodeId = std::uint32_t;

  enum class EdgeKind : std::uint8_t {
    kByte,    // one byte in [low, high]
    kMarker,  // the special token `value`
    kCall,    // the rule that starts at node `value`
    kText,    // a raw text of languages[value]
    kJson,    // a JSON value of formula `value`, of the types in `types`
  };
  struct Edge {
    EdgeKind kind = EdgeKind::kByte;
    std::uint8_t low = 0, high = 0;
    std::uint8_t types = 0;
    std::uint32_t value = 0;
    NodeId target = 0;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  struct Node {
    std::uint32_t first = 0, last = 0;  // edges [first, last)
    bool final = false;                 // the rule may end here
    bool reads = false;                 // has a kByte or kMarker edge
  };

  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<std::shared_ptr<const StringLanguage>> languages;
  NodeId start = 0;

  // Whether nothing can follow within the rule: a call that leads here needs no way back.
  [[nodiscard]] bool at_end(NodeId node) const {
    return nodes[node].final && nodes[node].first == nodes[node].last;
  }
  [[nodiscard]] std::size_t bytes() const;
};

// REQUIRES: no left recursion (without_left_recursion()). Errors: kTooLarge.
[[nodiscard]] Result<RuleGraph> build_rule_graph(const RuleSet& rules, Budget& budget);

}  // namespace daybreak::grammar
