// SPDX-License-Identifier: Apache-2.0
//
// How left recursion goes away. First every rule loses the empty string (what calls a rule that
// had it calls it optionally), so that "first" means "at the very beginning". Then, for each set of
// rules that call each other first, the bodies are split into
//
//   A = B1 T[A][B1] | B2 T[A][B2] | ... | N[A]        (B: rules of the set; N[A]: the rest)
//
// whose solution is "a rest, and then tails upwards": with the tails that are empty (A = B) taken
// out as a relation, and T' what is left of T without the empty string,
//
//   A       = N[C] R[C][A] | ...                      for every C of the set
//   R[C][A] = T'[D][E] R[D][A] | ...                  for every D, E with E = ... = C
//           | empty                                   if A = ... = C
//
// Nothing calls an R first, and an N calls only rules outside the set first: no circle is left.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "grammar/expression.h"
#include "grammar/rule_analysis.h"

namespace daybreak::grammar {
namespace {

using Kind = Expression::Kind;

ExpressionPtr nothing() { return choice({}); }

bool is_leaf(const Expression& expression) { return expression.items.empty(); }

// Replaces what no finite text matches; returns nothing() if that is all of it.
ExpressionPtr without_endless(const ExpressionPtr& expression, const RuleFlags& productive) {
  if (!is_productive(*expression, productive)) {
    return nothing();
  }
  if (is_leaf(*expression)) {
    return expression;
  }
  std::vector<ExpressionPtr> items;
  for (const ExpressionPtr& item : expression->items) {
    if (is_productive(*item, productive)) {
      items.push_back(without_endless(item, productive));
    }
  }
  switch (expression->kind) {
    case Kind::kSequence:
      return sequence(std::move(items));
    case Kind::kRepeat:
      return items.empty() ? bytes("")
                           : repeat(std::move(items.front()), expression->min, expression->max);
    default:
      return choice(std::move(items));
  }
}

// Whether an item that can be empty is repeated without end: a circle as well.
bool repeats_empty(const Expression& expression, const RuleFlags& nullable) {
  if (expression.kind == Kind::kRepeat && expression.max == Expression::kNoMax &&
      is_nullable(*expression.items.front(), nullable)) {
    return true;
  }
  return std::any_of(expression.items.begin(), expression.items.end(),
                     [&](const ExpressionPtr& item) { return repeats_empty(*item, nullable); });
}

std::string starting_rule(const RuleSet& rules, const Expression& start,
                          const RuleFlags& productive) {
  if (start.kind == Kind::kRule && productive[start.rule] == 0) {
    return rules.names[start.rule];
  }
  for (const ExpressionPtr& item : start.items) {
    if (std::string name = starting_rule(rules, *item, productive); !name.empty()) {
      return name;
    }
  }
  return "";
}

class LeftRecursion {
 public:
  LeftRecursion(RuleSet rules, Budget& budget) : rules_(std::move(rules)), budget_(budget) {}

  Result<RuleSet> run() {
    DAYBREAK_CHECK_OK(measure(rules_, budget_));
    DAYBREAK_CHECK_OK(drop_endless());
    DAYBREAK_TRY(rules_, only_reachable(std::move(rules_), budget_));
    DAYBREAK_TRY(nullable_, nullable_rules(rules_, budget_));
    DAYBREAK_TRY(auto sets, left_recursive_sets(rules_, nullable_, budget_));
    const auto repeats = [&](const ExpressionPtr& body) { return repeats_empty(*body, nullable_); };
    if (sets.empty() && !repeats(rules_.start) &&
        std::none_of(rules_.rules.begin(), rules_.rules.end(), repeats)) {
      return std::move(rules_);
    }
    DAYBREAK_CHECK_OK(drop_empty());
    DAYBREAK_CHECK_OK(drop_endless());
    DAYBREAK_TRY(sets, left_recursive_sets(rules_, nullable_, budget_));
    for (const auto& set : sets) {
      DAYBREAK_CHECK_OK(solve(set));
    }
    DAYBREAK_CHECK_OK(drop_endless());
    return only_reachable(std::move(rules_), budget_);
  }

