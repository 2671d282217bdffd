// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Kinds (see expander.h) of null, booleans, numbers and strings.

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/expander.h"
#include "grammar/normaliser.h"

namespace daybreak::grammar {

// Returns kUnsupported "PATH: KEYWORD cannot be enforced exactly: WHY".
[[nodiscard]] Error not_enforceable(const Schema& schema, std::string_view keyword,
                                    std::string_view why);

// null and the booleans: a term is the set of values left, as bits.
template <JsonNode::Kind kKind, std::uint8_t kType, std::uint8_t kAll>
struct BitsKind {
  struct Term {
    std::uint8_t values = kAll;
    friend bool operator==(const Term&, const Term&) = default;
  };
  using Terms = std::vector<Term>;
  using Self = Expander<BitsKind>;
  static std::uint64_t weight(const Term&) { return 1; }
  static std::uint64_t hash(const Term& term) { return term.values; }

  static std::pair<Terms, Terms> set(std::uint8_t values) {
    const auto terms = [](std::uint8_t bits) { return bits == 0 ? Terms{} : Terms{Term{bits}}; };
    return {terms(values), terms(static_cast<std::uint8_t>(kAll & ~values))};
  }
  std::pair<Terms, Terms> typed(std::uint8_t types) { return set((types & kType) != 0 ? kAll : 0); }
  Part<Term> value(const JsonNode& node, Self&) { return constant_part<Term>(set(bit(node))); }
  Part<Term> one_of_values(const std::vector<JsonNode>& nodes, Self&) {
    std::uint8_t values = 0;
    for (const JsonNode& node : nodes) {
      values |= bit(node);
    }
    return constant_part<Term>(set(values));
  }
  Status keywords(const Schema&, std::vector<Part<Term>>&, Self&) { return ok(); }
  Result<std::optional<Term>> meet(const Term& a, const Term& b) {
    const auto both = static_cast<std::uint8_t>(a.values & b.values);
    return both == 0 ? std::optional<Term>() : std::optional<Term>(Term{both});
  }

 private:
  static std::uint8_t bit(const JsonNode& node) {
    if (node.kind != kKind) {
      return 0;
    }
    return kKind == JsonNode::Kind::kBoolean && node.boolean ? 2 : 1;
  }
};
using NullKind = BitsKind<JsonNode::Kind::kNull, kNullType, 1>;
using BooleanKind = BitsKind<JsonNode::Kind::kBoolean, kBooleanType, 3>;

struct NumberKind {
  using Term = NumberLanguage;
  using Terms = std::vector<Term>;
  using Self = Expander<NumberKind>;
  static std::uint64_t weight(const Term& term) { return grammar::weight(term); }
  static std::uint64_t hash(const Term& term) { return term.hash(); }

  Budget* budget;

  std::pair<Terms, Terms> typed(std::uint8_t types);
  Part<Term> value(const JsonNode& node, Self& expander);
  Part<Term> one_of_values(const std::vector<JsonNode>& nodes, Self& expander);
  Status keywords(const Schema& schema, std::vector<Part<Term>>& parts, Self& expander);
  Result<std::optional<Term>> meet(const Term& a, const Term& b) {
    return intersect(a, b, *budget);
  }
};

struct StringKind {
  // Null: every string.
  struct Term {
    std::shared_ptr<const StringLanguage> language;
    friend bool operator==(const Term& a, const Term& b);
  };
  using Terms = std::vector<Term>;
  using Self = Expander<StringKind>;
  static std::uint64_t weight(const Term&) { return 1; }  // a pointer
  static std::uint64_t hash(const Term& term) {
    return term.language == nullptr ? 0 : term.language->dfa().hash() + term.language->max_chars();
  }

  Normaliser* normaliser;

  std::pair<Terms, Terms> typed(std::uint8_t types);
  Part<Term> value(const JsonNode& node, Self& expander);
  Part<Term> one_of_values(const std::vector<JsonNode>& nodes, Self& expander);
  Status keywords(const Schema& schema, std::vector<Part<Term>>& parts, Self& expander);
  Result<std::optional<Term>> meet(const Term& a, const Term& b);

 private:
  // A part of the strings in `dfa` with at least `min` and at most `max` code points.
  Part<Term> language(std::shared_ptr<const Dfa> dfa, std::uint32_t min, std::uint32_t max);
};

}  // namespace daybreak::grammar
