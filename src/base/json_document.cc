// SPDX-License-Identifier: Apache-2.0
#include "base/json_document.h"

#include <algorithm>
#include <cmath>

#include "base/json_fault.h"

namespace daybreak {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

std::string shown_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string shown(element value) {
  switch (value.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::INT64:
      return std::to_string(value.get_int64().value_unsafe());
    case element_type::UINT64:
      return std::to_string(value.get_uint64().value_unsafe());
    case element_type::DOUBLE:
      return shown_number(value.get_double().value_unsafe());
    case element_type::STRING:
      return '"' + printable(value.get_string().value_unsafe()) + '"';
    case element_type::BOOL:
      return value.get_bool().value_unsafe() ? "true" : "false";
    case element_type::NULL_VALUE:
      return "null";
  }
  return "an unknown value";
}

using Depth = JsonValue::Depth;

std::string member_path(const std::string& where, Depth depth, std::string_view key) {
  return where + (depth == Depth::kRoot ? ": " : ".") + printable(key);
}

std::string item_path(const std::string& where, Depth depth, std::size_t index) {
  return where + (depth == Depth::kRoot ? ": [" : "[") + std::to_string(index) + "]";
}

// Looks for a key that stands twice in one object, depth first; nesting is bounded by the parser.
Status refuse_duplicates(element value, const std::string& where, Depth depth = Depth::kInside) {
  if (value.is_array()) {
    std::size_t index = 0;
    for (const element item : value.get_array().value_unsafe()) {
      if (item.is_array() || item.is_object()) {
        DAYBREAK_CHECK_OK(refuse_duplicates(item, item_path(where, depth, index)));
      }
      ++index;
    }
    return ok();
  }
  if (!value.is_object()) {
    return ok();
  }
  std::vector<std::string_view> keys;
  for (const auto member : value.get_object().value_unsafe()) {
    keys.push_back(member.key);
    if (member.value.is_array() || member.value.is_object()) {
      DAYBREAK_CHECK_OK(refuse_duplicates(member.value, member_path(where, depth, member.key)));
    }
  }
  std::ranges::sort(keys);
  if (const auto twice = std::ranges::adjacent_find(keys); twice != keys.end()) {
    return Error{Errc::kInvalidArgument,
                 member_path(where, depth, *twice) + ": the key stands twice"};
  }
  return ok();
}

}  // namespace

Error JsonValue::expected(std::string_view what) const {
  return {Errc::kInvalidArgument,
          where_ + ": expected " + std::string(what) + ", found " + shown(element_)};
}

Result<std::uint64_t> JsonValue::integer(std::uint64_t min, std::uint64_t max) const {
  std::uint64_t value = 0;
  if (element_.get_uint64().get(value) != simdjson::SUCCESS || value < min || value > max) {
    return expected("an integer in [" + std::to_string(min) + ", " + std::to_string(max) + "]");
  }
  return value;
}

Result<double> JsonValue::number(double min, double max) const {
  double value = 0;
  if (element_.get_double().get(value) != simdjson::SUCCESS || !(value >= min && value <= max)) {
    return expected("a number in [" + shown_number(min) + ", " + shown_number(max) + "]");
  }
  return value;
}

Result<bool> JsonValue::boolean() const {
  bool value = false;
  if (element_.get_bool().get(value) != simdjson::SUCCESS) {
    return expected("true or false");
  }
  return value;
}

Result<std::string_view> JsonValue::string() const {
  std::string_view value;
  if (element_.get_string().get(value) != simdjson::SUCCESS) {
    return expected("a string");
  }
  return value;
}

Result<std::vector<JsonValue>> JsonValue::array(std::size_t max_items) const {
  simdjson::dom::array items;
  if (element_.get_array().get(items) != simdjson::SUCCESS) {
    return expected("an array");
  }
  std::vector<JsonValue> values;
  for (const element item : items) {
    if (values.size() == max_items) {
      return Error{Errc::kInvalidArgument,
                   where_ + ": expected at most " + std::to_string(max_items) + " items"};
    }
    values.emplace_back(item, item_path(where_, depth_, values.size()));
  }
  return values;
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  simdjson::dom::object members;
  element found;
  if (element_.get_object().get(members) != simdjson::SUCCESS ||
      members.at_key(key).get(found) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return JsonValue(found, where_of(key));
}

std::optional<JsonValue> JsonValue::find_set(std::string_view key) const {
  auto value = find(key);
  return value && value->is_null() ? std::nullopt : value;
}

std::string JsonValue::where_of(std::string_view key) const {
  return member_path(where_, depth_, key);
}

Result<JsonDocument> JsonDocument::parse(std::string_view text, std::string_view name,
                                         const JsonLimits& limits) {
  JsonDocument document;
  document.name_ = printable(name, 4096);
  if (text.size() > limits.max_bytes) {
    return Error{Errc::kTooLarge, document.name_ + ": " + std::to_string(text.size()) +
                                      " bytes, at most " + std::to_string(limits.max_bytes) +
                                      " are read"};
  }
  document.parser_ =
      std::make_unique<simdjson::dom::parser>(std::max(limits.max_bytes, std::size_t{256}));
  // The parser refuses the level it is given, hence one more. Tiny texts are given room for the
  // smallest document it makes, or it would re-allocate itself with its own depth limit.
  const std::size_t capacity = std::max(text.size(), std::size_t{256});
  if (document.parser_->allocate(capacity, limits.max_depth + 1) != simdjson::SUCCESS) {
    return Error{Errc::kTooLarge, document.name_ + ": no memory to parse " +
                                      std::to_string(text.size()) + " bytes of JSON"};
  }
  const auto code = document.parser_->parse(text.data(), text.size()).get(document.root_);
  if (code != simdjson::SUCCESS) {
    return json_fault(text, limits.max_depth, simdjson::error_message(code)).in(document.name_);
  }
  DAYBREAK_CHECK_OK(refuse_duplicates(document.root_, document.name_, Depth::kRoot));
  return document;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string line(text.substr(0, max_bytes));
  for (char& c : line) {
    c = c >= ' ' && c <= '~' ? c : '?';
  }
  return text.size() > max_bytes ? line + "..." : line;
}

}  // namespace daybreak