 private:
  Status drop_endless() {
    DAYBREAK_TRY(const RuleFlags productive, productive_rules(rules_, budget_));
    if (!is_productive(*rules_.start, productive)) {
      const std::string name = starting_rule(rules_, *rules_.start, productive);
      return Error{Errc::kInvalidArgument,
                   "grammar: rule '" + name +
                       "': expected a rule that some finite text matches, found that none does"};
    }
    rules_.start = without_endless(rules_.start, productive);
    for (ExpressionPtr& body : rules_.rules) {
      body = without_endless(body, productive);
    }
    return ok();
  }

  // Adds a rule for an expression that is used more than once. Never empty, as all rules then are.
  ExpressionPtr shared(ExpressionPtr expression) {
    if (is_leaf(*expression)) {
      return expression;
    }
    const auto number = static_cast<std::uint32_t>(rules_.rules.size());
    rules_.rules.push_back(std::move(expression));
    rules_.names.push_back(name_);
    nullable_.push_back(0);
    return rule(number);
  }

  // Takes the empty string from every rule and from every item repeated.
  Status drop_empty() {
    const std::size_t count = rules_.rules.size();
    for (std::size_t i = 0; i < count; ++i) {
      name_ = rules_.names[i];
      const ExpressionPtr old = rules_.rules[i];  // kept alive: shared() moves the rules
      DAYBREAK_TRY(ExpressionPtr body, nonempty(old));
      rules_.rules[i] = std::move(body);
    }
    DAYBREAK_TRY(rules_.start, kept(rules_.start));
    nullable_.assign(rules_.rules.size(), 0);
    return ok();
  }

  // The same language, in terms of rules without the empty string.
  Result<ExpressionPtr> kept(const ExpressionPtr& expression) {
    DAYBREAK_CHECK_OK(budget_.spend(1, "grammar"));
    if (expression->kind == Kind::kRule) {
      return nullable_[expression->rule] != 0 ? optional(expression) : expression;
    }
    if (is_leaf(*expression)) {
      return expression;
    }
    if (expression->kind == Kind::kRepeat && is_nullable(*expression->items.front(), nullable_)) {
      DAYBREAK_TRY(ExpressionPtr item, nonempty(expression->items.front()));
      return repeat(std::move(item), 0, expression->max);
    }
    std::vector<ExpressionPtr> items;
    for (const ExpressionPtr& item : expression->items) {
      DAYBREAK_TRY(ExpressionPtr copy, kept(item));
      items.push_back(std::move(copy));
    }
    switch (expression->kind) {
      case Kind::kSequence:
        return sequence(std::move(items));
      case Kind::kRepeat:
        return repeat(std::move(items.front()), expression->min, expression->max);
      default:
        return choice(std::move(items));
    }
  }

  // The language without the empty string.
  Result<ExpressionPtr> nonempty(const ExpressionPtr& expression) {
    if (!is_nullable(*expression, nullable_)) {
      return kept(expression);
    }
    DAYBREAK_CHECK_OK(budget_.spend(1, "grammar"));
    switch (expression->kind) {
      case Kind::kRule:
        return expression;
      case Kind::kSequence:
        return nonempty_sequence(expression->items);
      case Kind::kRepeat: {
        DAYBREAK_TRY(ExpressionPtr item, nonempty(expression->items.front()));
        return repeat(std::move(item), 1, expression->max);
      }
      case Kind::kChoice: {
        std::vector<ExpressionPtr> items;
        for (const ExpressionPtr& item : expression->items) {
          DAYBREAK_TRY(ExpressionPtr copy, nonempty(item));
          items.push_back(std::move(copy));
        }
        return choice(std::move(items));
      }
      case Kind::kText:
        return Error{Errc::kUnsupported,
                     "grammar: rule '" + name_ + "': raw text in left recursion is not supported"};
      default:
        return nothing();
    }
  }

  // Every item can be empty: the first that is not, and what follows it. From the back, each
  // remainder a rule, so that the size stays linear.
  Result<ExpressionPtr> nonempty_sequence(const std::vector<ExpressionPtr>& items) {
    ExpressionPtr remainder = nothing();
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
      DAYBREAK_TRY(ExpressionPtr first, nonempty(*item));
      first = shared(std::move(first));
      remainder = shared(std::move(remainder));
      remainder = choice({sequence({first, optional(remainder)}), remainder});
    }
    return remainder;
  }

  // B T for each tail T of each B, and the rest.
  struct Split {
    std::map<std::uint32_t, std::vector<ExpressionPtr>> tails;
    std::vector<ExpressionPtr> rest;
  };

