// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>

#include "base/json_document.h"
#include "grammar/schema_reader.h"
#include "grammar/validation.h"

namespace daybreak::grammar {
namespace {

std::string in_quotes(std::string_view name) { return "\"" + printable(name, 60) + "\""; }

}  // namespace

std::optional<std::size_t> Validation::find_member(const JsonNode& object, std::string_view name) {
  constexpr std::size_t kFew = 16;  // below, a search through all is faster than sorting
  if (object.keys.size() <= kFew) {
    const auto at = std::ranges::find(object.keys, name);
    return at == object.keys.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(at - object.keys.begin()));
  }
  auto [known, added] = key_orders_.try_emplace(&object);
  std::vector<std::uint32_t>& order = known->second;
  const auto key = [&object](std::uint32_t i) -> std::string_view { return object.keys[i]; };
  if (added) {
    order.resize(object.keys.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, key);
  }
  const auto at = std::ranges::lower_bound(order, name, {}, key);
  return at != order.end() && object.keys[*at] == name ? std::optional<std::size_t>(*at)
                                                       : std::nullopt;
}

bool Validation::check_object(const Visit& visit) {
  const Schema& schema = visit.schema;
  const JsonNode& instance = visit.instance;
  if (!instance.is(JsonNode::Kind::kObject)) {
    return true;
  }
  if (!spend(instance.items.size() + schema.required.size())) {
    return false;
  }
  bool valid = true;
  if (schema.min_properties && instance.items.size() < *schema.min_properties) {
    valid = report(visit, "minProperties",
                   "at least " + std::to_string(*schema.min_properties) + " members",
                   std::to_string(instance.items.size()));
  }
  if (schema.max_properties && instance.items.size() > *schema.max_properties) {
    valid = report(visit, "maxProperties",
                   "at most " + std::to_string(*schema.max_properties) + " members",
                   std::to_string(instance.items.size()));
  }
  for (const std::string& name : schema.required) {
    if ((valid || !enough()) && !find_member(instance, name)) {
      valid = report(visit, "required", "the member " + in_quotes(name), "none");
    }
  }
  if (valid || !enough()) {
    valid = check_members(visit) && valid;
  }
  if (valid || !enough()) {
    valid = check_dependents(visit) && valid;
  }
  return valid;
}

bool Validation::check_members(const Visit& visit) {
  const Schema& schema = visit.schema;
  const JsonNode& instance = visit.instance;
  if (schema.properties.empty() && schema.pattern_properties.empty() &&
      schema.additional_properties == nullptr && schema.property_names == nullptr) {
    return true;
  }
  const auto& patterns = patterns_.of(schema).property_names;
  bool valid = true;
  for (std::size_t i = 0; i < instance.items.size(); ++i) {
    if (!valid && enough()) {
      return false;
    }
    const std::string& name = instance.keys[i];
    bool matched = false;
    const auto apply_member = [&](const Schema& child) {
      valid = apply_to_child(child, instance, i) && valid;
      mark_seen(visit.seen, i, instance.items.size());
      matched = true;
    };
    if (const Schema* child = schema.property(name)) {
      apply_member(*child);
    }
    for (std::size_t p = 0; p < patterns.size(); ++p) {
      if (!spend(1 + name.size() / 8)) {
        return false;
      }
      if (patterns[p]->contains(name)) {
        apply_member(*schema.pattern_properties[p].second);
      }
    }
    if (!matched && schema.additional_properties != nullptr) {
      apply_member(*schema.additional_properties);
    }
    if (schema.property_names != nullptr) {
      JsonNode key;
      key.kind = JsonNode::Kind::kString;
      key.text = name;
      key.raw = name;
      if (!test(*schema.property_names, key, nullptr)) {
        valid = report(visit, "propertyNames", "a name that matches the schema", in_quotes(name));
      }
    }
  }
  return valid;
}

bool Validation::check_dependents(const Visit& visit) {
  const Schema& schema = visit.schema;
  bool valid = true;
  for (const auto& [name, needed] : schema.dependent_required) {
    if (!spend(1 + needed.size())) {
      return false;
    }
    if (!find_member(visit.instance, name)) {
      continue;
    }
    for (const std::string& other : needed) {
      if ((valid || !enough()) && !find_member(visit.instance, other)) {
        valid = report(visit, "dependentRequired",
                       "the member " + in_quotes(other) + " beside " + in_quotes(name), "none");
      }
    }
  }
  for (const auto& [name, child] : schema.dependent_schemas) {
    if (!spend(1)) {
      return false;
    }
    if ((valid || !enough()) && find_member(visit.instance, name)) {
      valid = apply(*child, visit.instance, visit.seen) && valid;
    }
  }
  return valid;
}

}  // namespace daybreak::grammar
