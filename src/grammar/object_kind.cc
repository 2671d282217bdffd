// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "grammar/container_kinds.h"
#include "grammar/scalar_kinds.h"
#include "grammar/static_members.h"

namespace daybreak::grammar {
namespace {

using TermPart = Part<ObjectTerm>;
using Terms = ObjectKind::Terms;

ObjectTerm requires_name(const std::string& name) {
  ObjectTerm term;
  term.required = {name};
  return term;
}

ObjectTerm every(KeySet keys, LiteralId value) {
  ObjectTerm term;
  term.every = {{std::move(keys), value}};
  return term;
}

// "name is a member", and its opposite.
TermPart present(const std::string& name) {
  return constant_part<ObjectTerm>(
      {Terms{requires_name(name)}, Terms{every(KeySet::name(name), kFalseLiteral)}});
}

// The opposite of "every member with such a key has such a value".
ObjectTerm violates(const KeyRule& rule) {
  const LiteralId opposite = LiteralTable::negate(rule.value);
  if (rule.keys.single_name()) {
    ObjectTerm term = requires_name(rule.keys.names.front());
    if (opposite != kTrueLiteral) {
      term.every = {{rule.keys, opposite}};
    }
    return term;
  }
  ObjectTerm term;
  term.some = {{rule.keys, opposite}};
  return term;
}

// A part of all rules of one schema about its members: one term, or one per way to break it.
TermPart rules_part(ObjectTerm term) {
  std::ranges::sort(term.every);
  std::ranges::sort(term.required);
  const auto doubles = std::ranges::unique(term.required);
  term.required.erase(doubles.begin(), doubles.end());
  Terms broken;
  for (const KeyRule& rule : term.every) {
    broken.push_back(violates(rule));
  }
  for (const std::string& name : term.required) {
    broken.push_back(every(KeySet::name(name), kFalseLiteral));
  }
  if (term.min > 0) {
    ObjectTerm fewer;
    fewer.max = term.min - 1;
    broken.push_back(fewer);
  }
  if (term.max != kNoLimit) {
    ObjectTerm more;
    more.min = term.max + 1;
    broken.push_back(more);
  }
  Terms own;
  if (term.min <= term.max) {
    own.push_back(std::move(term));
  }
  return constant_part<ObjectTerm>({std::move(own), std::move(broken)});
}

void add_rule(std::vector<KeyRule>& rules, KeySet keys, LiteralId value) {
  if (value != kTrueLiteral) {
    rules.push_back({std::move(keys), value});
  }
}

// Rules about names, but for those that speak of patterns, by the name.
class NameRules {
 public:
  explicit NameRules(const std::vector<KeyRule>& every) {
    for (const KeyRule& rule : every) {
      if (!rule.keys.patterns.empty()) {
        continue;
      }
      if (rule.keys.complement) {
        wide_.push_back(&rule);
        continue;
      }
      for (const std::string& name : rule.keys.names) {
        listed_.emplace_back(name, rule.value);
      }
    }
    std::ranges::sort(listed_);
  }

  // What a member `name` must satisfy.
  [[nodiscard]] Conjunction values_of(std::string_view name) const {
    Conjunction values;
    const auto own =
        std::ranges::equal_range(listed_, name, {}, &std::pair<std::string_view, LiteralId>::first);
    for (const auto& [listed, value] : own) {
      values.push_back(value);
    }
    for (const KeyRule* rule : wide_) {
      if (!std::ranges::binary_search(rule->keys.names, name)) {
        values.push_back(rule->value);
      }
    }
    return values;
  }
  [[nodiscard]] std::size_t size_of_wide() const { return wide_.size(); }

 private:
  std::vector<std::pair<std::string_view, LiteralId>> listed_;  // sorted
  std::vector<const KeyRule*> wide_;                            // about all names but some
};

template <class T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto doubles = std::ranges::unique(values);
  values.erase(doubles.begin(), doubles.end());
}

}  // namespace

TermPart ObjectKind::value(const JsonNode& node, Self& expander) {
  static_cast<void>(expander);
  if (!node.is(JsonNode::Kind::kObject)) {
    return always<Term>(false);
  }
  ObjectTerm term;
  KeySet others{node.keys, {}, true};
  sort_unique(others.names);
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    add_rule(term.every, KeySet::name(node.keys[i]), normaliser->literals().of(node.items[i]));
    term.required.push_back(node.keys[i]);
  }
  term.every.push_back({std::move(others), kFalseLiteral});
  return rules_part(std::move(term));
}

