// SPDX-License-Identifier: Apache-2.0
#include "grammar/mfjs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>

#include "base/json_document.h"
#include "grammar/mfjs_checker.h"

namespace daybreak::grammar {
namespace {

using Kind = JsonNode::Kind;
using Names = std::vector<std::string_view>;

constexpr std::size_t kMaxJsonDepth = 128;

constexpr std::array<std::string_view, 20> kKeywords = {
    "type",      "properties",  "additionalProperties",
    "items",     "enum",        "required",
    "anyOf",     "description", "$defs",
    "$ref",      "title",       "$id",
    "default",   "pattern",     "maxLength",
    "minLength", "maximum",     "minimum",
    "maxItems",  "minItems"};

bool contains(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

bool is_type(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kTypes = {
      "string", "number", "integer", "boolean", "null", "array", "object"};
  return contains(kTypes, name);
}

// Whether `keyword` says something about values of `type`.
bool allows(std::string_view type, std::string_view keyword) {
  static constexpr std::array<std::string_view, 4> kAlways = {"type", "default", "description",
                                                              "title"};
  static constexpr std::array<std::string_view, 5> kObject = {
      "properties", "required", "additionalProperties", "$ref", "anyOf"};
  static constexpr std::array<std::string_view, 4> kArray = {"items", "minItems", "maxItems",
                                                             "$ref"};
  static constexpr std::array<std::string_view, 4> kString = {"minLength", "maxLength", "pattern",
                                                              "enum"};
  static constexpr std::array<std::string_view, 3> kNumber = {"minimum", "maximum", "enum"};
  if (contains(kAlways, keyword)) {
    return true;
  }
  if (type == "object") {
    return contains(kObject, keyword);
  }
  if (type == "array") {
    return contains(kArray, keyword);
  }
  if (type == "string") {
    return contains(kString, keyword);
  }
  return type == "number" || type == "integer" ? contains(kNumber, keyword) : keyword == "enum";
}

std::string list(Names names) {
  std::ranges::sort(names);
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + printable(name, 60);
  }
  return text;
}

std::size_t compact_bytes(const JsonNode& node) {
  if (node.kind != Kind::kArray && node.kind != Kind::kObject) {
    return node.raw.size();
  }
  std::size_t bytes = 2 + (node.items.empty() ? 0 : node.items.size() - 1);
  for (const std::string& key : node.keys) {
    bytes += key.size() + 3;  // quotes and colon
  }
  for (const JsonNode& item : node.items) {
    bytes += compact_bytes(item);
  }
  return bytes;
}

bool has_huge_number(const JsonNode& node) {
  if (node.is(Kind::kNumber)) {
    return std::isinf(std::strtod(std::string(node.raw).c_str(), nullptr));
  }
  return std::ranges::any_of(node.items, has_huge_number);
}

}  // namespace

std::vector<std::string_view> mfjs_types(const JsonNode& schema) {
  const JsonNode* type = schema.find("type");
  if (type == nullptr) {
    return {};
  }
  if (type->is(Kind::kString)) {
    return {type->text};
  }
  Names names;
  for (const JsonNode& item : type->items) {
    if (type->is(Kind::kArray) && item.is(Kind::kString)) {
      names.emplace_back(item.text);
    }
  }
  return names;
}

bool is_mfjs_remark(std::string_view keyword) {
  return keyword == "description" || keyword == "title";
}

bool is_mfjs_root_keyword(std::string_view keyword) {
  return keyword == "$defs" || keyword == "$id";
}

Status check_mfjs(std::string_view text, MfjsLevel level, const MfjsLimits& limits) {
  const auto parsing_error = [](std::string_view why) {
    return Error{Errc::kInvalidArgument, "JSON schema parsing error: " + std::string(why)};
  };
  const auto tree = parse_json_tree(text, {.max_depth = kMaxJsonDepth});
  if (!tree) {
    return parsing_error(tree.error().message);
  }
  if (tree->is(Kind::kNull)) {
    return Error{Errc::kInvalidArgument, "At path 'root': schema must be a dict"};
  }
  if (!tree->is(Kind::kObject)) {
    return parsing_error("expected an object, found " + std::string(to_string(tree->kind)));
  }
  if (has_huge_number(*tree)) {
    return parsing_error("a number beyond the range of a double");
  }
  return level == MfjsLevel::kLoose ? ok() : MfjsChecker(*tree, level, limits).check();
}

Error MfjsChecker::fail(const Path& path, std::string_view rule) {
  return {Errc::kInvalidArgument,
          "At path '" + (path.empty() ? "root" : printable(path, 400)) + "': " + std::string(rule)};
}

MfjsChecker::Path MfjsChecker::join(const Path& path, std::string_view part) {
  return path.empty() ? Path(part) : path + "." + std::string(part);
}

Status MfjsChecker::check() {
  DAYBREAK_CHECK_OK(check_duplicates(root_, ""));
  if (compact_bytes(root_) > limits_.max_bytes) {
    return fail("", "schema exceeds maximum allowed size");
  }
  DAYBREAK_CHECK_OK(check_schema(root_, "", 0));
  if (too_deep_) {
    return fail("", "schema depth exceeds maximum limit of " + std::to_string(limits_.max_depth));
  }
  return check_references();
}

Status MfjsChecker::check_duplicates(const JsonNode& node, const Path& path) const {
  if (node.duplicate != JsonNode::kNoDuplicate) {
    return fail(path, "duplicate key '" + printable(node.keys[node.duplicate], 60) + "'");
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (!node.items[i].items.empty()) {
      DAYBREAK_CHECK_OK(check_duplicates(
          node.items[i], join(path, node.is(Kind::kObject) ? node.keys[i] : std::to_string(i))));
    }
  }
  return ok();
}

Status MfjsChecker::check_schema(const JsonNode& schema, const Path& path, std::size_t depth) {
  if (depth > limits_.max_depth) {
    return fail(path, "schema depth exceeds maximum limit of " + std::to_string(limits_.max_depth));
  }
  if (at_least(MfjsLevel::kUltra)) {
    Names unsupported;
    std::ranges::copy_if(schema.keys, std::back_inserter(unsupported),
                         [](const std::string& key) { return !contains(kKeywords, key); });
    if (!unsupported.empty()) {
      return fail(path, "unsupported keywords: " + list(unsupported));
    }
  }
  DAYBREAK_CHECK_OK(check_definitions(schema, path, depth));
  DAYBREAK_CHECK_OK(check_type_place(schema, path));
  DAYBREAK_CHECK_OK(check_types(schema, path));
  std::vector<std::size_t> order(schema.keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return schema.keys[i]; });
  for (const std::size_t i : order) {
    DAYBREAK_CHECK_OK(
        check_keyword(schema, schema.keys[i], schema.items[i], join(path, schema.keys[i])));
  }
  if (const JsonNode* ref = schema.find("$ref")) {
    const auto known = ref_depth_.find(ref->text);
    if (known == ref_depth_.end()) {
      const JsonNode* target = ref->text == "#" ? nullptr : resolve(ref->text);
      std::unordered_set<std::string_view> open;
      std::size_t below = 0;
      if (target != nullptr) {
        DAYBREAK_TRY(below, reference_depth(*target, open));
      }
      ref_depth_.emplace(ref->text, below);
    }
    too_deep_ = too_deep_ || depth + ref_depth_[ref->text] > limits_.max_depth;
  }
  return check_children(schema, path, depth);
}

