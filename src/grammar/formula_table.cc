// SPDX-License-Identifier: Apache-2.0
#include "grammar/formula_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "grammar/merge_equal.h"

namespace daybreak::grammar {
namespace {

constexpr std::size_t kMaxListedKeys = 64;  // a finite pattern's keys become names up to here
constexpr std::size_t kMaxAtOnce = 4;       // conditions that one child may fulfil

Error too_many_conditions(std::string_view keyword, std::size_t most, std::string_view where) {
  return Error{Errc::kUnsupported,
               std::string(keyword) + " cannot be enforced exactly: expected at most " +
                   std::to_string(most) + " conditions of the kind \"some member must\" " +
                   "(from contains, not, oneOf or if) on one " + std::string(where) +
                   ", found more"};
}

// What a key set says of one label.
bool has_name(const KeySet& keys, const std::string& name, const PatternTable& patterns) {
  const bool listed = std::ranges::binary_search(keys.names, name) ||
                      std::ranges::any_of(keys.patterns, [&](PatternId id) {
                        return patterns.dfa(id)->contains(name);
                      });
  return listed != keys.complement;
}

bool has_atom(const KeySet& keys, const std::vector<PatternId>& matched) {
  const bool listed = std::ranges::any_of(
      keys.patterns, [&](PatternId id) { return std::ranges::binary_search(matched, id); });
  return listed != keys.complement;
}

}  // namespace

// Rules about all members, by the label they apply to.
struct FormulaTable::LabelRules {
  std::vector<Conjunction> by_name;  // [names], from rules that list names only
  std::vector<KeyRule> wide;         // the others, to be asked for each label

  LabelRules(const std::vector<KeyRule>& every, const std::vector<std::string>& names)
      : by_name(names.size()) {
    for (const KeyRule& rule : every) {
      if (rule.keys.complement || !rule.keys.patterns.empty()) {
        wide.push_back(rule);
        continue;
      }
      for (const std::string& name : rule.keys.names) {
        const auto at = std::ranges::lower_bound(names, name) - names.begin();
        by_name[static_cast<std::size_t>(at)].push_back(rule.value);
      }
    }
  }
};

namespace {

// The names and the patterns that a term speaks of; small finite patterns count as names.
struct Vocabulary {
  std::set<std::string> names;
  std::set<PatternId> patterns;