  bool exposes(const Expression& expression) const {
    std::vector<std::uint32_t> calls;
    append_left_calls(expression, nullable_, calls);
    return std::any_of(calls.begin(), calls.end(), [&](std::uint32_t called) {
      return std::binary_search(set_.begin(), set_.end(), called);
    });
  }

  Result<Split> split(const ExpressionPtr& expression) {
    DAYBREAK_CHECK_OK(budget_.spend(1 + expression->items.size(), "grammar"));
    Split result;
    if (!exposes(*expression)) {
      result.rest.push_back(expression);
      return result;
    }
    switch (expression->kind) {
      case Kind::kRule:
        result.tails[expression->rule].push_back(bytes(""));
        return result;
      case Kind::kSequence:
        return split_sequence(expression->items);
      case Kind::kRepeat:
        return split_repeat(*expression);
      default:
        for (const ExpressionPtr& item : expression->items) {
          DAYBREAK_TRY(Split part, split(item));
          merge(std::move(part), result);
        }
        return result;
    }
  }

  static void merge(Split part, Split& into) {
    for (auto& [called, tails] : part.tails) {
      auto& all = into.tails[called];
      all.insert(all.end(), tails.begin(), tails.end());
    }
    into.rest.insert(into.rest.end(), part.rest.begin(), part.rest.end());
  }

  // What `part` is followed by `suffix`, without the empty beginnings.
  Status append(Split part, ExpressionPtr suffix, Split& into) {
    std::size_t uses = part.rest.size();
    for (const auto& [called, tails] : part.tails) {
      uses += tails.size();
    }
    if (uses > 1 && !is_leaf(*suffix)) {
      const bool may_miss = is_nullable(*suffix, nullable_);
      DAYBREAK_TRY(suffix, nonempty(suffix));
      suffix = shared(std::move(suffix));
      suffix = may_miss ? optional(std::move(suffix)) : std::move(suffix);
    }
    for (auto& [called, tails] : part.tails) {
      for (ExpressionPtr& tail : tails) {
        into.tails[called].push_back(sequence({std::move(tail), suffix}));
      }
    }
    for (const ExpressionPtr& rest : part.rest) {
      DAYBREAK_TRY(ExpressionPtr first, nonempty(rest));
      into.rest.push_back(sequence({std::move(first), suffix}));
    }
    return ok();
  }

  Result<Split> split_sequence(const std::vector<ExpressionPtr>& items) {
    Split result;
    for (auto item = items.begin(); item != items.end(); ++item) {
      DAYBREAK_CHECK_OK(budget_.spend(static_cast<std::size_t>(items.end() - item), "grammar"));
      ExpressionPtr remainder = sequence({item, items.end()});
      if (!exposes(*remainder)) {
        result.rest.push_back(std::move(remainder));
        return result;
      }
      DAYBREAK_TRY(Split part, split(*item));
      DAYBREAK_CHECK_OK(append(std::move(part), sequence({item + 1, items.end()}), result));
      if (!is_nullable(**item, nullable_)) {
        return result;
      }
    }
    result.rest.push_back(bytes(""));
    return result;
  }

  // The item cannot be empty: drop_empty saw to it.
  Result<Split> split_repeat(const Expression& expression) {
    const ExpressionPtr& item = expression.items.front();
    const std::uint32_t min = expression.min == 0 ? 0 : expression.min - 1;
    const std::uint32_t max =
        expression.max == Expression::kNoMax ? Expression::kNoMax : expression.max - 1;
    Split result;
    DAYBREAK_TRY(Split part, split(item));
    DAYBREAK_CHECK_OK(append(std::move(part), repeat(item, min, max), result));
    if (expression.min == 0) {
      result.rest.push_back(bytes(""));
    }
    return result;
  }

  // The equations of one set, see above; rules by their place in it.
  struct Equations {
    std::vector<ExpressionPtr> rest;                       // N
    std::vector<std::map<std::size_t, ExpressionPtr>> up;  // up[E][D] = T'[D][E]
    std::vector<std::vector<std::size_t>> equal;           // equal[C]: every E = ... = C
  };

  std::size_t place_of(std::uint32_t number) const {
    return static_cast<std::size_t>(std::lower_bound(set_.begin(), set_.end(), number) -
                                    set_.begin());
  }

