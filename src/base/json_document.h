// SPDX-License-Identifier: Apache-2.0
#pragma once

// Strict reading of JSON files: a document that is parsed once, and values that know where they
// stand, so that every error says which file, which field, what was expected and what was found.
// Duplicate keys are refused anywhere, since two readers may pick different ones. Includes
// simdjson: for .cc files only.

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace daybreak {

// A borrowed value: valid while its JsonDocument lives (and is not moved from under it: moving a
// document keeps its values valid).
class JsonValue {
 public:
  enum class Depth : bool { kRoot, kInside };
  JsonValue(simdjson::dom::element element, std::string where, Depth depth = Depth::kInside)
      : element_(element), where_(std::move(where)), depth_(depth) {}

  // "FILE: a.b[3]", the start of every message about this value.
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] bool is_null() const { return element_.is_null(); }
  [[nodiscard]] bool is_object() const { return element_.is_object(); }
  [[nodiscard]] bool is_array() const { return element_.is_array(); }

  // The typed readers. Errors: kInvalidArgument  another type, or outside [min, max].
  [[nodiscard]] Result<std::uint64_t> integer(std::uint64_t min, std::uint64_t max) const;
  [[nodiscard]] Result<double> number(double min, double max) const;
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<std::string_view> string() const;
  [[nodiscard]] Result<std::vector<JsonValue>> array(std::size_t max_items) const;

  // Returns the member `key`, or nothing if it is absent (or this is not an object).
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
  // The same, but a null member counts as absent.
  [[nodiscard]] std::optional<JsonValue> find_set(std::string_view key) const;
  // Returns where() of the member `key`, present or not.
  [[nodiscard]] std::string where_of(std::string_view key) const;

  // Returns kInvalidArgument "FILE: field: expected WHAT, found THIS".
  [[nodiscard]] Error expected(std::string_view what) const;

  [[nodiscard]] simdjson::dom::element raw() const { return element_; }

 private:
  simdjson::dom::element element_;
  std::string where_;
  Depth depth_;
};

struct JsonLimits {
  std::size_t max_bytes = std::size_t{16} << 20;
  std::size_t max_depth = 64;  // of arrays and objects; an empty innermost one is not counted
};

class JsonDocument {
 public:
  // Parses `text` whole. `name` stands for the file in messages.
  // Errors: kTooLarge         longer than max_bytes
  //         kInvalidArgument  not JSON (with the field and byte where it breaks), nested deeper
  //                           than max_depth, a number out of range, or a duplicate key
  [[nodiscard]] static Result<JsonDocument> parse(std::string_view text, std::string_view name,
                                                  const JsonLimits& limits = {});

  [[nodiscard]] JsonValue root() const { return {root_, name_, JsonValue::Depth::kRoot}; }

 private:
  JsonDocument() = default;
  // Elements point into the parser's document, which therefore must not move.
  std::unique_ptr<simdjson::dom::parser> parser_;
  simdjson::dom::element root_;
  std::string name_;
};

// Returns `text` cut to at most `max_bytes` for a message, control bytes and non-ASCII replaced by
// '?': input may hold anything, a message must stay one printable line.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 120);

}  // namespace daybreak
