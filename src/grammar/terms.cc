// SPDX-License-Identifier: Apache-2.0
#include "grammar/terms.h"

#include <algorithm>
#include <iterator>

namespace daybreak::grammar {
namespace {

// Joins two sorted lists of rules without doubles.
template <class Rule>
std::vector<Rule> join_rules(const std::vector<Rule>& a, const std::vector<Rule>& b) {
  std::vector<Rule> joined;
  std::ranges::set_union(a, b, std::back_inserter(joined));
  return joined;
}

}  // namespace

ObjectTerm meet(const ObjectTerm& a, const ObjectTerm& b) {
  return {.every = join_rules(a.every, b.every),
          .some = join_rules(a.some, b.some),
          .required = join_rules(a.required, b.required),
          .min = std::max(a.min, b.min),
          .max = std::min(a.max, b.max)};
}

ArrayTerm meet(const ArrayTerm& a, const ArrayTerm& b) {
  return {.at = join_rules(a.at, b.at),
          .from = join_rules(a.from, b.from),
          .contains = join_rules(a.contains, b.contains),
          .min = std::max(a.min, b.min),
          .max = std::min(a.max, b.max),
          .unique = a.unique || b.unique};
}

}  // namespace daybreak::grammar
