// SPDX-License-Identifier: Apache-2.0
#include "grammar/terms.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/hash.h"

namespace daybreak::grammar {
namespace {

// Joins two sorted lists of rules without doubles.
template <class Rule>
std::vector<Rule> join_rules(const std::vector<Rule>& a, const std::vector<Rule>& b) {
  std::vector<Rule> joined;
  std::ranges::set_union(a, b, std::back_inserter(joined));
  return joined;
}

// A hash of what is put in, in that order.
class Mixer {
 public:
  Mixer& put(std::uint64_t value) {
    hash_ = mix64(hash_ ^ value);
    return *this;
  }
  Mixer& put(const std::string& text) { return put(fnv1a64(std::as_bytes(std::span(text)))); }
  Mixer& put(const std::vector<KeyRule>& rules) {
    for (const KeyRule& rule : rules) {
      put(rule.keys.complement ? 1 : 0).put(rule.value);
      for (const std::string& name : rule.keys.names) {
        put(name);
      }
      for (const PatternId pattern : rule.keys.patterns) {
        put(pattern);
      }
    }
    return put(rules.size());
  }
  Mixer& put(const std::vector<ElementRule>& rules) {
    for (const ElementRule& rule : rules) {
      put(rule.index).put(rule.value);
    }
    return put(rules.size());
  }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

std::uint64_t weight(const std::vector<KeyRule>& rules) {
  std::uint64_t total = rules.size();
  for (const KeyRule& rule : rules) {
    total += rule.keys.names.size() + rule.keys.patterns.size();
  }
  return total;
}

}  // namespace

std::uint64_t weight(const ObjectTerm& term) {
  return 2 + (weight(term.every) + weight(term.some) + term.required.size()) / 2;
}

std::uint64_t weight(const ArrayTerm& term) {
  return 1 + (term.at.size() + term.from.size() + term.contains.size()) / 2;
}

std::uint64_t hash(const ObjectTerm& term) {
  Mixer mixer;
  mixer.put(term.every).put(term.some).put(term.min).put(term.max);
  for (const std::string& name : term.required) {
    mixer.put(name);
  }
  return mixer.hash();
}

std::uint64_t hash(const ArrayTerm& term) {
  Mixer mixer;
  mixer.put(term.at).put(term.from).put(term.min).put(term.max).put(term.unique ? 1 : 0);
  for (const ContainsRule& rule : term.contains) {
    mixer.put(rule.from).put(rule.value).put(rule.min).put(rule.max);
  }
  return mixer.hash();
}

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
