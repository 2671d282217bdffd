// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Kinds (see expander.h) of objects and arrays.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "grammar/expander.h"
#include "grammar/normaliser.h"
#include "grammar/terms.h"

namespace daybreak::grammar {

struct ObjectKind {
  using Term = ObjectTerm;
  using Terms = std::vector<Term>;
  using Self = Expander<ObjectKind>;
  static std::uint64_t weight(const Term& term) { return grammar::weight(term); }
  static std::uint64_t hash(const Term& term) { return grammar::hash(term); }

  Normaliser* normaliser;

  std::pair<Terms, Terms> typed(std::uint8_t types);
  Part<Term> value(const JsonNode& node, Self& expander);
  Part<Term> one_of_values(const std::vector<JsonNode>& nodes, Self& expander);
  Status keywords(const Schema& schema, std::vector<Part<Term>>& parts, Self& expander);
  // Drops a term where a required member can have no value, so that alternatives that differ in a
  // tag are seen to exclude each other.
  Result<std::optional<Term>> meet(const Term& a, const Term& b);

 private:
  Status members(const Schema& schema, std::vector<Part<Term>>& parts);
  Status dependents(const Schema& schema, std::vector<Part<Term>>& parts, Self& expander);
  Status unevaluated(const Schema& schema, std::vector<Part<Term>>& parts);
};

struct ArrayKind {
  using Term = ArrayTerm;
  using Terms = std::vector<Term>;
  using Self = Expander<ArrayKind>;
  static std::uint64_t weight(const Term& term) { return grammar::weight(term); }
  static std::uint64_t hash(const Term& term) { return grammar::hash(term); }

  Normaliser* normaliser;

  std::pair<Terms, Terms> typed(std::uint8_t types);
  Part<Term> value(const JsonNode& node, Self& expander);
  Part<Term> one_of_values(const std::vector<JsonNode>& nodes, Self& expander);
  Status keywords(const Schema& schema, std::vector<Part<Term>>& parts, Self& expander);
  Result<std::optional<Term>> meet(const Term& a, const Term& b);

 private:
  Status elements(const Schema& schema, std::vector<Part<Term>>& parts);
  Status unevaluated(const Schema& schema, std::vector<Part<Term>>& parts);
};

}  // namespace daybreak::grammar
