// SPDX-License-Identifier: Apache-2.0
#pragma once

// FormulaTable: turns conjunctions of literals into formulas and shapes, everything that can be
// reached from them, and decides which of them any value satisfies at all. Recursive schemas are
// handled by the least fixed point: a value is finite.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/normaliser.h"
#include "grammar/shapes.h"

namespace daybreak::grammar {

inline constexpr std::size_t kMaxFormulas = 20'000;
inline constexpr std::size_t kMaxDistinct = 1'000'000;  // values that uniqueItems counts

// Not thread-safe. The normaliser and the schemas outlive it.
class FormulaTable {
 public:
  explicit FormulaTable(Normaliser& normaliser) : normaliser_(normaliser) {}

  // Returns the formula of a value that satisfies `schema`. Expanded by close().
  [[nodiscard]] Result<FormulaId> of(const Schema& schema);

  // Expands everything, and removes what no value satisfies. Errors: see Normaliser; kUnsupported
  // for shapes that cannot be enforced exactly.
  [[nodiscard]] Result<CompiledSchemas> close() &&;

  // Returns the subschema that close() failed at, or null if it is not known.
  [[nodiscard]] const Schema* blamed() const { return blamed_; }
  // Returns the place of a subschema that is written down and that nothing satisfies, the innermost
  // of them; empty if there is none. For messages, after close().
  [[nodiscard]] const std::string& contradiction() const { return contradiction_; }

 private:
  [[nodiscard]] Result<FormulaId> intern(Conjunction literals);
  [[nodiscard]] Status expand(FormulaId id);
  [[nodiscard]] Status add_object(const ObjectTerm& term, Formula& formula);
  struct LabelRules;
  [[nodiscard]] Status add_options(const LabelRules& rules, const std::vector<KeyRule>& some,
                                   KeyLabel label, ObjectShape& shape);
  [[nodiscard]] Status add_array(const ArrayTerm& term, Formula& formula);
  [[nodiscard]] Result<std::vector<ChildOption>> element_options(const ArrayTerm& term,
                                                                 std::uint64_t index);
  [[nodiscard]] Status decide();
  [[nodiscard]] Result<bool> satisfiable(const Formula& formula);
  [[nodiscard]] Result<bool> satisfiable(const ObjectShape& shape);
  [[nodiscard]] Result<bool> satisfiable(const ArrayShape& shape);
  // The options that lead to a satisfiable formula.
  [[nodiscard]] std::vector<ChildOption> live(const std::vector<ChildOption>& options) const;
  [[nodiscard]] Status prune();
  [[nodiscard]] static Status check_supply(const ObjectShape& shape);
  [[nodiscard]] Status make_unique(ArrayShape& shape);

  // The first subschema that a formula is about, or null.
  [[nodiscard]] const Schema* subject(FormulaId id) const;
  void find_contradiction();

  Normaliser& normaliser_;
  const Schema* blamed_ = nullptr;
  std::string contradiction_;
  std::vector<FormulaId> object_owners_, array_owners_;  // [objects], [arrays]
  std::map<Conjunction, FormulaId> ids_;
  std::vector<Conjunction> conjunctions_;
  CompiledSchemas out_;
};

}  // namespace daybreak::grammar
