// SPDX-License-Identifier: Apache-2.0
#pragma once

// Expander: what a conjunction of literals says about values of one JSON type, as alternatives
// (disjunctive normal form). `not` is pushed down to the keywords, each of which knows its own
// opposite; oneOf drops the opposites of branches that cannot hold together.
//
// A Kind (scalar_kinds.h, container_kinds.h) describes one JSON type: its Term, how two of them
// meet, and the parts that a schema's keywords are.
//
// Long because: one template, whose rules of multiplying out are read together.

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/literals.h"

namespace daybreak::grammar {

inline constexpr std::size_t kMaxAlternatives = 2'000;   // of one value, of one JSON type
inline constexpr std::size_t kMaxApplicatorDepth = 400;  // $ref, allOf, ... in place

// One assertion: its alternatives, or those of its opposite.
template <class Term>
using Part = std::function<Result<std::vector<Term>>(bool negated)>;

// A part whose two sides are known.
template <class Term>
[[nodiscard]] Part<Term> constant_part(std::vector<Term> own, std::vector<Term> opposite) {
  return [own = std::move(own), opposite = std::move(opposite)](bool negated) {
    return Result<std::vector<Term>>(negated ? opposite : own);
  };
}
template <class Term>
[[nodiscard]] Part<Term> constant_part(std::pair<std::vector<Term>, std::vector<Term>> sides) {
  return constant_part(std::move(sides.first), std::move(sides.second));
}
template <class Term>
[[nodiscard]] Part<Term> always(bool value) {
  const std::vector<Term> all{Term{}};
  return value ? constant_part<Term>(all, {}) : constant_part<Term>({}, all);
}

template <class Kind>
class Expander {
 public:
  using Term = typename Kind::Term;
  using Terms = std::vector<Term>;
  using Part = grammar::Part<Term>;

  Expander(Kind kind, LiteralTable& literals, Budget& budget)
      : kind_(std::move(kind)), literals_(literals), budget_(budget) {}

  Result<Terms> conjunction(const Conjunction& literals) {
    Terms terms{Term{}};
    for (const LiteralId literal : literals) {
      DAYBREAK_TRY(const Terms own, expand(literal));
      DAYBREAK_TRY(terms, product(terms, own));
    }
    return terms;
  }

 private:
  Result<Terms> expand(LiteralId literal) {
    if (literal == kTrueLiteral || literal == kFalseLiteral) {
      return literal == kTrueLiteral ? Terms{Term{}} : Terms{};
    }
    if (const auto known = memo_.find(literal); known != memo_.end()) {
      return known->second;
    }
    if (depth_ >= kMaxApplicatorDepth) {
      return Error{Errc::kTooLarge, "schema: expected at most " +
                                        std::to_string(kMaxApplicatorDepth) +
                                        " nested $ref, allOf, anyOf, ... , found more"};
    }
    ++depth_;
    const LiteralTable::Atom atom = literals_.atom(literal);
    const bool negated = LiteralTable::negated(literal);
    Result<Terms> terms =
        atom.schema != nullptr ? schema(*atom.schema, negated) : value(*atom.value)(negated);
    --depth_;
    if (terms) {
      memo_.emplace(literal, *terms);
    }
    return terms;
  }

  Result<Terms> schema(const Schema& schema, bool negated) {
    std::vector<Part> parts;
    if (schema.types) {
      parts.push_back(constant_part<Term>(kind_.typed(*schema.types)));
    }
    if (schema.enumeration != nullptr) {
      parts.push_back(kind_.one_of_values(schema.enumeration->items, *this));
    }
    if (schema.constant != nullptr) {
      parts.push_back(value(*schema.constant));
    }
    DAYBREAK_CHECK_OK(kind_.keywords(schema, parts, *this));
    applicators(schema, parts);
    return all(parts, negated);
  }

  void applicators(const Schema& schema, std::vector<Part>& parts) {
    for (const Schema::Ref child : {schema.ref, schema.dynamic_ref}) {
      if (child != nullptr) {
        parts.push_back(part(*child));
      }
    }
    for (const Schema::Ref child : schema.all_of) {
      parts.push_back(part(*child));
    }
    if (schema.has_any_of) {
      parts.push_back(
          [this, &schema](bool negated) { return any(parts_of(schema.any_of), negated); });
    }
    if (schema.has_one_of) {
      parts.push_back([this, &schema](bool negated) { return one(schema.one_of, negated); });
    }
    if (schema.negated != nullptr) {
      parts.push_back([child = part(*schema.negated)](bool negated) { return child(!negated); });
    }
    if (schema.condition != nullptr &&
        (schema.consequence != nullptr || schema.alternative != nullptr)) {
      parts.push_back([this, &schema](bool negated) { return conditional(schema, negated); });
    }
  }