Status ObjectKind::keywords(const Schema& schema, std::vector<TermPart>& parts, Self& expander) {
  DAYBREAK_CHECK_OK(members(schema, parts));
  DAYBREAK_CHECK_OK(dependents(schema, parts, expander));
  return unevaluated(schema, parts);
}

Status ObjectKind::members(const Schema& schema, std::vector<TermPart>& parts) {
  ObjectTerm term;
  KeySet others{{}, {}, true};
  for (const auto& [name, value] : schema.properties) {
    add_rule(term.every, KeySet::name(name), normaliser->literals().of(*value));
    others.names.push_back(name);
  }
  for (const auto& [source, value] : schema.pattern_properties) {
    auto pattern = normaliser->patterns().regex(source, normaliser->budget());
    if (!pattern) {
      return std::move(pattern).error().in(schema.path + ": patternProperties");
    }
    add_rule(term.every, KeySet::pattern(*pattern), normaliser->literals().of(*value));
    others.patterns.push_back(*pattern);
  }
  if (schema.additional_properties != nullptr) {
    sort_unique(others.names);
    sort_unique(others.patterns);
    add_rule(term.every, std::move(others),
             normaliser->literals().of(*schema.additional_properties));
  }
  if (schema.property_names != nullptr) {
    DAYBREAK_TRY(const PatternId keys, normaliser->keys_of(*schema.property_names));
    add_rule(term.every, KeySet{{}, {keys}, true}, kFalseLiteral);
  }
  term.required = schema.required;
  term.min = schema.min_properties.value_or(0);
  term.max = schema.max_properties.value_or(kNoLimit);
  if (term != ObjectTerm{}) {
    parts.push_back(rules_part(std::move(term)));
  }
  return ok();
}

Status ObjectKind::dependents(const Schema& schema, std::vector<TermPart>& parts, Self& expander) {
  for (const auto& [name, needed] : schema.dependent_required) {
    if (needed.empty()) {
      continue;
    }
    ObjectTerm all;
    all.required = needed;
    parts.push_back(
        [absent = present(name), then = rules_part(std::move(all)), &expander](bool negated) {
          const std::vector<TermPart> either{[&](bool n) { return absent(!n); }, then};
          return expander.any(either, negated);
        });
  }
  for (const auto& [name, child] : schema.dependent_schemas) {
    parts.push_back(
        [absent = present(name), then = expander.part(*child), &expander](bool negated) {
          const std::vector<TermPart> either{[&](bool n) { return absent(!n); }, then};
          return expander.any(either, negated);
        });
  }
  return ok();
}

Status ObjectKind::unevaluated(const Schema& schema, std::vector<TermPart>& parts) {
  if (schema.unevaluated_properties == nullptr || schema.unevaluated_properties->always == true) {
    return ok();
  }
  DAYBREAK_TRY(const StaticMembers evaluated, static_members(schema));
  if (evaluated.all) {
    return ok();
  }
  KeySet others{evaluated.names, {}, true};
  for (const std::string& source : evaluated.patterns) {
    DAYBREAK_TRY(const PatternId id, normaliser->patterns().regex(source, normaliser->budget()));
    others.patterns.push_back(id);
  }
  sort_unique(others.names);
  sort_unique(others.patterns);
  ObjectTerm term;
  add_rule(term.every, std::move(others),
           normaliser->literals().of(*schema.unevaluated_properties));
  if (term != ObjectTerm{}) {
    parts.push_back(rules_part(std::move(term)));
  }
  return ok();
}

Result<std::optional<ObjectTerm>> ObjectKind::meet(const Term& a, const Term& b) {
  Term both = grammar::meet(a, b);
  if (both.min > both.max || both.required.size() > both.max) {
    return std::optional<Term>();
  }
  const NameRules rules(both.every);
  for (const std::string& name : both.required) {
    Conjunction values = rules.values_of(name);
    DAYBREAK_CHECK_OK(normaliser->budget().spend(1 + 2 * values.size() + rules.size_of_wide() / 8,
                                                 "required members"));
    if (!values.empty()) {
      DAYBREAK_TRY(const bool empty,
                   normaliser->certainly_empty(LiteralTable::simplify(std::move(values))));
      if (empty) {
        return std::optional<Term>();
      }
    }
  }
  return std::optional<Term>(std::move(both));
}

}  // namespace daybreak::grammar
