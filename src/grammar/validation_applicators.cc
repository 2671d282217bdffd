// SPDX-License-Identifier: Apache-2.0
// Keywords that apply schemas to the same value, and the unevaluated ones that ask what they saw.

#include <string>

#include "grammar/schema_reader.h"
#include "grammar/validation.h"

namespace daybreak::grammar {

bool Validation::check_references(const Visit& visit) {
  const Schema& schema = visit.schema;
  bool valid = schema.ref == nullptr || apply(*schema.ref, visit.instance, visit.seen);
  if (schema.dynamic_ref == nullptr || (!valid && enough())) {
    return valid;
  }
  const Schema* target = schema.dynamic_ref;
  if (!schema.dynamic_anchor.empty()) {
    // The outermost resource that has the anchor decides (JSON Schema Core, 8.2.3.2).
    if (!spend(scope_.size())) {
      return false;
    }
    for (const std::size_t resource : scope_) {
      if (const Schema* outer = document_.dynamic_target(resource, schema.dynamic_anchor)) {
        target = outer;
        break;
      }
    }
  }
  return apply(*target, visit.instance, visit.seen) && valid;
}

bool Validation::check_combined(const Visit& visit) {
  const Schema& schema = visit.schema;
  bool valid = true;
  for (const Schema* part : schema.all_of) {
    valid = apply(*part, visit.instance, visit.seen) && valid;
    if (!valid && enough()) {
      return false;
    }
  }
  if (schema.has_any_of) {
    bool matched = false;
    for (const Schema* branch : schema.any_of) {
      matched = test(*branch, visit.instance, visit.seen) || matched;
      if (matched && visit.seen == nullptr) {
        break;  // with marks to collect, every branch counts
      }
    }
    if (!matched) {
      valid =
          report(visit, "anyOf", "a match of at least one of the schemas", shown(visit.instance));
    }
  }
  if (schema.has_one_of) {
    std::size_t matches = 0;
    for (const Schema* branch : schema.one_of) {
      matches += test(*branch, visit.instance, visit.seen) ? 1 : 0;
      if (matches > 1) {
        break;
      }
    }
    if (matches != 1) {
      valid = report(visit, "oneOf", "a match of exactly one of the schemas",
                     matches == 0 ? "none" : "several");
    }
  }
  if (schema.negated != nullptr && test(*schema.negated, visit.instance, nullptr)) {
    valid = report(visit, "not", "no match of the schema", shown(visit.instance));
  }
  return valid;
}

bool Validation::check_conditional(const Visit& visit) {
  const Schema& schema = visit.schema;
  if (schema.condition == nullptr) {
    return true;
  }
  const bool holds = test(*schema.condition, visit.instance, visit.seen);
  const Schema* then = holds ? schema.consequence : schema.alternative;
  return then == nullptr || apply(*then, visit.instance, visit.seen);
}

bool Validation::check_unevaluated(const Visit& visit) {
  const JsonNode& instance = visit.instance;
  const Schema* rest = instance.is(JsonNode::Kind::kArray)    ? visit.schema.unevaluated_items
                       : instance.is(JsonNode::Kind::kObject) ? visit.schema.unevaluated_properties
                                                              : nullptr;
  if (rest == nullptr || instance.items.empty()) {
    return true;
  }
  visit.seen->resize(instance.items.size());
  bool valid = true;
  for (std::size_t i = 0; i < instance.items.size(); ++i) {
    if ((*visit.seen)[i]) {
      continue;
    }
    valid = apply_to_child(*rest, instance, i) && valid;
    if (!valid && enough()) {
      return false;
    }
    (*visit.seen)[i] = true;
  }
  return valid && spend(instance.items.size() / 64);
}

}  // namespace daybreak::grammar
