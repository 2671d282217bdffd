// SPDX-License-Identifier: Apache-2.0
#pragma once

// StaticMembers: what unevaluatedProperties and unevaluatedItems leave alone, where that is the
// same for every instance: the members and elements that the schema itself, its allOf and its $ref
// describe. Where it depends on the instance (anyOf, oneOf, if, dependentSchemas, contains), the
// automaton would have to carry annotations; such schemas are refused by name.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/schema.h"

namespace daybreak::grammar {

struct StaticMembers {
  std::vector<std::string> names;
  std::vector<std::string> patterns;
  bool all = false;  // additionalProperties or a nested unevaluatedProperties covers the rest
};
// Errors: kUnsupported naming the keyword that makes it depend on the instance.
[[nodiscard]] Result<StaticMembers> static_members(const Schema& schema);

struct StaticElements {
  std::uint64_t prefix = 0;  // elements before this index
  bool all = false;
};
[[nodiscard]] Result<StaticElements> static_elements(const Schema& schema);

}  // namespace daybreak::grammar
