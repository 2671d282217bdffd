// SPDX-License-Identifier: Apache-2.0
#pragma once

// Expander: what a conjunction of literals says about values of one JSON type, as alternatives
// (disjunctive normal form). `not` is pushed down to the keywords, each of which knows its own
// opposite; oneOf drops the opposites of branches that cannot hold together.
//
// A Kind (scalar_kinds.h, container_kinds.h) describes one JSON type: its Term, what one weighs
// (kWeightPerStep: a copy costs a step), its hash, how two of them meet, and the parts that a
// schema's keywords are.
//
// Long because: one template, whose rules of multiplying out are read together.

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grammar/alternatives.h"
#include "grammar/budget.h"
#include "grammar/literals.h"

namespace daybreak::grammar {

inline constexpr std::size_t kMaxAlternatives = 2'000;  // of one value, of one JSON type
inline constexpr std::uint64_t kWeightPerStep = 4;
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
      DAYBREAK_CHECK_OK(budget_.spend(weight(known->second) / kWeightPerStep, kWhat));
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
      return terms;
    }
    // The innermost subschema is the place.
    const bool placed = terms.error().message.starts_with('#');
    return placed || atom.schema == nullptr ? std::move(terms)
                                            : std::move(terms).error().in(atom.schema->path);
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
  Result<Terms> sum_of(Terms terms) {
    Sum sum = empty_sum();
    DAYBREAK_CHECK_OK(add(sum, std::move(terms)));
    return std::move(sum).take();
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
    Sum terms = empty_sum();
    for (const Part& one : parts) {
      DAYBREAK_TRY(Terms own, one(negated));
      DAYBREAK_CHECK_OK(add(terms, std::move(own)));
    }
    return std::move(terms).take();
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
    Sum terms = empty_sum();
    DAYBREAK_TRY(Terms then, branch(schema.consequence, true));
    DAYBREAK_CHECK_OK(add(terms, std::move(then)));
    DAYBREAK_TRY(Terms other, branch(schema.alternative, false));
    DAYBREAK_CHECK_OK(add(terms, std::move(other)));
    return std::move(terms).take();
  }

  // Exactly one branch holds; negated: none, or two at least.
  Result<Terms> one(const std::vector<Schema::Ref>& branches, bool negated) {
    const std::vector<Part> parts = parts_of(branches);
    Sum terms = empty_sum();
    if (negated) {
      DAYBREAK_TRY(Terms none, meet_all(parts, true));
      DAYBREAK_CHECK_OK(add(terms, std::move(none)));
    }
    std::vector<Terms> own(parts.size());
    std::vector<std::vector<std::size_t>> overlaps(parts.size());
    for (std::size_t i = 0; i < parts.size() && (parts.size() > 1 || !negated); ++i) {
      DAYBREAK_TRY(own[i], parts[i](false));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t j = i + 1; j < parts.size(); ++j) {
        DAYBREAK_TRY(Terms both, product(own[i], own[j]));
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
      for (const std::size_t other : overlaps[i]) {
        DAYBREAK_TRY(const Terms opposite, parts[other](true));
        DAYBREAK_TRY(own[i], product(own[i], opposite));
      }
      DAYBREAK_CHECK_OK(add(terms, std::move(own[i])));
    }
    return std::move(terms).take();
  }

  // What terms weigh, as copying and comparing them goes.
  [[nodiscard]] static std::uint64_t weight(const Terms& terms) {
    std::uint64_t total = 0;
    for (const Term& term : terms) {
      total += Kind::weight(term);
    }
    return total;
  }

  Result<Terms> product(const Terms& a, const Terms& b) {
    const std::uint64_t copies = a.size() * weight(b) + b.size() * weight(a);
    DAYBREAK_CHECK_OK(budget_.spend(a.size() * b.size() + copies / kWeightPerStep + 1, kWhat));
    if (a.size() == 1 && a.front() == Term{}) {
      return b;
    }
    if (b.size() == 1 && b.front() == Term{}) {
      return a;
    }
    Sum terms = empty_sum();
    for (const Term& left : a) {
      for (const Term& right : b) {
        DAYBREAK_TRY(std::optional<Term> both, kind_.meet(left, right));
        if (both) {
          terms.add(*std::move(both));
          DAYBREAK_CHECK_OK(check_size(terms));
        }
      }
    }
    return std::move(terms).take();
  }

  struct TermHash {
    std::uint64_t operator()(const Term& term) const { return Kind::hash(term); }
  };
  using Sum = Alternatives<Term, TermHash>;
  [[nodiscard]] static Sum empty_sum() { return Sum(TermHash{}); }

  Status add(Sum& terms, Terms more) {
    DAYBREAK_CHECK_OK(budget_.spend(1 + weight(more) / kWeightPerStep, kWhat));
    for (Term& term : more) {
      terms.add(std::move(term));
    }
    return check_size(terms);
  }

  static Status check_size(const Sum& terms) {
    if (terms.size() <= kMaxAlternatives) {
      return ok();
    }
    return Error{
        Errc::kTooLarge,
        "schema: expected at most " + std::to_string(kMaxAlternatives) +
            " alternatives after enum, anyOf, oneOf, not and if are multiplied out, found more"};
  }

  static constexpr std::string_view kWhat = "multiplying out allOf, anyOf, oneOf, not and if";

  Kind kind_;
  LiteralTable& literals_;
  Budget& budget_;
  std::unordered_map<LiteralId, Terms> memo_;
  std::size_t depth_ = 0;
};

}  // namespace daybreak::grammar
