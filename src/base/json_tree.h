// SPDX-License-Identifier: Apache-2.0
#pragma once

// A JSON text as a tree that loses nothing: numbers keep their spelling (any size), members their
// order, every value the bytes it came from. The prompt depends on all three, which is why
// requests are not read through a parser that turns numbers into 64 bits.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak {

struct JsonNode {
  enum class Kind : std::uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };
  static constexpr std::uint32_t kNoDuplicate = std::numeric_limits<std::uint32_t>::max();

  Kind kind = Kind::kNull;
  bool boolean = false;
  // Objects: index of the first member whose key was given again. Its value is the last
  // one given, its place that of the first.
  std::uint32_t duplicate = kNoDuplicate;
  std::string_view raw;           // the bytes of this value in the parsed text
  std::string text;               // strings: unescaped UTF-8
  std::vector<std::string> keys;  // objects: unescaped, one per item
  std::vector<JsonNode> items;    // array elements, or member values

  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  // Returns the member `key` of an object, or null.
  [[nodiscard]] const JsonNode* find(std::string_view key) const;
};

// Returns "null", "boolean", "number", "string", "array" or "object".
[[nodiscard]] std::string_view to_string(JsonNode::Kind kind);

struct JsonTreeLimits {
  std::size_t max_depth = 64;            // nesting of arrays and objects
  std::size_t max_values = 250'000;      // nodes in all
  std::size_t max_number_bytes = 4'300;  // of one number's spelling
};

// Parses `text` whole, by RFC 8259. The tree refers to `text`, which must outlive it. Thread-safe.
// Errors: kInvalidArgument "PATH: WHY at byte N" for anything else than one JSON value in UTF-8,
// lone surrogate escapes included, and when a limit is passed.
[[nodiscard]] Result<JsonNode> parse_json_tree(std::string_view text,
                                               const JsonTreeLimits& limits = {});

}  // namespace daybreak
