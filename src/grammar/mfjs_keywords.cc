// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include "base/json_document.h"
#include "grammar/decimal.h"
#include "grammar/mfjs_checker.h"

namespace daybreak::grammar {
namespace {

using Kind = JsonNode::Kind;

std::string quoted_name(std::string_view name) { return "'" + printable(name, 60) + "'"; }

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The spelling was checked to fit a double, so it fits a Decimal.
Decimal decimal_of(const JsonNode& number) {
  const auto value = Decimal::parse(number.raw);
  return value ? *value : Decimal();
}

bool matches_type(const JsonNode& value, std::string_view type) {
  switch (value.kind) {
    case Kind::kNull:
      return type == "null";
    case Kind::kBoolean:
      return type == "boolean";
    case Kind::kNumber:
      return type == "number" || (type == "integer" && decimal_of(value).integer());
    case Kind::kString:
      return type == "string";
    case Kind::kArray:
      return type == "array";
    case Kind::kObject:
      return type == "object";
  }
  __builtin_unreachable();
}

}  // namespace

Status MfjsChecker::check_keyword(const JsonNode& schema, std::string_view keyword,
                                  const JsonNode& value, const Path& path) {
  // The place of the schema itself, for rules about the whole of it.
  const Path parent =
      path.size() > keyword.size() + 1 ? path.substr(0, path.size() - keyword.size() - 1) : Path();
  if (keyword == "type") {
    if (!value.is(Kind::kString) && !value.is(Kind::kArray)) {
      return fail(parent, "type must be string or array of strings");
    }
    auto types = mfjs_types(schema);
    std::ranges::sort(types);
    const bool twice = std::ranges::adjacent_find(types) != types.end();
    return twice && at_least(MfjsLevel::kUltra)
               ? Status(fail(path, "duplicate types in type array"))
               : ok();
  }
  if (keyword == "properties") {
    return check_properties(value, path);
  }
  if (keyword == "required") {
    return check_required(schema, value, path);
  }
  if (keyword == "enum") {
    return check_enum(schema, value, path);
  }
  if (keyword == "items") {
    return value.is(Kind::kObject) ? ok() : Status(fail(path, "items must be an object"));
  }
  if (keyword == "additionalProperties") {
    return value.is(Kind::kObject) || value.is(Kind::kBoolean)
               ? ok()
               : Status(fail(path, "additionalProperties must be a boolean or an object"));
  }
  if (keyword == "anyOf") {
    return check_any_of(schema, value, path);
  }
  if (keyword == "$ref") {
    return check_ref(schema, value, path);
  }
  if (keyword == "$defs") {
    return check_defs(value, path);
  }
  static constexpr std::array<std::string_view, 4> kStrings = {"description", "title", "$id",
                                                               "pattern"};
  const bool may_be_null = keyword == "$id" || keyword == "pattern";
  if (std::ranges::find(kStrings, keyword) != kStrings.end() && !value.is(Kind::kString) &&
      !(may_be_null && value.is(Kind::kNull))) {
    return fail(path, std::string(keyword) + " must be a string");
  }
  return ok();
}

Status MfjsChecker::check_properties(const JsonNode& value, const Path& path) const {
  static constexpr std::array<std::string_view, 5> kReserved = {"$defs", "$ref", "anyOf",
                                                                "required", "additionalProperties"};
  if (!value.is(Kind::kObject)) {
    return fail(path, "properties must be an object");
  }
  for (std::size_t i = 0; i < value.keys.size(); ++i) {
    const std::string& name = value.keys[i];
    if (at_least(MfjsLevel::kUltra) && name.empty()) {
      return fail(path, "property name cannot be empty");
    }
    if (at_least(MfjsLevel::kUltra) && std::ranges::find(kReserved, name) != kReserved.end()) {
      return fail(path,
                  "property name " + quoted_name(name) + " is reserved for JSON Schema keywords");
    }
    if (!value.items[i].is(Kind::kObject)) {
      return fail(path, "property schema for " + quoted_name(name) + " must be an object");
    }
  }
  return ok();
}

Status MfjsChecker::check_required(const JsonNode& schema, const JsonNode& value,
                                   const Path& path) const {
  if (!value.is(Kind::kArray)) {
    return fail(path, "required must be an array");
  }
  std::vector<std::string_view> names;
  for (const JsonNode& item : value.items) {
    if (!item.is(Kind::kString)) {
      return fail(path, "items in required array must be strings");
    }
    if (item.text.empty() && at_least(MfjsLevel::kUltra)) {
      return fail(path, "property names in required array cannot be empty");
    }
    names.emplace_back(item.text);
  }
  if (names.empty() || !at_least(MfjsLevel::kUltra)) {
    return ok();
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return fail(path, "duplicate items in required array: " + printable(*twice, 60));
  }
  return check_required_place(schema, value, path);
}

Status MfjsChecker::check_required_place(const JsonNode& schema, const JsonNode& value,
                                         const Path& path) const {
  if (mfjs_types(schema) != std::vector<std::string_view>{"object"}) {
    return fail(path, "required keyword must be used with object");
  }
  const JsonNode* properties = schema.find("properties");
  if (properties == nullptr) {
    return fail(path, "required specified but 'properties' keyword is missing");
  }
  std::vector<std::string_view> known(properties->keys.begin(), properties->keys.end());
  std::ranges::sort(known);
  for (const JsonNode& item : value.items) {
    if (!std::ranges::binary_search(known, std::string_view(item.text))) {
      return fail(path,
                  "required property " + quoted_name(item.text) + " is not defined in properties");
    }
  }
  return ok();
}

Status MfjsChecker::check_enum(const JsonNode& schema, const JsonNode& value,
                               const Path& path) const {
  if (!value.is(Kind::kArray)) {
    return fail(path, "enum must be an array");
  }
  if (value.items.empty()) {
    return fail(path, "enum array cannot be empty");
  }
  if (value.items.size() > limits_.max_enum_values) {
    return fail(path, "enum array cannot have more than " +
                          std::to_string(limits_.max_enum_values) + " items");
  }
  if (at_least(MfjsLevel::kUltra)) {
    DAYBREAK_CHECK_OK(check_enum_types(schema, value, path));
  }
  if (value.items.size() <= limits_.enum_characters_above) {
    return ok();
  }
  std::size_t characters = 0;
  for (const JsonNode& item : value.items) {
    characters += item.is(Kind::kString) ? item.text.size() : item.raw.size();
  }
  if (characters > limits_.max_enum_characters) {
    return fail(path, "total string length of enum values (" + std::to_string(characters) +
                          ") exceeds maximum limit of " +
                          std::to_string(limits_.max_enum_characters) +
                          " characters when enum has more than " +
                          std::to_string(limits_.enum_characters_above) + " values");
  }
  return ok();
}

Status MfjsChecker::check_enum_types(const JsonNode& schema, const JsonNode& value,
                                     const Path& path) const {
  const Path parent = path.size() > 5 ? path.substr(0, path.size() - 5) : Path();  // ".enum"
  const auto types = mfjs_types(schema);
  if (types.empty()) {
    return fail(parent, "type is not defined");
  }
  if (types.size() > 2 || (types.size() == 2 && !contains(types, "null"))) {
    return fail(parent,
                "when type is array and enum is specified, currently only 2 types are supported, "
                "one must be null, and the other can be string/integer/number/boolean");
  }
  for (const JsonNode& item : value.items) {
    if (std::ranges::any_of(types, [&](std::string_view t) { return matches_type(item, t); })) {
      continue;
    }
    if (contains(types, "number")) {
      return fail(path, "not a valid number");
    }
    if (contains(types, "integer")) {
      return fail(path, "not a valid integer");
    }
    std::string names;
    for (const std::string_view type : types) {
      names += (names.empty() ? "" : " ") + std::string(type);
    }
    return fail(path, "enum value (" + printable(item.raw, 60) + ") does not match any type in [" +
                          names + "]");
  }
  return ok();
}

Status MfjsChecker::check_any_of(const JsonNode& schema, const JsonNode& value,
                                 const Path& path) const {
  if (!value.is(Kind::kArray)) {
    return fail(path, "anyOf must be an array");
  }
  if (value.items.empty() || value.items.size() > limits_.max_any_of) {
    return fail(path, "anyOf must have 1-" + std::to_string(limits_.max_any_of) + " items");
  }
  for (const JsonNode& branch : value.items) {
    if (!branch.is(Kind::kObject)) {
      return fail(path, "schema in anyOf must be an object");
    }
  }
  return check_siblings(schema, "anyOf", path);
}

Status MfjsChecker::check_siblings(const JsonNode& schema, std::string_view keyword,
                                   const Path& path) const {
  if (!at_least(MfjsLevel::kUltra)) {
    return ok();
  }
  for (const std::string& key : schema.keys) {
    const bool at_root = is_root(schema) && is_mfjs_root_keyword(key);
    if (key != keyword && !is_mfjs_remark(key) && !at_root) {
      const std::size_t cut = keyword.size() + 1;
      return fail(path.size() > cut ? path.substr(0, path.size() - cut) : Path(),
                  "keyword " + quoted_name(key) + " is not allowed at the same level as " +
                      std::string(keyword));
    }
  }
  return ok();
}

Status MfjsChecker::check_defs(const JsonNode& value, const Path& path) const {
  if (!value.is(Kind::kObject)) {
    return fail(path, "$defs must be an object");
  }
  for (std::size_t i = 0; i < value.keys.size(); ++i) {
    if (value.keys[i].empty()) {
      return fail(path, "$defs property name cannot be empty");
    }
  }
  return check_no_slash(value, path);
}

// References name their target by segments between slashes, without escapes.
Status MfjsChecker::check_no_slash(const JsonNode& node, const Path& path) const {
  for (const std::string& key : node.keys) {
    if (key.find('/') != std::string::npos) {
      return fail(path,
                  "$defs property name " + quoted_name(key) + " cannot contain '/' character");
    }
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (!node.items[i].items.empty()) {
      DAYBREAK_CHECK_OK(
          check_no_slash(node.items[i], node.is(Kind::kObject) ? join(path, node.keys[i]) : path));
    }
  }
  return ok();
}

Status MfjsChecker::check_counts(const JsonNode& schema, std::string_view least,
                                 std::string_view most, const Path& path) const {
  for (const std::string_view keyword : {least, most}) {
    const JsonNode* value = schema.find(keyword);
    if (value == nullptr || value->is(Kind::kNull)) {
      continue;
    }
    if (!value->is(Kind::kNumber)) {
      return fail(path, std::string(keyword) + " must be an integer");
    }
    if (decimal_of(*value).negative()) {
      return fail(path, std::string(keyword) + " must be non-negative");
    }
    if (!decimal_of(*value).integer()) {
      return fail(path, "not a valid integer");
    }
  }
  return check_order(schema, least, most, join(path, least));
}

Status MfjsChecker::check_range(const JsonNode& schema, bool integer, const Path& path) const {
  for (const std::string_view keyword : {"minimum", "maximum"}) {
    const JsonNode* value = schema.find(keyword);
    if (value == nullptr || value->is(Kind::kNull)) {
      continue;
    }
    if (!value->is(Kind::kNumber)) {
      return fail(path, std::string(keyword) + " must be " + (integer ? "an integer" : "a number"));
    }
    if (integer && !decimal_of(*value).integer()) {
      return fail(path, "not a valid integer");
    }
  }
  return check_order(schema, "minimum", "maximum", path);
}

Status MfjsChecker::check_order(const JsonNode& schema, std::string_view least,
                                std::string_view most, const Path& path) const {
  const JsonNode* low = schema.find(least);
  const JsonNode* high = schema.find(most);
  if (low == nullptr || high == nullptr || !low->is(Kind::kNumber) || !high->is(Kind::kNumber) ||
      decimal_of(*low) <= decimal_of(*high)) {
    return ok();
  }
  return fail(path, std::string(least) + " (" + printable(low->raw, 40) +
                        ") cannot be greater than " + std::string(most) + " (" +
                        printable(high->raw, 40) + ")");
}

}  // namespace daybreak::grammar
