// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON spelled as Python's json module spells it, because the prompts K3 was trained on were made
// with it: json.dumps(..., ensure_ascii=False) after json.loads.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_tree.h"

namespace daybreak::chat {

enum class JsonStyle : std::uint8_t {
  kSortedCompact,  // sort_keys=True, separators=(",", ":"): schemas and tools
  kSpaced,         // original order, ", " and ": ": argument values
};

// Appends `node`. Integers keep every digit, other numbers become the shortest spelling of the
// nearest double, "Infinity" where there is none.
void append_python_json(std::string& out, const JsonNode& node, JsonStyle style);

// Appends `text` in quotes with Python's escapes. REQUIRES: `text` is valid UTF-8.
void append_python_string(std::string& out, std::string_view text);

// The same without the quotes, for strings that arrive in pieces.
void append_python_escaped(std::string& out, std::string_view text);

// Returns repr(float) of Python: shortest digits that give `value` back, "1e-05", "1e+16", "1.0".
[[nodiscard]] std::string python_float(double value);

// Returns the number of `spelling` as Python prints it after parsing. REQUIRES: a JSON number.
[[nodiscard]] std::string python_number(std::string_view spelling);

// Returns the nearest double, infinite beyond the range. REQUIRES: a JSON number.
[[nodiscard]] double number_value(std::string_view spelling);

// Whether the spelling is an integer: digits only, no fraction, no exponent.
[[nodiscard]] bool is_integer(std::string_view spelling);

}  // namespace daybreak::chat
