// SPDX-License-Identifier: Apache-2.0
// The second half of FormulaTable: which formulas any value satisfies, and what is left then.
#include <algorithm>
#include <bit>
#include <utility>

#include "grammar/formula_table.h"
#include "grammar/scalar_kinds.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint64_t kLexerSteps = 40;  // of making a NumberLexer

// Whether counting each alternative counts no value twice.
Result<bool> disjoint_alternatives(const Formula& formula, Budget& budget) {
  DAYBREAK_CHECK_OK(budget.spend(
      formula.numbers.size() * formula.numbers.size() + formula.strings.size(), "uniqueItems"));
  for (std::size_t i = 0; i < formula.numbers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      DAYBREAK_TRY(const auto both, intersect(formula.numbers[i], formula.numbers[j], budget));
      if (both) {
        return false;
      }
    }
  }
  for (std::size_t i = 0; i < formula.strings.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      DAYBREAK_TRY(const auto both, intersect(*formula.strings[i], *formula.strings[j], budget));
      if (both != nullptr) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

std::uint64_t Formula::count_scalars(std::uint64_t cap) const {
  std::uint64_t total = static_cast<std::uint64_t>(null) + (booleans & 1U) + (booleans >> 1);
  for (const NumberLanguage& language : numbers) {
    total += count(language, cap);
  }
  for (const auto& language : strings) {
    total += language->count(Dfa::kStart, 0, cap);
  }
  return std::min(total, cap);
}

std::uint8_t Formula::types() const {
  const auto bit = [](bool any, TypeBits type) -> std::uint8_t { return any ? type : 0; };
  return static_cast<std::uint8_t>(
      bit(null, kNullType) | bit(booleans != 0, kBooleanType) | bit(!numbers.empty(), kNumberType) |
      bit(!strings.empty(), kStringType) | bit(!objects.empty(), kObjectType) |
      bit(!arrays.empty(), kArrayType));
}

std::size_t CompiledSchemas::bytes() const {
  std::size_t total = 0;
  for (const Formula& formula : formulas) {
    total += sizeof(Formula) + formula.numbers.size() * sizeof(NumberLanguage) +
             formula.strings.size() * sizeof(void*) +
             (formula.objects.size() + formula.arrays.size()) * 4;
    for (const auto& language : formula.strings) {
      total += language->free() ? 0 : language->bytes();
    }
    for (const auto& lexer : formula.lexers) {
      total += sizeof(lexer) + (lexer->language().plain() ? 0 : lexer->bytes());
    }
  }
  for (const ObjectShape& shape : objects) {
    total += sizeof(ObjectShape) + shape.keys.states.size() * sizeof(KeyAutomaton::State);
    total += shape.keys.language == nullptr ? 0 : shape.keys.language->bytes();
    for (const std::string& name : shape.keys.names) {
      total += sizeof(std::string) + name.size();
    }
    for (const auto& options : shape.options) {
      total += sizeof(options) + options.size() * sizeof(ChildOption);
    }
  }
  for (const ArrayShape& shape : arrays) {
    total += sizeof(ArrayShape) + (shape.distance.size() + shape.tail_distance.size()) * 4;
    for (const auto& options : shape.prefix) {
      total += sizeof(options) + options.size() * sizeof(ChildOption);
    }
  }
  return total;
}

Status FormulaTable::decide() {
  for (bool changed = true; changed;) {
    changed = false;
    DAYBREAK_CHECK_OK(normaliser_.budget().spend(out_.formulas.size(), "recursive subschemas"));
    // Backwards: most formulas were asked for by an earlier one, so one round decides them.
    for (std::size_t id = out_.formulas.size(); id-- > 0;) {
      Formula& formula = out_.formulas[id];
      if (!formula.satisfiable) {
        blamed_ = subject(static_cast<FormulaId>(id));
        DAYBREAK_TRY(formula.satisfiable, satisfiable(formula));
        changed = changed || formula.satisfiable;
      }
    }
  }
  return ok();
}

void FormulaTable::find_contradiction() {
  std::size_t longest = 0;
  for (FormulaId id = 0; id < conjunctions_.size(); ++id) {
    const Conjunction& literals = conjunctions_[id];
    if (out_.formulas[id].satisfiable || literals.size() != 1 ||
        LiteralTable::negated(literals.front())) {
      continue;
    }
    const Schema* schema = subject(id);
    if (schema != nullptr && schema->path.size() > longest) {
      longest = schema->path.size();
      contradiction_ = schema->path;
    }
  }
}

Result<bool> FormulaTable::satisfiable(const Formula& formula) {
  if ((formula.types() & (kNullType | kBooleanType | kNumberType | kStringType)) != 0) {
    return true;
  }
  for (const std::uint32_t shape : formula.objects) {
    DAYBREAK_TRY(const bool possible, satisfiable(out_.objects[shape]));
    if (possible) {
      return true;
    }
  }
  for (const std::uint32_t shape : formula.arrays) {
    DAYBREAK_TRY(const bool possible, satisfiable(out_.arrays[shape]));
    if (possible) {
      return true;
    }
  }
  return false;
}

std::vector<ChildOption> FormulaTable::live(const std::vector<ChildOption>& options) const {
  std::vector<ChildOption> left;
  for (const ChildOption& option : options) {
    if (out_.formulas[option.formula].satisfiable) {
      left.push_back(option);
    }
  }
  return left;
}

Result<bool> FormulaTable::satisfiable(const ObjectShape& shape) {
  // The search for members that fulfil the conditions looks at every set of those for each label.
  const auto conditions = static_cast<std::uint64_t>(std::popcount(shape.conditions));
  const std::uint64_t search = conditions == 0 ? 0 : (std::uint64_t{1} << conditions) / 16 + 1;
  DAYBREAK_CHECK_OK(
      normaliser_.budget().spend(shape.options.size() * (1 + search) + 1, "properties"));
  ObjectShape now;
  now.required = shape.required;
  now.conditions = shape.conditions;
  now.min = shape.min;
  now.max = shape.max;
  now.keys.names = shape.keys.names;
  now.keys.atoms = shape.keys.atoms;
  for (const auto& options : shape.options) {
    now.options.push_back(live(options));
  }
  const std::vector<std::uint64_t> nothing(shape.words());
  return now.can_finish({nothing, 0, 0});
}

Result<bool> FormulaTable::satisfiable(const ArrayShape& shape) {
  ArrayShape now;
  now.conditions = shape.conditions;
  now.min = shape.min;
  now.max = shape.max;
  for (const auto& options : shape.prefix) {
    now.prefix.push_back(live(options));
  }
  now.tail = live(shape.tail);
  if (shape.unique && now.prefix.empty() && now.conditions.empty()) {
    std::uint64_t distinct = 0;
    for (const ChildOption& option : now.tail) {
      const Formula& formula = out_.formulas[option.formula];
      const bool containers = (formula.types() & (kObjectType | kArrayType)) != 0;
      distinct = containers ? kNoLimit : formula.count_scalars(kMaxDistinct);
    }
    now.max = distinct >= kMaxDistinct ? now.max : std::min(now.max, distinct);
  }
  DAYBREAK_CHECK_OK(now.prepare(normaliser_.budget()));
  return now.can_finish(0, 0);
}

Status FormulaTable::prune() {
  Budget& budget = normaliser_.budget();
  std::vector<bool> objects;
  std::vector<bool> arrays;
  for (ObjectShape& shape : out_.objects) {
    blamed_ = subject(object_owners_[objects.size()]);
    DAYBREAK_TRY(const bool possible, satisfiable(shape));
    objects.push_back(possible);
    std::vector<bool> keep;
    for (auto& options : shape.options) {
      options = live(options);
      keep.push_back(!options.empty());
    }
    DAYBREAK_TRY(shape.keys, keep_labels(shape.keys, keep, budget));
    if (possible) {
      DAYBREAK_CHECK_OK(check_supply(shape));
    }
  }
  for (ArrayShape& shape : out_.arrays) {
    blamed_ = subject(array_owners_[arrays.size()]);
    DAYBREAK_TRY(const bool possible, satisfiable(shape));
    arrays.push_back(possible);
    for (auto& options : shape.prefix) {
      options = live(options);
    }
    shape.tail = live(shape.tail);
    if (possible) {
      DAYBREAK_CHECK_OK(make_unique(shape));
      DAYBREAK_CHECK_OK(shape.prepare(budget));
    }
  }
  blamed_ = nullptr;
  for (Formula& formula : out_.formulas) {
    std::erase_if(formula.objects, [&](std::uint32_t shape) { return !objects[shape]; });
    std::erase_if(formula.arrays, [&](std::uint32_t shape) { return !arrays[shape]; });
    for (const NumberLanguage& language : formula.numbers) {
      DAYBREAK_CHECK_OK(budget.spend(kLexerSteps, "numbers"));
      formula.lexers.push_back(shared_lexer(language));
    }
  }
  return ok();
}

// minProperties that must be met by keys of a pattern needs endlessly many of them: how many are
// left of few is not counted.
Status FormulaTable::check_supply(const ObjectShape& shape) {
  std::uint64_t names = 0;
  for (std::size_t name = 0; name < shape.keys.names.size(); ++name) {
    names += shape.options[name].empty() ? 0 : 1;
  }
  if (shape.min <= names || shape.keys.states.empty()) {
    return ok();
  }
  const std::uint32_t endless = shape.keys.states[Dfa::kStart].endless;
  for (std::size_t atom = 0; atom < shape.keys.atoms.size(); ++atom) {
    if (!shape.options[shape.keys.names.size() + atom].empty() && ((endless >> atom) & 1U) != 0) {
      return ok();
    }
  }
  return Error{Errc::kUnsupported,
               "minProperties cannot be enforced exactly: its keys must match patterns that only "
               "finitely many match"};
}

Status FormulaTable::make_unique(ArrayShape& shape) {
  if (!shape.unique) {
    return ok();
  }
  const auto refuse = [](std::string_view why) {
    return Error{Errc::kUnsupported, "uniqueItems cannot be enforced exactly: " + std::string(why)};
  };
  const bool mixed = !shape.prefix.empty() || !shape.conditions.empty();
  std::vector<ChildOption> all = shape.tail;
  for (const auto& options : shape.prefix) {
    all.insert(all.end(), options.begin(), options.end());
  }
  for (const ChildOption& option : all) {
    const Formula& formula = out_.formulas[option.formula];
    if ((formula.types() & (kObjectType | kArrayType)) != 0) {
      return refuse("its elements may be objects or arrays");
    }
    const std::uint64_t distinct = formula.count_scalars(kMaxDistinct);
    if (distinct < kMaxDistinct) {
      DAYBREAK_TRY(const bool disjoint, disjoint_alternatives(formula, normaliser_.budget()));
      if (!disjoint) {
        return refuse("its elements have few values, described by alternatives that overlap");
      }
      if (mixed) {
        return refuse("its elements have few values, and prefixItems or contains beside it");
      }
      shape.max = std::min(shape.max, distinct);
    }
  }
  return ok();
}

}  // namespace daybreak::grammar
