// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the JSON traces have in common. Includes simdjson: for .cc files only.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json_document.h"
#include "loadgen/trace.h"

namespace daybreak::loadgen {

// Errors: kInvalidArgument if the member is missing.
inline Result<JsonValue> member_of(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> found = object.find_set(key);
  return found ? Result<JsonValue>(*found)
               : Error{Errc::kInvalidArgument,
                       object.where_of(key) + ": expected a value, found none"};
}

// A trace's number of tokens; what lies in none is refused.
inline Result<std::size_t> tokens_of(const JsonValue& object, std::string_view key,
                                     std::size_t min) {
  DAYBREAK_TRY(const JsonValue value, member_of(object, key));
  DAYBREAK_TRY(const std::uint64_t tokens, value.integer(min, kMaxTraceTokens));
  return tokens;
}

// The names of a prompt's blocks, none if the member is absent. Read without a JsonValue for each:
// agent traces have thousands a request.
inline Result<std::vector<std::uint64_t>> blocks_of(const JsonValue& object, std::string_view key) {
  std::vector<std::uint64_t> out;
  const std::optional<JsonValue> found = object.find_set(key);
  if (!found) {
    return out;
  }
  simdjson::dom::array array;
  if (found->raw().get(array) != simdjson::SUCCESS) {
    return found->expected("an array of whole numbers");
  }
  for (const simdjson::dom::element item : array) {
    std::uint64_t id = 0;
    if (item.get(id) != simdjson::SUCCESS || out.size() == kMaxTraceBlocks) {
      return found->expected("at most 1048576 whole numbers");
    }
    out.push_back(id);
  }
  return out;
}

}  // namespace daybreak::loadgen