  Result<Equations> equations() {
    const std::size_t count = set_.size();
    Equations result{.rest = {}, .up = {}, .equal = {}};
    const auto reused = [&](ExpressionPtr part) {  // by every rule of the set
      return count == 1 ? part : shared(std::move(part));
    };
    result.up.resize(count);
    std::vector<std::vector<std::size_t>> empty_tails(count);  // [B]: every A with A = B
    for (std::size_t a = 0; a < count; ++a) {
      name_ = rules_.names[set_[a]];
      const ExpressionPtr old = rules_.rules[set_[a]];  // kept alive: shared() moves the rules
      DAYBREAK_TRY(Split part, split(old));
      result.rest.push_back(reused(choice(std::move(part.rest))));
      for (auto& [called, tails] : part.tails) {
        const ExpressionPtr tail = choice(std::move(tails));
        if (is_nullable(*tail, nullable_)) {
          empty_tails[place_of(called)].push_back(a);
        }
        DAYBREAK_TRY(ExpressionPtr step, nonempty(tail));
        result.up[place_of(called)][a] = reused(std::move(step));
      }
    }
    for (std::size_t c = 0; c < count; ++c) {
      DAYBREAK_TRY(auto equal, closure(c, empty_tails));
      result.equal.push_back(std::move(equal));
    }
    return result;
  }

  Result<std::vector<std::size_t>> closure(std::size_t from,
                                           const std::vector<std::vector<std::size_t>>& edges) {
    std::vector<std::size_t> reached{from};
    RuleFlags seen(edges.size(), 0);
    seen[from] = 1;
    for (std::size_t next = 0; next < reached.size(); ++next) {
      DAYBREAK_CHECK_OK(budget_.spend(1 + edges[reached[next]].size(), "grammar"));
      for (const std::size_t target : edges[reached[next]]) {
        if (seen[target] == 0) {
          seen[target] = 1;
          reached.push_back(target);
        }
      }
    }
    std::sort(reached.begin(), reached.end());
    return reached;
  }

  Status solve(const std::vector<std::uint32_t>& set) {
    set_ = set;
    DAYBREAK_TRY(const Equations system, equations());
    if (set_.size() == 1) {
      const auto& up = system.up.front();
      rules_.rules[set_.front()] =
          up.empty()
              ? system.rest.front()
              : sequence({system.rest.front(), repeat(up.begin()->second, 0, Expression::kNoMax)});
      return ok();
    }
    const std::size_t count = set_.size();
    DAYBREAK_CHECK_OK(budget_.spend(2 * count * count, "grammar: left recursion"));
    const auto first = static_cast<std::uint32_t>(rules_.rules.size());
    for (std::size_t c = 0; c < count; ++c) {
      for (std::size_t a = 0; a < count; ++a) {
        rules_.names.push_back(rules_.names[set_[a]]);
      }
    }
    rules_.rules.resize(first + count * count);
    nullable_.resize(first + count * count, 0);
    // R[c][a], with the empty string put back.
    const auto climb = [&](std::size_t c, std::size_t a) {
      ExpressionPtr steps = rule(static_cast<std::uint32_t>(first + c * count + a));
      const auto& equal = system.equal[c];
      return std::binary_search(equal.begin(), equal.end(), a) ? optional(std::move(steps))
                                                               : std::move(steps);
    };
    for (std::size_t a = 0; a < count; ++a) {
      std::vector<ExpressionPtr> bodies;
      for (std::size_t c = 0; c < count; ++c) {
        bodies.push_back(sequence({system.rest[c], climb(c, a)}));
        std::vector<ExpressionPtr> steps;
        for (const std::size_t e : system.equal[c]) {
          DAYBREAK_CHECK_OK(budget_.spend(1 + 2 * system.up[e].size(), "grammar: left recursion"));
          for (const auto& [d, step] : system.up[e]) {
            steps.push_back(sequence({step, climb(d, a)}));
          }
        }
        rules_.rules[first + c * count + a] = choice(std::move(steps));
      }
      rules_.rules[set_[a]] = choice(std::move(bodies));
    }
    return ok();
  }

  RuleSet rules_;
  Budget& budget_;
  RuleFlags nullable_;
  std::vector<std::uint32_t> set_;  // being solved, sorted
  std::string name_;                // of the rule being rewritten
};

}  // namespace

Result<RuleSet> without_left_recursion(RuleSet rules, Budget& budget) {
  return LeftRecursion(std::move(rules), budget).run();
}

}  // namespace daybreak::grammar
