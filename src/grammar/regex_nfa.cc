// SPDX-License-Identifier: Apache-2.0
#include "grammar/regex_nfa.h"

#include <utility>

namespace daybreak::grammar {

using Kind = RegexNfaNode::Kind;

RegexNfa::Index RegexNfa::add(RegexNfaNode node) {
  nodes_.push_back(node);
  return static_cast<Index>(nodes_.size() - 1);
}

RegexNfa::Index RegexNfa::add_search(std::uint32_t any, Index next) {
  const Index loop = add({.kind = Kind::kChars, .set = any});
  const Index split = add({.kind = Kind::kSplit, .next = next, .other = loop});
  nodes_[loop].next = split;
  return split;
}

Result<RegexNfa::Index> RegexNfa::build(std::uint32_t ast_node, Index next, Budget& budget) {
  DAYBREAK_CHECK_OK(budget.spend(1, "regular expression"));
  const RegexNode& node = ast_.nodes[ast_node];
  switch (node.kind) {
    case RegexNode::Kind::kChars:
      return add({.kind = Kind::kChars, .set = node.set, .next = next});
    case RegexNode::Kind::kSequence:
      for (auto item = node.items.rbegin(); item != node.items.rend(); ++item) {
        DAYBREAK_TRY(next, build(*item, next, budget));
      }
      return next;
    case RegexNode::Kind::kChoice: {
      DAYBREAK_TRY(Index first, build(node.items.back(), next, budget));
      for (auto item = node.items.rbegin() + 1; item != node.items.rend(); ++item) {
        DAYBREAK_TRY(const Index other, build(*item, next, budget));
        first = add({.kind = Kind::kSplit, .next = other, .other = first});
      }
      return first;
    }
    case RegexNode::Kind::kRepeat:
      return repeat(node, next, budget);
    case RegexNode::Kind::kBegin:
    case RegexNode::Kind::kLook:
    case RegexNode::Kind::kBoundary:
      return add({.kind = Kind::kAssert, .ast = ast_node, .next = next});
  }
  return next;
}

Result<RegexNfa::Index> RegexNfa::repeat(const RegexNode& node, Index next, Budget& budget) {
  const std::uint32_t body = node.items[0];
  Index first = next;
  if (node.max == RegexNode::kNoMax) {
    first = add({.kind = Kind::kSplit, .other = next});
    DAYBREAK_TRY(const Index again, build(body, first, budget));
    nodes_[first].next = again;
  } else {
    // x{0,3} is (x(x(x)?)?)?: every way out is one step, so the states stay sets of one position.
    for (std::uint32_t i = node.min; i < node.max; ++i) {
      DAYBREAK_TRY(const Index copy, build(body, first, budget));
      first = add({.kind = Kind::kSplit, .next = copy, .other = next});
    }
  }
  for (std::uint32_t i = 0; i < node.min; ++i) {
    DAYBREAK_TRY(first, build(body, first, budget));
  }
  return first;
}

}  // namespace daybreak::grammar