 public:
  // The building blocks, for Kinds.
  [[nodiscard]] Part part(const Schema& schema) {
    return [this, id = literals_.of(schema)](bool negated) {
      return expand(negated ? LiteralTable::negate(id) : id);
    };
  }
  [[nodiscard]] Part value(const JsonNode& node) { return kind_.value(node, *this); }
  Result<Terms> all(std::span<const Part> parts, bool negated) {
    return negated ? sum(parts, true) : meet_all(parts, false);
  }
  Result<Terms> any(std::span<const Part> parts, bool negated) {
    return negated ? meet_all(parts, true) : sum(parts, false);
  }

 private:
  std::vector<Part> parts_of(const std::vector<Schema::Ref>& schemas) {
    std::vector<Part> parts;
    for (const Schema::Ref schema : schemas) {
      parts.push_back(part(*schema));
    }
    return parts;
  }

  Result<Terms> sum(std::span<const Part> parts, bool negated) {
    Terms terms;
    for (const Part& one : parts) {
      DAYBREAK_TRY(Terms own, one(negated));
      DAYBREAK_CHECK_OK(add(terms, std::move(own)));
    }
    return terms;
  }

  Result<Terms> meet_all(std::span<const Part> parts, bool negated) {
    Terms terms{Term{}};
    for (const Part& one : parts) {
      if (terms.empty()) {
        return terms;
      }
      DAYBREAK_TRY(const Terms own, one(negated));
      DAYBREAK_TRY(terms, product(terms, own));
    }
    return terms;
  }

  Result<Terms> conditional(const Schema& schema, bool negated) {
    const auto branch = [&](const Schema* child, bool holds) -> Result<Terms> {
      DAYBREAK_TRY(const Terms condition, part (*schema.condition)(!holds));
      if (child == nullptr) {
        return negated ? Terms{} : condition;
      }
      DAYBREAK_TRY(const Terms own, part (*child)(negated));
      return product(condition, own);
    };
    DAYBREAK_TRY(Terms terms, branch(schema.consequence, true));
    DAYBREAK_TRY(Terms other, branch(schema.alternative, false));
    DAYBREAK_CHECK_OK(add(terms, std::move(other)));
    return terms;
  }

  // Exactly one branch holds; negated: none, or two at least.
  Result<Terms> one(const std::vector<Schema::Ref>& branches, bool negated) {
    const std::vector<Part> parts = parts_of(branches);
    Terms terms;
    if (negated) {
      DAYBREAK_TRY(terms, meet_all(parts, true));
    }
    std::vector<std::vector<std::size_t>> overlaps(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t j = i + 1; j < parts.size(); ++j) {
        DAYBREAK_TRY(const Terms a, parts[i](false));
        DAYBREAK_TRY(const Terms b, parts[j](false));
        DAYBREAK_TRY(Terms both, product(a, b));
        if (both.empty()) {
          continue;
        }
        overlaps[i].push_back(j);
        overlaps[j].push_back(i);
        if (negated) {
          DAYBREAK_CHECK_OK(add(terms, std::move(both)));
        }
      }
    }
    for (std::size_t i = 0; i < parts.size() && !negated; ++i) {
      DAYBREAK_TRY(Terms own, parts[i](false));
      for (const std::size_t other : overlaps[i]) {
        DAYBREAK_TRY(const Terms opposite, parts[other](true));
        DAYBREAK_TRY(own, product(own, opposite));
      }
      DAYBREAK_CHECK_OK(add(terms, std::move(own)));
    }
    return terms;
  }

  Result<Terms> product(const Terms& a, const Terms& b) {
    DAYBREAK_CHECK_OK(budget_.spend(a.size() * b.size() + 1, "schema"));
    if (a.size() == 1 && a.front() == Term{}) {
      return b;
    }
    if (b.size() == 1 && b.front() == Term{}) {
      return a;
    }
    Terms terms;
    for (const Term& left : a) {
      for (const Term& right : b) {
        DAYBREAK_TRY(std::optional<Term> both, kind_.meet(left, right));
        if (both) {
          DAYBREAK_CHECK_OK(add(terms, Terms{*std::move(both)}));
        }
      }
    }
    return terms;
  }

  // Adds alternatives without doubles; one that says nothing makes all others superfluous.
  Status add(Terms& terms, Terms more) {
    for (Term& term : more) {
      if (!terms.empty() && terms.front() == Term{}) {
        return ok();
      }
      if (term == Term{}) {
        terms.clear();
      } else if (std::ranges::find(terms, term) != terms.end()) {
        continue;
      }
      terms.push_back(std::move(term));
    }
    DAYBREAK_CHECK_OK(budget_.spend(terms.size(), "schema"));
    if (terms.size() > kMaxAlternatives) {
      return Error{
          Errc::kTooLarge,
          "schema: expected at most " + std::to_string(kMaxAlternatives) +
              " alternatives after anyOf, oneOf, not and if are multiplied out, found more"};
    }
    return ok();
  }

  Kind kind_;
  LiteralTable& literals_;
  Budget& budget_;
  std::unordered_map<LiteralId, Terms> memo_;
  std::size_t depth_ = 0;
};

}  // namespace daybreak::grammar
