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

// What the two have in common.
template <class Kind, class ContainerTerm, JsonNode::Kind kNode, TypeBits kType>
struct ContainerKind {
  using Term = ContainerTerm;
  using Terms = std::vector<Term>;
  using Self = Expander<Kind>;
  static std::uint64_t weight(const Term& term) { return grammar::weight(term); }
  static std::uint64_t hash(const Term& term) { return grammar::hash(term); }

  Normaliser* normaliser;

  std::pair<Terms, Terms> typed(std::uint8_t types) {
    const bool in = (types & kType) != 0;
    return {in ? Terms{Term{}} : Terms{}, in ? Terms{} : Terms{Term{}}};
  }
  Part<Term> one_of_values(const std::vector<JsonNode>& nodes, Self& expander) {
    return [&nodes, &expander](bool negated) {
      std::vector<Part<Term>> parts;
      for (const JsonNode& node : nodes) {
        if (node.is(kNode)) {
          parts.push_back(expander.value(node));
        }
      }
      return expander.any(parts, negated);
    };
  }
};

struct ObjectKind : ContainerKind<ObjectKind, ObjectTerm, JsonNode::Kind::kObject, kObjectType> {
  Part<Term> value(const JsonNode& node, Self& expander);
  Status keywords(const Schema& schema, std::vector<Part<Term>>& parts, Self& expander);
  // Drops a term where a required member can have no value, so that alternatives that differ in a
  // tag are seen to exclude each other.
  Result<std::optional<Term>> meet(const Term& a, const Term& b);

 private:
  Status members(const Schema& schema, std::vector<Part<Term>>& parts);
  Status dependents(const Schema& schema, std::vector<Part<Term>>& parts, Self& expander);
  Status unevaluated(const Schema& schema, std::vector<Part<Term>>& parts);
};

struct ArrayKind : ContainerKind<ArrayKind, ArrayTerm, JsonNode::Kind::kArray, kArrayType> {
  Part<Term> value(const JsonNode& node, Self& expander);
  Status keywords(const Schema& schema, std::vector<Part<Term>>& parts, Self& expander);
  Result<std::optional<Term>> meet(const Term& a, const Term& b);

 private:
  Status elements(const Schema& schema, std::vector<Part<Term>>& parts);
  Status unevaluated(const Schema& schema, std::vector<Part<Term>>& parts);
};

}  // namespace daybreak::grammar
