// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "grammar/container_kinds.h"
#include "grammar/scalar_kinds.h"
#include "grammar/static_members.h"

namespace daybreak::grammar {
namespace {

using TermPart = Part<ArrayTerm>;
using Terms = ArrayKind::Terms;

// "from `from` on, between min and max elements satisfy `value`": the opposite.
void break_contains(const ContainsRule& rule, Terms& broken) {
  if (rule.min > 0) {
    ArrayTerm fewer;
    fewer.contains = {{rule.from, rule.value, 0, rule.min - 1}};
    broken.push_back(fewer);
  }
  if (rule.max != kNoLimit) {
    ArrayTerm more;
    more.contains = {{rule.from, rule.value, rule.max + 1, kNoLimit}};
    broken.push_back(more);
  }
}

// A part of all rules of one schema about its elements. `unique` is no part of it.
TermPart rules_part(ArrayTerm term) {
  std::ranges::sort(term.at);
  Terms broken;
  for (const ElementRule& rule : term.at) {
    ArrayTerm other;
    other.at = {{rule.index, LiteralTable::negate(rule.value)}};
    other.min = rule.index + 1;
    broken.push_back(std::move(other));
  }
  for (const ElementRule& rule : term.from) {
    ArrayTerm other;
    other.contains = {{rule.index, LiteralTable::negate(rule.value), 1, kNoLimit}};
    broken.push_back(std::move(other));
  }
  for (const ContainsRule& rule : term.contains) {
    break_contains(rule, broken);
  }
  if (term.min > 0) {
    ArrayTerm fewer;
    fewer.max = term.min - 1;
    broken.push_back(fewer);
  }
  if (term.max != kNoLimit) {
    ArrayTerm more;
    more.min = term.max + 1;
    broken.push_back(more);
  }
  Terms own;
  if (term.min <= term.max) {
    own.push_back(std::move(term));
  }
  return constant_part<ArrayTerm>({std::move(own), std::move(broken)});
}

}  // namespace

TermPart ArrayKind::value(const JsonNode& node, Self& expander) {
  static_cast<void>(expander);
  if (!node.is(JsonNode::Kind::kArray)) {
    return always<Term>(false);
  }
  ArrayTerm term;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    term.at.push_back({i, normaliser->literals().of(node.items[i])});
  }
  term.min = term.max = node.items.size();
  return rules_part(std::move(term));
}

Status ArrayKind::keywords(const Schema& schema, std::vector<TermPart>& parts, Self& expander) {
  static_cast<void>(expander);
  DAYBREAK_CHECK_OK(elements(schema, parts));
  if (schema.unique_items) {
    parts.push_back([&schema](bool negated) -> Result<Terms> {
      if (negated) {
        return not_enforceable(schema, "uniqueItems", "its opposite is asked for (not, oneOf, if)");
      }
      Term term;
      term.unique = true;
      return Terms{term};
    });
  }
  return unevaluated(schema, parts);
}

Status ArrayKind::elements(const Schema& schema, std::vector<TermPart>& parts) {
  ArrayTerm term;
  LiteralTable& literals = normaliser->literals();
  for (std::size_t i = 0; i < schema.prefix_items.size(); ++i) {
    const LiteralId value = literals.of(*schema.prefix_items[i]);
    if (value != kTrueLiteral) {
      term.at.push_back({i, value});
    }
  }
  if (schema.items != nullptr && literals.of(*schema.items) != kTrueLiteral) {
    term.from.push_back({schema.prefix_items.size(), literals.of(*schema.items)});
  }
  if (schema.contains != nullptr) {
    const ContainsRule rule{0, literals.of(*schema.contains), schema.min_contains.value_or(1),
                            schema.max_contains.value_or(kNoLimit)};
    if (rule.min > rule.max) {
      parts.push_back(always<Term>(false));
    } else if (rule.min > 0 || rule.max != kNoLimit) {
      term.contains.push_back(rule);
    }
  }
  term.min = schema.min_items.value_or(0);
  term.max = schema.max_items.value_or(kNoLimit);
  if (term != ArrayTerm{}) {
    parts.push_back(rules_part(std::move(term)));
  }
  return ok();
}

Status ArrayKind::unevaluated(const Schema& schema, std::vector<TermPart>& parts) {
  if (schema.unevaluated_items == nullptr || schema.unevaluated_items->always == true) {
    return ok();
  }
  DAYBREAK_TRY(const StaticElements evaluated, static_elements(schema));
  if (!evaluated.all) {
    ArrayTerm term;
    term.from = {{evaluated.prefix, normaliser->literals().of(*schema.unevaluated_items)}};
    parts.push_back(rules_part(std::move(term)));
  }
  return ok();
}

Result<std::optional<ArrayTerm>> ArrayKind::meet(const Term& a, const Term& b) {
  Term both = grammar::meet(a, b);
  for (const ContainsRule& rule : both.contains) {
    if (rule.min > both.max) {
      return std::optional<Term>();
    }
  }
  return both.min > both.max ? std::optional<Term>() : std::optional<Term>(std::move(both));
}

}  // namespace daybreak::grammar