Status MfjsChecker::check_definitions(const JsonNode& schema, const Path& path, std::size_t depth) {
  const JsonNode* defs = schema.find("$defs");
  for (std::size_t i = 0; defs != nullptr && i < defs->keys.size(); ++i) {
    if (!defs->items[i].is(Kind::kObject)) {
      return fail(join(path, "$defs"),
                  "$defs schema must be object: " + printable(defs->keys[i], 60));
    }
    DAYBREAK_CHECK_OK(
        check_schema(defs->items[i], join(join(path, "$defs"), defs->keys[i]), depth));
  }
  return ok();
}

Status MfjsChecker::check_children(const JsonNode& schema, const Path& path, std::size_t depth) {
  if (const JsonNode* properties = schema.find("properties")) {
    properties_ += properties->keys.size();
    if (properties_ > limits_.max_properties) {
      return fail(path, "total number of properties keys(" + std::to_string(properties_) +
                            ") across all objects exceeds maximum limit of " +
                            std::to_string(limits_.max_properties));
    }
    for (std::size_t i = 0; i < properties->keys.size(); ++i) {
      DAYBREAK_CHECK_OK(check_schema(
          properties->items[i], join(join(path, "properties"), properties->keys[i]), depth + 1));
    }
  }
  for (const std::string_view keyword : {"items", "additionalProperties"}) {
    const JsonNode* child = schema.find(keyword);
    if (child != nullptr && child->is(Kind::kObject)) {
      DAYBREAK_CHECK_OK(check_schema(*child, join(path, keyword), depth));
    }
  }
  if (const JsonNode* any_of = schema.find("anyOf")) {
    for (const JsonNode& branch : any_of->items) {
      DAYBREAK_CHECK_OK(check_schema(branch, join(path, "anyOf"), depth));
    }
  }
  return ok();
}