  void add(const KeySet& keys, const PatternTable& table) {
    names.insert(keys.names.begin(), keys.names.end());
    for (const PatternId id : keys.patterns) {
      if (const auto listed = table.dfa(id)->list(kMaxListedKeys)) {
        names.insert(listed->begin(), listed->end());
      } else {
        patterns.insert(id);
      }
    }
  }
};

}  // namespace

Result<FormulaId> FormulaTable::of(const Schema& schema) {
  return intern({normaliser_.literals().of(schema)});
}

Result<FormulaId> FormulaTable::intern(Conjunction literals) {
  literals = LiteralTable::simplify(std::move(literals));
  const auto next = static_cast<FormulaId>(conjunctions_.size());
  const auto [place, added] = ids_.emplace(literals, next);
  if (added) {
    if (next == kMaxFormulas) {
      return Error{Errc::kTooLarge, "schema: expected at most " + std::to_string(kMaxFormulas) +
                                        " different combinations of subschemas, found more"};
    }
    DAYBREAK_CHECK_OK(normaliser_.budget().spend(literals.size() + 1, "schema"));
    conjunctions_.push_back(std::move(literals));
    out_.formulas.emplace_back();
  }
  return place->second;
}

Result<CompiledSchemas> FormulaTable::close() && {
  for (FormulaId id = 0; id < conjunctions_.size(); ++id) {
    blamed_ = subject(id);
    DAYBREAK_CHECK_OK(expand(id));
  }
  DAYBREAK_CHECK_OK(decide());
  blamed_ = nullptr;
  find_contradiction();
  DAYBREAK_CHECK_OK(prune());
  DAYBREAK_CHECK_OK(merge_equal(out_, normaliser_.budget()));
  return std::move(out_);
}

const Schema* FormulaTable::subject(FormulaId id) const {
  for (const LiteralId literal : conjunctions_[id]) {
    if (const Schema* schema = normaliser_.literals().atom(literal).schema; schema != nullptr) {
      return schema;
    }
  }
  return nullptr;
}

Status FormulaTable::expand(FormulaId id) {
  const Conjunction literals = conjunctions_[id];
  Formula formula;
  DAYBREAK_TRY(formula.null, normaliser_.null(literals));
  DAYBREAK_TRY(formula.booleans, normaliser_.booleans(literals));
  DAYBREAK_TRY(formula.numbers, normaliser_.numbers(literals));
  DAYBREAK_TRY(formula.strings, normaliser_.strings(literals));
  DAYBREAK_TRY(const auto objects, normaliser_.objects(literals));
  for (const ObjectTerm& term : objects) {
    DAYBREAK_CHECK_OK(add_object(term, formula));
  }
  DAYBREAK_TRY(const auto arrays, normaliser_.arrays(literals));
  for (const ArrayTerm& term : arrays) {
    DAYBREAK_CHECK_OK(add_array(term, formula));
  }
  object_owners_.resize(out_.objects.size(), id);
  array_owners_.resize(out_.arrays.size(), id);
  out_.formulas[id] = std::move(formula);
  return ok();
}

Status FormulaTable::add_object(const ObjectTerm& term, Formula& formula) {
  // "Some member NAME is such" is the same as "NAME is required and such".
  ObjectTerm own = term;
  std::vector<KeyRule> some;
  for (const KeyRule& rule : term.some) {
    if (rule.keys.single_name()) {
      own.required.push_back(rule.keys.names.front());
      own.every.push_back(rule);
    } else {
      some.push_back(rule);
    }
  }
  if (some.size() > kMaxConditions) {
    return too_many_conditions("object", kMaxConditions, "value");
  }
  Vocabulary vocabulary;
  vocabulary.names.insert(own.required.begin(), own.required.end());
  for (const KeyRule& rule : own.every) {
    vocabulary.add(rule.keys, normaliser_.patterns());
  }
  for (const KeyRule& rule : some) {
    vocabulary.add(rule.keys, normaliser_.patterns());
  }
  ObjectShape shape;
  DAYBREAK_TRY(shape.keys,
               build_key_automaton({vocabulary.names.begin(), vocabulary.names.end()},
                                   {vocabulary.patterns.begin(), vocabulary.patterns.end()},
                                   normaliser_.patterns(), normaliser_.budget()));
  shape.required.assign((shape.keys.names.size() + 63) / 64, 0);
  for (const std::string& name : own.required) {
    const auto at = std::ranges::lower_bound(shape.keys.names, name) - shape.keys.names.begin();
    const auto i = static_cast<std::size_t>(at);
    shape.required[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  shape.conditions = (1U << some.size()) - 1;
  shape.min = own.min;
  shape.max = own.max;
  const std::size_t labels = shape.keys.names.size() + shape.keys.atoms.size();
  shape.options.resize(labels);
  const LabelRules rules(own.every, shape.keys.names);
  for (KeyLabel label = 0; label < labels; ++label) {
    DAYBREAK_CHECK_OK(add_options(rules, some, label, shape));
  }
  formula.objects.push_back(static_cast<std::uint32_t>(out_.objects.size()));
  out_.objects.push_back(std::move(shape));
  return ok();
}

Status FormulaTable::add_options(const LabelRules& rules, const std::vector<KeyRule>& some,
                                 KeyLabel label, ObjectShape& shape) {
  const bool is_name = label < shape.keys.names.size();
  std::uint64_t steps = 1;
  for (const auto* list : {&rules.wide, &some}) {
    for (const KeyRule& rule : *list) {
      steps += 1 + rule.keys.patterns.size() * (is_name ? shape.keys.names[label].size() / 8 : 1);
    }
  }
  DAYBREAK_CHECK_OK(normaliser_.budget().spend(steps, "properties"));
  const auto applies = [&](const KeySet& keys) {
    return is_name ? has_name(keys, shape.keys.names[label], normaliser_.patterns())
                   : has_atom(keys, shape.keys.atoms[label - shape.keys.names.size()]);
  };
  Conjunction base = is_name ? rules.by_name[label] : Conjunction{};
  for (const KeyRule& rule : rules.wide) {
    if (applies(rule.keys)) {
      base.push_back(rule.value);
    }
  }
  std::vector<std::uint32_t> able;
  for (std::uint32_t i = 0; i < some.size(); ++i) {
    if (applies(some[i].keys)) {
      able.push_back(i);
    }
  }
  if (able.size() > kMaxAtOnce) {
    return too_many_conditions("object", kMaxAtOnce, "member");
  }
  for (std::uint32_t choice = 0; choice < (1U << able.size()); ++choice) {
    Conjunction literals = base;
    std::uint32_t fulfils = 0;
    for (std::size_t i = 0; i < able.size(); ++i) {
      if (((choice >> i) & 1U) != 0) {
        literals.push_back(some[able[i]].value);
        fulfils |= 1U << able[i];
      }
    }
    literals = LiteralTable::simplify(std::move(literals));
    if (!literals.empty() && literals.front() == kFalseLiteral) {
      continue;
    }
    DAYBREAK_TRY(const FormulaId formula, intern(std::move(literals)));
    shape.options[label].push_back({formula, fulfils});
  }
  return ok();
}

Status FormulaTable::add_array(const ArrayTerm& term, Formula& formula) {
  if (term.contains.size() > kMaxConditions) {
    return too_many_conditions("array", kMaxConditions, "value");
  }
  ArrayShape shape;
  shape.min = term.min;
  shape.max = term.max;
  shape.unique = term.unique && term.max > 1;
  std::uint64_t prefix = 0;
  for (const ElementRule& rule : term.at) {
    prefix = std::max(prefix, rule.index + 1);
  }
  for (const ElementRule& rule : term.from) {
    prefix = std::max(prefix, rule.index);
  }
  for (const ContainsRule& rule : term.contains) {
    prefix = std::max(prefix, rule.from);
    shape.conditions.push_back({rule.from, rule.min, rule.max});
  }
  DAYBREAK_CHECK_OK(
      normaliser_.budget().spend(prefix * (1 + term.from.size() / 16), "prefixItems"));
  for (std::uint64_t index = 0; index < prefix; ++index) {
    DAYBREAK_TRY(auto options, element_options(term, index));
    shape.prefix.push_back(std::move(options));
  }
  DAYBREAK_TRY(shape.tail, element_options(term, prefix));
  formula.arrays.push_back(static_cast<std::uint32_t>(out_.arrays.size()));
  out_.arrays.push_back(std::move(shape));
  return ok();
}

Result<std::vector<ChildOption>> FormulaTable::element_options(const ArrayTerm& term,
                                                               std::uint64_t index) {
  Conjunction base;
  for (const ElementRule& rule :
       std::ranges::equal_range(term.at, index, {}, &ElementRule::index)) {
    base.push_back(rule.value);
  }
  for (const ElementRule& rule : term.from) {
    if (index >= rule.index) {
      base.push_back(rule.value);
    }
  }
  std::vector<std::uint32_t> able;
  for (std::uint32_t i = 0; i < term.contains.size(); ++i) {
    if (index >= term.contains[i].from) {
      able.push_back(i);
    }
  }
  if (able.size() > kMaxAtOnce) {
    return too_many_conditions("array", kMaxAtOnce, "element");
  }
  std::vector<ChildOption> options;
  for (std::uint32_t choice = 0; choice < (1U << able.size()); ++choice) {
    Conjunction literals = base;
    std::uint32_t fulfils = 0;
    for (std::size_t i = 0; i < able.size(); ++i) {
      const ContainsRule& rule = term.contains[able[i]];
      if (((choice >> i) & 1U) != 0) {
        literals.push_back(rule.value);
        fulfils |= 1U << able[i];
      } else if (rule.max != kNoLimit) {
        literals.push_back(LiteralTable::negate(rule.value));  // an exact count needs certainty
      }
    }
    literals = LiteralTable::simplify(std::move(literals));
    if (!literals.empty() && literals.front() == kFalseLiteral) {
      continue;
    }
    DAYBREAK_TRY(const FormulaId formula, intern(std::move(literals)));
    options.push_back({formula, fulfils});
  }
  return options;
}

}  // namespace daybreak::grammar
