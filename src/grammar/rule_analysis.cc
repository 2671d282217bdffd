// SPDX-License-Identifier: Apache-2.0
#include "grammar/rule_analysis.h"

#include <algorithm>
#include <string>
#include <utility>

namespace daybreak::grammar {
namespace {

using Kind = Expression::Kind;

Status count_nodes(const Expression& expression, int depth, std::size_t& nodes, Budget& budget) {
  if (depth > kMaxExpressionDepth) {
    return Error{Errc::kTooLarge, "grammar: expected expressions at most " +
                                      std::to_string(kMaxExpressionDepth) +
                                      " levels deep, found a deeper one"};
  }
  DAYBREAK_CHECK_OK(budget.spend(1, "grammar"));
  ++nodes;
  for (const ExpressionPtr& item : expression.items) {
    DAYBREAK_CHECK_OK(count_nodes(*item, depth + 1, nodes, budget));
  }
  return ok();
}

// Whether an expression derives a text of some kind, given which rules do and which leaves: the
// empty text, or any.
template <class Leaf>
bool derives(const Expression& expression, const RuleFlags& rules, Leaf leaf) {
  const auto item_does = [&](const ExpressionPtr& item) { return derives(*item, rules, leaf); };
  const auto& items = expression.items;
  switch (expression.kind) {
    case Kind::kSequence:
      return std::all_of(items.begin(), items.end(), item_does);
    case Kind::kChoice:
      return std::any_of(items.begin(), items.end(), item_does);
    case Kind::kRepeat:
      return expression.min == 0 || item_does(items.front());
    case Kind::kRule:
      return rules[expression.rule] != 0;
    default:
      return leaf(expression);
  }
}

// The least solution of "a rule has the property if its body has", found by sweeps in alternating
// directions, which take chains of rules in either order at once.
template <class Holds>
Result<RuleFlags> least_solution(const RuleSet& rules, Budget& budget, Holds holds) {
  RuleFlags flags(rules.rules.size(), 0);
  std::size_t nodes = 0;
  bool changed = true;
  bool forward = true;
  while (changed) {
    changed = false;
    if (nodes == 0) {
      DAYBREAK_TRY(nodes, measure(rules, budget));
    } else {
      DAYBREAK_CHECK_OK(budget.spend(nodes, "grammar"));
    }
    for (std::size_t i = 0; i < flags.size(); ++i) {
      const std::size_t at = forward ? i : flags.size() - 1 - i;
      if (flags[at] == 0 && holds(*rules.rules[at], flags)) {
        flags[at] = 1;
        changed = true;
      }
    }
    forward = !forward;
  }
  return flags;
}

// Tarjan's algorithm, with its own stack: chains of rules may be long.
class Components {
 public:
  explicit Components(const std::vector<std::vector<std::uint32_t>>& edges)
      : edges_(edges), order_(edges.size(), 0), low_(edges.size(), 0), open_(edges.size(), 0) {}

