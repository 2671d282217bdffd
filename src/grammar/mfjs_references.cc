// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/json_document.h"
#include "grammar/decimal.h"
#include "grammar/mfjs_checker.h"

namespace daybreak::grammar {
namespace {

using Kind = JsonNode::Kind;

constexpr std::string_view kDefs = "#/$defs/";

const JsonNode* object_member(const JsonNode& schema, std::string_view key) {
  const JsonNode* member = schema.find(key);
  return member != nullptr && member->is(Kind::kObject) ? member : nullptr;
}

}  // namespace

Status MfjsChecker::check_ref(const JsonNode& schema, const JsonNode& value, const Path& path) {
  if (!value.is(Kind::kString)) {
    return fail(path, "$ref must be a string");
  }
  const std::string& ref = value.text;
  if (ref != "#") {
    if (!ref.starts_with(kDefs)) {
      return fail(path, "references must start with #/$defs/");
    }
    if (ref.size() == kDefs.size()) {
      return fail(path, "definition name cannot be empty");
    }
    if (root_.find("$defs") == nullptr) {
      return fail(path, "$defs not found for reference: " + printable(ref, 120));
    }
  }
  DAYBREAK_CHECK_OK(check_siblings(schema, "$ref", path));
  references_.emplace_back(ref);
  return ok();
}

const JsonNode* MfjsChecker::resolve(std::string_view ref) const {
  const JsonNode* node = &root_;
  if (ref == "#") {
    return node;
  }
  if (!ref.starts_with(kDefs)) {
    return nullptr;
  }
  ref.remove_prefix(2);
  while (node != nullptr) {
    const std::size_t end = std::min(ref.find('/'), ref.size());
    node = object_member(*node, ref.substr(0, end));
    if (end == ref.size()) {
      return node;
    }
    ref.remove_prefix(end + 1);
  }
  return nullptr;
}

Status MfjsChecker::spend() {
  if (++steps_ <= limits_.max_reference_steps) {
    return ok();
  }
  return fail("", "reference graph is too complex to validate within the step budget");
}

// How many levels of properties a definition opens, each reference on the way taken once.
Result<std::size_t> MfjsChecker::reference_depth(const JsonNode& schema,
                                                 std::unordered_set<std::string_view>& open) {
  DAYBREAK_CHECK_OK(spend());
  std::size_t deepest = 0;
  const auto descend = [&](const JsonNode& child, std::size_t levels) -> Status {
    if (child.is(Kind::kObject)) {
      DAYBREAK_TRY(const std::size_t below, reference_depth(child, open));
      deepest = std::max(deepest, levels + below);
    }
    return ok();
  };
  const JsonNode* ref = schema.find("$ref");
  if (ref != nullptr && open.insert(ref->text).second) {
    if (const JsonNode* target = resolve(ref->text)) {
      DAYBREAK_CHECK_OK(descend(*target, 0));
    }
    open.erase(ref->text);
  }
  if (const JsonNode* properties = object_member(schema, "properties")) {
    deepest = std::max(deepest, std::size_t{1});
    for (const JsonNode& child : properties->items) {
      DAYBREAK_CHECK_OK(descend(child, 1));
    }
  }
  if (const JsonNode* any_of = schema.find("anyOf")) {
    for (const JsonNode& branch : any_of->items) {
      DAYBREAK_CHECK_OK(descend(branch, 0));
    }
  }
  if (const JsonNode* rest = object_member(schema, "additionalProperties")) {
    DAYBREAK_CHECK_OK(descend(*rest, 0));
  }
  return deepest;
}

Status MfjsChecker::check_references() {
  std::ranges::sort(references_);
  const auto [rest, end] = std::ranges::unique(references_);
  references_.erase(rest, end);
  for (const std::string_view ref : references_) {
    if (resolve(ref) == nullptr) {
      return fail("", "invalid $ref path: " + printable(ref, 120));
    }
  }
  if (at_least(MfjsLevel::kUltra)) {
    DAYBREAK_CHECK_OK(check_expansions(root_, ""));
  }
  DAYBREAK_CHECK_OK(check_ends(Ending::kDialect));
  return check_ends(Ending::kTrue);
}

Status MfjsChecker::check_expansions(const JsonNode& schema, const Path& path) {
  if (schema.find("$ref") != nullptr) {
    DAYBREAK_CHECK_OK(check_expansion(schema, path));
  }
  if (const JsonNode* properties = object_member(schema, "properties")) {
    for (std::size_t i = 0; i < properties->items.size(); ++i) {
      DAYBREAK_CHECK_OK(check_expansions(properties->items[i],
                                         join(join(path, "properties"), properties->keys[i])));
    }
  }
  for (const std::string_view keyword : {"items", "additionalProperties"}) {
    if (const JsonNode* child = object_member(schema, keyword)) {
      DAYBREAK_CHECK_OK(check_expansions(*child, join(path, keyword)));
    }
  }
  if (const JsonNode* any_of = schema.find("anyOf")) {
    for (const JsonNode& branch : any_of->items) {
      DAYBREAK_CHECK_OK(check_expansions(branch, join(path, "anyOf")));
    }
  }
  return ok();
}

// A keyword beside $ref must not stand in what it leads to as well; a chain of bare references
// counts as one.
Status MfjsChecker::check_expansion(const JsonNode& schema, const Path& path) {
  std::unordered_set<std::string_view> open;
  std::vector<std::string_view> seen;
  const JsonNode* node = &schema;
  while (node != nullptr) {
    DAYBREAK_CHECK_OK(spend());
    for (const std::string& key : node->keys) {
      if (key == "$ref") {
        continue;
      }
      if (std::ranges::find(seen, key) != seen.end()) {
        return fail(path, "conflicting keywords found after $ref expansion: " + key);
      }
    }
    const bool bare = std::ranges::all_of(node->keys, [&](const std::string& key) {
      return key == "$ref" || is_mfjs_remark(key) || (is_root(*node) && is_mfjs_root_keyword(key));
    });
    const JsonNode* ref = node->find("$ref");
    if (ref == nullptr || !bare || !open.insert(ref->text).second) {
      return ok();
    }
    for (const std::string& key : node->keys) {
      if (key != "$ref") {
        seen.emplace_back(key);
      }
    }
    node = resolve(ref->text);
  }
  return ok();
}

// Which referenced schemas end is the smallest set that agrees with itself: references are added
// as long as one is found to end with what is known.
Status MfjsChecker::check_ends(Ending ending) {
  ending_.clear();
  for (bool grown = true; grown;) {
    grown = false;
    for (const std::string_view ref : references_) {
      if (ending_.contains(ref)) {
        continue;
      }
      DAYBREAK_TRY(const bool known, ends(*resolve(ref), ending));
      if (known) {
        ending_.insert(ref);
        grown = true;
      }
    }
  }
  DAYBREAK_TRY(const bool root_ends, ends(root_, ending));
  if (root_ends) {
    return ok();
  }
  DAYBREAK_TRY(const auto place, endless_reference(root_, "", ending));
  return fail(place.value_or(""), "detected infinite recursion without termination condition");
}

Result<bool> MfjsChecker::ends(const JsonNode& schema, Ending ending) {
  DAYBREAK_CHECK_OK(spend());
  const auto types = mfjs_types(schema);
  if (std::ranges::any_of(types,
                          [](std::string_view t) { return t != "object" && t != "array"; })) {
    return true;
  }
  if (std::ranges::find(types, "array") != types.end()) {
    const JsonNode* items = object_member(schema, "items");
    const JsonNode* least = schema.find("minItems");
    const auto count = Decimal::parse(least == nullptr ? "0" : least->raw);
    const bool may_be_empty = !count || count->zero() || count->negative();
    if (items == nullptr || (ending == Ending::kTrue && may_be_empty)) {
      return true;
    }
    DAYBREAK_TRY(const bool items_end, ends(*items, ending));
    if (items_end) {
      return true;
    }
  }
  if (std::ranges::find(types, "object") != types.end()) {
    return object_ends(schema, ending);
  }
  if (const JsonNode* any_of = schema.find("anyOf")) {
    for (const JsonNode& branch : any_of->items) {
      DAYBREAK_TRY(const bool branch_ends, ends(branch, ending));
      if (branch_ends) {
        return true;
      }
    }
    return false;
  }
  if (const JsonNode* ref = schema.find("$ref")) {
    return ending_.contains(ref->text);
  }
  return types.empty();  // no type, no reference: any value will do
}

Result<bool> MfjsChecker::object_ends(const JsonNode& schema, Ending ending) {
  const JsonNode* required = schema.find("required");
  const JsonNode* properties = object_member(schema, "properties");
  if (required == nullptr || required->items.empty() || properties == nullptr) {
    return true;
  }
  for (const JsonNode& name : required->items) {
    const JsonNode* member = properties->find(name.text);
    bool member_ends = true;
    if (member != nullptr) {
      DAYBREAK_TRY(member_ends, ends(*member, ending));
    }
    if (member_ends != (ending == Ending::kTrue)) {
      return member_ends;  // the first that decides: one that ends, or one that does not
    }
  }
  return ending == Ending::kTrue;
}

// Returns the first place on the way that every instance must take whose reference does not end.
Result<std::optional<MfjsChecker::Path>> MfjsChecker::endless_reference(const JsonNode& schema,
                                                                        const Path& path,
                                                                        Ending ending) {
  DAYBREAK_TRY(const bool schema_ends, ends(schema, ending));
  if (schema_ends) {
    return std::optional<Path>();
  }
  if (schema.find("$ref") != nullptr) {
    return std::optional(path);
  }
  const JsonNode* required = schema.find("required");
  const JsonNode* properties = object_member(schema, "properties");
  if (required != nullptr && properties != nullptr) {
    for (const JsonNode& name : required->items) {
      if (const JsonNode* member = properties->find(name.text)) {
        DAYBREAK_TRY(auto place,
                     endless_reference(*member, join(join(path, "properties"), name.text), ending));
        if (place) {
          return place;
        }
      }
    }
  }
  if (const JsonNode* items = object_member(schema, "items")) {
    DAYBREAK_TRY(auto place, endless_reference(*items, join(path, "items"), ending));
    if (place) {
      return place;
    }
  }
  if (const JsonNode* any_of = schema.find("anyOf")) {
    for (const JsonNode& branch : any_of->items) {
      DAYBREAK_TRY(auto place, endless_reference(branch, join(path, "anyOf"), ending));
      if (place) {
        return place;
      }
    }
  }
  return std::optional<Path>();
}

}  // namespace daybreak::grammar
