// SPDX-License-Identifier: Apache-2.0
#pragma once

// MFJS, "Moonshot flavored JSON Schema": the part of JSON Schema that Moonshot's endpoints take for
// tools and response formats, with the error texts their clients know (docs of MoonshotAI/walle).

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace daybreak::grammar {

enum class MfjsLevel : unsigned char {
  kLoose,   // any JSON object
  kLite,    // keywords of the right type, references that resolve and end, the limits
  kStrict,  // also: bounds that some value can meet, no keywords beside several types
  kUltra,   // also: only the dialect's keywords, each where it belongs; the default
};

// What Moonshot's endpoints run with.
struct MfjsLimits {
  std::size_t max_bytes = 120'000;     // of the schema, written compactly
  std::size_t max_depth = 30;          // of properties within properties, references followed
  std::size_t max_properties = 3'000;  // in all
  std::size_t max_any_of = 500;
  std::size_t max_enum_values = 1'000;
  std::size_t max_enum_characters = 75'000;   // of one enum that has
  std::size_t enum_characters_above = 2'500;  // more values than this
  std::size_t max_reference_steps = 500'000;  // of following references
};

// The same with the documented nesting of 5, which the dialect's test cases assume.
inline constexpr MfjsLimits kDocumentedMfjsLimits = {.max_depth = 5};

// Returns whether `text` is a schema of the dialect. Errors, all kInvalidArgument:
//   "JSON schema parsing error: WHY"  not a JSON object (`null` is the next kind)
//   "At path 'PATH': RULE"            the first rule broken; PATH is 'root' or the keywords and
//                                     names down to the place, joined by dots
[[nodiscard]] Status check_mfjs(std::string_view text, MfjsLevel level = MfjsLevel::kUltra,
                                const MfjsLimits& limits = {});

}  // namespace daybreak::grammar