  std::vector<std::vector<std::uint32_t>> run() {
    for (std::uint32_t node = 0; node < edges_.size(); ++node) {
      if (order_[node] == 0) {
        visit(node);
      }
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    std::uint32_t node;
    std::size_t next = 0;  // edge
  };

  void enter(std::uint32_t node) {
    order_[node] = low_[node] = ++count_;
    open_[node] = 1;
    path_.push_back(node);
    frames_.push_back({node});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::uint32_t node = frame.node;
      if (frame.next < edges_[node].size()) {
        const std::uint32_t target = edges_[node][frame.next++];
        if (order_[target] == 0) {
          enter(target);
        } else if (open_[target] != 0) {
          low_[node] = std::min(low_[node], order_[target]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
      }
      if (low_[node] == order_[node]) {
        close(node);
      }
    }
  }

  void close(std::uint32_t node) {
    std::vector<std::uint32_t> members;
    do {
      members.push_back(path_.back());
      open_[path_.back()] = 0;
      path_.pop_back();
    } while (members.back() != node);
    const auto& own = edges_[node];
    if (members.size() > 1 || std::find(own.begin(), own.end(), node) != own.end()) {
      std::sort(members.begin(), members.end());
      found_.push_back(std::move(members));
    }
  }

  const std::vector<std::vector<std::uint32_t>>& edges_;
  std::vector<std::uint32_t> order_, low_;  // from 1; 0: not seen
  RuleFlags open_;
  std::vector<std::uint32_t> path_;
  std::vector<Frame> frames_;
  std::vector<std::vector<std::uint32_t>> found_;
  std::uint32_t count_ = 0;
};

void append_calls(const Expression& expression, std::vector<std::uint32_t>& calls) {
  if (expression.kind == Kind::kRule) {
    calls.push_back(expression.rule);
  }
  for (const ExpressionPtr& item : expression.items) {
    append_calls(*item, calls);
  }
}

ExpressionPtr renumbered(const ExpressionPtr& expression,
                         const std::vector<std::uint32_t>& numbers) {
  if (expression->kind == Kind::kRule) {
    return rule(numbers[expression->rule]);
  }
  if (expression->items.empty()) {
    return expression;
  }
  Expression copy = *expression;
  for (ExpressionPtr& item : copy.items) {
    item = renumbered(item, numbers);
  }
  return std::make_shared<const Expression>(std::move(copy));
}

}  // namespace

Result<std::size_t> measure(const RuleSet& rules, Budget& budget) {
  std::size_t nodes = 0;
  DAYBREAK_CHECK_OK(count_nodes(*rules.start, 0, nodes, budget));
  for (const ExpressionPtr& body : rules.rules) {
    DAYBREAK_CHECK_OK(count_nodes(*body, 0, nodes, budget));
  }
  return nodes;
}

bool is_nullable(const Expression& expression, const RuleFlags& nullable) {
  return derives(expression, nullable, [](const Expression& leaf) {
    return (leaf.kind == Kind::kBytes && leaf.bytes.empty()) ||
           (leaf.kind == Kind::kText && leaf.language->accepts(Dfa::kStart, 0));
  });
}

bool is_productive(const Expression& expression, const RuleFlags& productive) {
  return derives(expression, productive, [](const Expression& leaf) {
    return leaf.kind != Kind::kChars || !leaf.chars.empty();
  });
}

Result<RuleFlags> nullable_rules(const RuleSet& rules, Budget& budget) {
  return least_solution(rules, budget, is_nullable);
}

Result<RuleFlags> productive_rules(const RuleSet& rules, Budget& budget) {
  return least_solution(rules, budget, is_productive);
}

void append_left_calls(const Expression& expression, const RuleFlags& nullable,
                       std::vector<std::uint32_t>& calls) {
  if (expression.kind == Kind::kRule) {
    calls.push_back(expression.rule);
  }
  for (const ExpressionPtr& item : expression.items) {
    append_left_calls(*item, nullable, calls);
    if (expression.kind == Kind::kSequence && !is_nullable(*item, nullable)) {
      return;
    }
  }
}

Result<std::vector<std::vector<std::uint32_t>>> left_recursive_sets(const RuleSet& rules,
                                                                    const RuleFlags& nullable,
                                                                    Budget& budget) {
  DAYBREAK_CHECK_OK(measure(rules, budget));
  std::vector<std::vector<std::uint32_t>> edges(rules.rules.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    append_left_calls(*rules.rules[i], nullable, edges[i]);
  }
  return Components(edges).run();
}

Result<RuleSet> only_reachable(RuleSet rules, Budget& budget) {
  DAYBREAK_CHECK_OK(measure(rules, budget));
  constexpr std::uint32_t kUnseen = 0xFFFFFFFF;
  std::vector<std::uint32_t> numbers(rules.rules.size(), kUnseen);
  std::vector<std::uint32_t> order;  // the rules reached, by new number
  std::vector<std::uint32_t> calls;
  append_calls(*rules.start, calls);
  for (std::size_t next = 0;; ++next) {
    for (const std::uint32_t called : calls) {
      if (numbers[called] == kUnseen) {
        numbers[called] = static_cast<std::uint32_t>(order.size());
        order.push_back(called);
      }
    }
    if (next == order.size()) {
      break;
    }
    calls.clear();
    append_calls(*rules.rules[order[next]], calls);
  }
  RuleSet reached{.start = renumbered(rules.start, numbers), .rules = {}, .names = {}};
  for (const std::uint32_t number : order) {
    reached.rules.push_back(renumbered(rules.rules[number], numbers));
    reached.names.push_back(std::move(rules.names[number]));
  }
  return reached;
}

}  // namespace daybreak::grammar
