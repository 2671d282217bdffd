// SPDX-License-Identifier: Apache-2.0
#include "grammar/static_members.h"

#include <algorithm>
#include <unordered_set>

#include "grammar/scalar_kinds.h"

namespace daybreak::grammar {
namespace {

constexpr int kMaxDepth = 64;

using Seen = std::unordered_set<const Schema*>;

// Calls `visit` for `schema` and what applies with it unconditionally, each once.
template <class Visit>
Status walk(const Schema& root, const Schema& schema, std::string_view keyword, int depth,
            Seen& seen, const Visit& visit) {
  if (!seen.insert(&schema).second) {
    return ok();
  }
  if (depth > kMaxDepth) {
    return not_enforceable(root, keyword, "$ref and allOf are nested too deeply beside it");
  }
  if (schema.has_any_of || schema.has_one_of || schema.condition != nullptr ||
      !schema.dependent_schemas.empty() || schema.dynamic_ref != nullptr) {
    return not_enforceable(root, keyword,
                           "what is evaluated depends on the instance (anyOf, oneOf, if, "
                           "dependentSchemas or $dynamicRef beside it)");
  }
  visit(schema);
  if (schema.ref != nullptr) {
    DAYBREAK_CHECK_OK(walk(root, *schema.ref, keyword, depth + 1, seen, visit));
  }
  for (const Schema::Ref child : schema.all_of) {
    DAYBREAK_CHECK_OK(walk(root, *child, keyword, depth + 1, seen, visit));
  }
  return ok();
}

}  // namespace

Result<StaticMembers> static_members(const Schema& schema) {
  StaticMembers members;
  Seen seen;
  DAYBREAK_CHECK_OK(walk(schema, schema, "unevaluatedProperties", 0, seen, [&](const Schema& node) {
    for (const auto& [name, value] : node.properties) {
      members.names.push_back(name);
    }
    for (const auto& [pattern, value] : node.pattern_properties) {
      members.patterns.push_back(pattern);
    }
    members.all = members.all || node.additional_properties != nullptr ||
                  (&node != &schema && node.unevaluated_properties != nullptr);
  }));
  return members;
}

Result<StaticElements> static_elements(const Schema& schema) {
  StaticElements elements;
  bool contains = false;
  Seen seen;
  DAYBREAK_CHECK_OK(walk(schema, schema, "unevaluatedItems", 0, seen, [&](const Schema& node) {
    elements.prefix = std::max<std::uint64_t>(elements.prefix, node.prefix_items.size());
    elements.all = elements.all || node.items != nullptr ||
                   (&node != &schema && node.unevaluated_items != nullptr);
    contains = contains || node.contains != nullptr;
  }));
  if (contains && !elements.all) {
    return not_enforceable(schema, "unevaluatedItems",
                           "what is evaluated depends on the instance (contains beside it)");
  }
  return elements;
}

}  // namespace daybreak::grammar
