// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random JSON Schemas over the whole vocabulary the grammar compiler knows, for tests and for
// `daybreak bench`. The same seed and options give the same text on every machine.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/rng.h"

namespace daybreak::grammar {

// What a random schema may use, as bits. Types, properties, required and items are always used.
enum SchemaFeatures : std::uint32_t {
  kUseEnum = 1U << 0,    // enum and const
  kUseBounds = 1U << 1,  // minimum, maximum, exclusiveMinimum, exclusiveMaximum
  kUseMultipleOf = 1U << 2,
  kUseLength = 1U << 3,  // minLength, maxLength
  kUsePattern = 1U << 4,
  kUseFormat = 1U << 5,
  kUseAdditional = 1U << 6,  // additionalProperties; without it the keyword is absent
  kUsePatternProperties = 1U << 7,
  kUsePropertyNames = 1U << 8,
  kUsePropertyCounts = 1U << 9,  // minProperties, maxProperties
  kUseDependent = 1U << 10,      // dependentRequired, dependentSchemas
  kUsePrefixItems = 1U << 11,
  kUseContains = 1U << 12,     // contains, minContains, maxContains
  kUseItemCounts = 1U << 13,   // minItems, maxItems
  kUseUniqueItems = 1U << 14,  // over scalars, with maxItems
  kUseAnyOf = 1U << 15,
  kUseOneOf = 1U << 16,
  kUseAllOf = 1U << 17,
  kUseNot = 1U << 18,
  kUseIf = 1U << 19,         // if, then, else
  kUseRef = 1U << 20,        // $defs and $ref
  kUseRecursion = 1U << 21,  // $ref that leads back
  kUseUnions = 1U << 22,     // several types, or none
  kUseBooleans = 1U << 23,   // the schemas true and {}
  kUseUnevaluated = 1U << 24,
  kUseOddText = 1U << 25,         // names and constants with quotes, non-ASCII, large numbers
  kUseContradictions = 1U << 26,  // false, minimum above maximum, required but forbidden, ...
};
inline constexpr std::uint32_t kAllSchemaFeatures = (1U << 27) - 1;
// For benchmarks: nothing contradictory or odd on purpose, nothing whose keywords are rare. Most of
// these schemas have instances; the caller finds out.
inline constexpr std::uint32_t kModerateSchemaFeatures =
    kAllSchemaFeatures & ~std::uint32_t{kUseUnevaluated | kUseOddText | kUseContradictions};

struct RandomSchemaOptions {
  std::uint32_t features = kAllSchemaFeatures;
  std::size_t max_depth = 4;   // of subschemas within subschemas
  std::size_t max_nodes = 24;  // subschemas in all; passed by a few, since what is begun is ended
};

// Returns the text of a schema that SchemaDocument::parse reads: every $ref leads somewhere, and
// round in a circle only through the instance.
[[nodiscard]] std::string random_schema(Rng& rng, const RandomSchemaOptions& options = {});

}  // namespace daybreak::grammar