// `type` belongs into what anyOf and $ref lead to.
Status MfjsChecker::check_type_place(const JsonNode& schema, const Path& path) const {
  const JsonNode* type = schema.find("type");
  if (type == nullptr) {
    return ok();
  }
  if (at_least(MfjsLevel::kUltra) && schema.find("anyOf") != nullptr) {
    return fail(path,
                "when using anyOf, type should be defined in anyOf items instead of the parent "
                "schema");
  }
  if (at_least(MfjsLevel::kUltra) && schema.find("$ref") != nullptr) {
    return fail(path,
                "when using $ref, type should be defined in the referenced schema instead of the "
                "parent schema");
  }
  if (type->is(Kind::kArray) && type->items.size() > 1 && schema.find("enum") != nullptr) {
    for (const std::string_view name : mfjs_types(schema)) {
      if (name == "object" || name == "array") {
        return fail(path, "type " + std::string(name) + " is not allowed in combination with enum");
      }
    }
  }
  return ok();
}

Status MfjsChecker::check_types(const JsonNode& schema, const Path& path) const {
  const JsonNode* type = schema.find("type");
  if (type == nullptr) {
    return ok();
  }
  if (type->is(Kind::kString) && !is_type(type->text)) {
    return fail(path, "invalid type");
  }
  if (type->is(Kind::kArray)) {
    for (const JsonNode& item : type->items) {
      if (!item.is(Kind::kString) || !is_type(item.text)) {
        return fail(path, "invalid type in type array");
      }
    }
    if (type->items.empty()) {
      return fail(path, "type array cannot be empty");
    }
  }
  const Names types = mfjs_types(schema);
  if (types.size() > 1 && at_least(MfjsLevel::kStrict)) {
    DAYBREAK_CHECK_OK(check_several_types(schema, path, types.size()));
  }
  if (types.empty() || !at_least(MfjsLevel::kStrict)) {
    return ok();
  }
  if (at_least(MfjsLevel::kUltra)) {
    DAYBREAK_CHECK_OK(check_allowed(schema, path, types));
  }
  const auto all_allow = [&types](std::string_view keyword) {
    return std::ranges::all_of(types, [&](std::string_view t) { return allows(t, keyword); });
  };
  if (all_allow("minLength")) {
    DAYBREAK_CHECK_OK(check_counts(schema, "minLength", "maxLength", path));
  }
  if (all_allow("minItems")) {
    DAYBREAK_CHECK_OK(check_counts(schema, "minItems", "maxItems", path));
  }
  return all_allow("minimum") ? check_range(schema, contains(types, "integer"), path) : ok();
}

Status MfjsChecker::check_several_types(const JsonNode& schema, const Path& path,
                                        std::size_t types) const {
  if (types == 2 && schema.find("enum") != nullptr) {
    return ok();
  }
  for (const std::string& key : schema.keys) {
    const bool at_root = is_root(schema) && is_mfjs_root_keyword(key);
    if (key != "type" && !is_mfjs_remark(key) && !at_root) {
      return fail(path, "keyword " + printable(key, 60) +
                            " is not allowed in combination with multiple types");
    }
  }
  return ok();
}

Status MfjsChecker::check_allowed(const JsonNode& schema, const Path& path,
                                  const std::vector<std::string_view>& types) const {
  Names invalid;
  for (const std::string& key : schema.keys) {
    if (is_mfjs_root_keyword(key)) {
      if (!is_root(schema)) {
        return fail(path, "keyword " + key + " must be at root level");
      }
    } else if (!std::ranges::all_of(types, [&](std::string_view t) { return allows(t, key); })) {
      invalid.emplace_back(key);
    }
  }
  return invalid.empty() ? ok() : Status(fail(path, "invalid keywords: " + list(invalid)));
}

}  // namespace daybreak::grammar
