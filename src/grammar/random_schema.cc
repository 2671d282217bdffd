// SPDX-License-Identifier: Apache-2.0
#include "grammar/random_schema.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/random_schema_pools.h"
#include "grammar/random_text.h"

namespace daybreak::grammar {
namespace {

enum class Type : std::uint8_t { kNull, kBoolean, kInteger, kNumber, kString, kArray, kObject };
constexpr Type kTypes[] = {Type::kNull,   Type::kBoolean, Type::kInteger, Type::kNumber,
                           Type::kString, Type::kArray,   Type::kObject};
constexpr std::string_view kTypeNames[] = {"null",   "boolean", "integer", "number",
                                           "string", "array",   "object"};

std::string type_name(Type type) { return json_quoted(kTypeNames[static_cast<std::size_t>(type)]); }

class SchemaMaker {
 public:
  SchemaMaker(Rng& rng, const RandomSchemaOptions& options) : rng_(rng), options_(options) {}

  std::string document();

 private:
  // Where a subschema stands: how deep, and whether between it and the definition it is written in
  // lies a step into the instance, so that a reference back does not go round in a circle.
  struct Place {
    std::size_t depth = 0;
    bool inside = false;

    [[nodiscard]] Place here() const { return {depth + 1, inside}; }
    [[nodiscard]] Place below() const { return {depth + 1, true}; }
  };

  [[nodiscard]] bool uses(std::uint32_t feature) const {
    return (options_.features & feature) != 0;
  }
  bool want(std::uint32_t feature, std::uint32_t percent) {
    return uses(feature) && chance(rng_, percent);
  }
  [[nodiscard]] bool leaf(const Place& place) const {
    return place.depth >= options_.max_depth || nodes_ >= options_.max_nodes;
  }
  std::uint32_t up_to(std::uint32_t max) { return rng_.below(max + 1); }

  std::string schema(const Place& place);
  std::string typed(Type type, const Place& place);
  Type random_type(const Place& place);
  std::string enumeration();
  std::string scalar();
  std::string scalar_schema(const Place& place);
  std::string reference(const Place& place);
  std::string tagged_union(const Place& place);

  void add_keywords(JsonObjectText& out, Type type, const Place& place);
  void add_number(JsonObjectText& out, Type type);
  void add_string(JsonObjectText& out);
  void add_array(JsonObjectText& out, const Place& place);
  void add_contains(JsonObjectText& out, const Place& place);
  void add_object(JsonObjectText& out, const Place& place);
  void add_object_rest(JsonObjectText& out, const std::vector<std::string>& names,
                       const Place& place);
  void add_applicators(JsonObjectText& out, Type type, const Place& place);
  std::string name();
  std::vector<std::string> some_names(const std::vector<std::string>& names, std::uint32_t percent);

  Rng& rng_;
  RandomSchemaOptions options_;
  std::size_t nodes_ = 0;
  std::size_t definitions_ = 0;
  // The definition being written, or definitions_ in the root: references that do not descend go to
  // smaller numbers only.
  std::size_t current_ = 0;
};

std::string SchemaMaker::document() {
  definitions_ = uses(kUseRef) && chance(rng_, 40) ? 1 + rng_.below(3) : 0;
  current_ = definitions_;
  std::string root = schema({});
  if (definitions_ == 0) {
    return root;
  }
  std::vector<std::string> definitions;
  for (current_ = 0; current_ < definitions_; ++current_) {
    nodes_ = std::min(nodes_, options_.max_nodes - std::min<std::size_t>(options_.max_nodes, 6));
    definitions.push_back(schema({.depth = 1}));
  }
  JsonObjectText defs;
  for (std::size_t i = 0; i < definitions_; ++i) {
    defs.add("D" + std::to_string(i), definitions[i]);
  }
  if (root.front() != '{') {
    root = "{}";
  }
  root.pop_back();
  return root + (root.size() > 1 ? "," : "") + "\"$defs\":" + defs.text() + "}";
}

std::string SchemaMaker::schema(const Place& place) {
  ++nodes_;
  if (want(kUseBooleans, 4)) {
    return chance(rng_, 50) ? "true" : "{}";
  }
  if (want(kUseContradictions, 1)) {
    return "false";
  }
  if (uses(kUseRef) && chance(rng_, definitions_ > 0 ? 15 : 2)) {
    const std::string found = reference(place);
    if (!found.empty()) {
      return found;
    }
  }
  if (want(kUseEnum, 12)) {
    return enumeration();
  }
  if (!leaf(place) && want(kUseOneOf, 5)) {
    return tagged_union(place);
  }
  return typed(random_type(place), place);
}

// At the root objects are what is asked for, deep down scalars are.
Type SchemaMaker::random_type(const Place& place) {
  if (leaf(place)) {
    return pick(rng_, kTypes) < Type::kInteger ? Type::kBoolean : kTypes[2 + rng_.below(3)];
  }
  if (place.depth == 0) {
    return chance(rng_, 70) ? Type::kObject : pick(rng_, kTypes);
  }
  constexpr Type kUsual[] = {Type::kNull,   Type::kBoolean, Type::kInteger, Type::kInteger,
                             Type::kNumber, Type::kString,  Type::kString,  Type::kString,
                             Type::kArray,  Type::kArray,   Type::kObject,  Type::kObject};
  return pick(rng_, kUsual);
}

std::string SchemaMaker::typed(Type type, const Place& place) {
  JsonObjectText out;
  if (want(kUseUnions, 8)) {
    const Type other = pick(rng_, kTypes);
    if (other != type) {
      out.add("type", "[" + type_name(type) + "," + type_name(other) + "]");
      add_keywords(out, type, place);
      if (!leaf(place) || other < Type::kArray) {
        add_keywords(out, other, place);
      }
    }
  } else if (want(kUseUnions, 5)) {  // keywords of one type, open to all others
    add_keywords(out, type, place);
  }
  if (out.empty()) {
    out.add("type", type_name(type));
    add_keywords(out, type, place);
  }
  add_applicators(out, type, place);
  return out.text();
}

std::string SchemaMaker::name() {
  constexpr std::string_view kPlain[] = {"a", "b", "c", "d", "id", "name", "kind", "x_1", "Foo"};
  return uses(kUseOddText) ? random_name(rng_) : std::string(pick(rng_, kPlain));
}

std::string SchemaMaker::scalar() {
  if (uses(kUseOddText)) {
    return random_value(rng_, chance(rng_, 15) ? 2 : 0);
  }
  constexpr std::string_view kPlain[] = {
      "\"a\"", "\"b\"", "\"red\"", "\"green\"", "\"in progress\"", "1",        "2",      "10",
      "-3",    "0.5",   "true",    "null",      "\"asc\"",         "\"desc\"", "\"a_b\""};
  return std::string(pick(rng_, kPlain));
}

std::string SchemaMaker::enumeration() {
  JsonObjectText out;
  if (chance(rng_, 35)) {
    out.add("const", scalar());
    return out.text();
  }
  std::vector<std::string> values;
  for (std::uint32_t n = 1 + up_to(5); n > 0; --n) {
    std::string value = scalar();
    if (std::ranges::find(values, value) == values.end()) {
      values.push_back(std::move(value));
    }
  }
  if (std::ranges::all_of(values, [](const std::string& v) { return v.front() == '"'; })) {
    out.add("type", "\"string\"");
  }
  out.add("enum", json_list(values));
  return out.text();
}

std::string SchemaMaker::scalar_schema(const Place& place) {
  ++nodes_;
  if (want(kUseEnum, 30)) {
    return enumeration();
  }
  const Type type = kTypes[1 + rng_.below(4)];
  JsonObjectText out;
  out.add("type", type_name(type));
  add_keywords(out, type, place);
  return out.text();
}

std::string SchemaMaker::reference(const Place& place) {
  const bool back = place.inside && want(kUseRecursion, 60);
  if (back && chance(rng_, definitions_ == 0 ? 100 : 15)) {
    return R"({"anyOf":[{"type":"null"},{"$ref":"#"}]})";
  }
  const std::size_t choices = back ? definitions_ : std::min(current_, definitions_);
  if (choices == 0) {
    return {};
  }
  const std::size_t target = rng_.below(static_cast<std::uint32_t>(choices));
  std::string ref = R"({"$ref":"#/$defs/D)" + std::to_string(target) + "\"}";
  if (target >= current_) {  // leads back: leave a way out
    return R"({"anyOf":[{"type":"null"},)" + ref + "]}";
  }
  if (chance(rng_, 15) && !leaf(place)) {
    ref.pop_back();
    return ref + ",\"allOf\":[" + schema(place.here()) + "]}";
  }
  return ref;
}

// Objects told apart by a constant, as zod's discriminatedUnion and pydantic write them.
std::string SchemaMaker::tagged_union(const Place& place) {
  std::vector<std::string> branches;
  constexpr std::string_view kTags[] = {"create", "update", "delete", "move"};
  const std::uint32_t count = 2 + up_to(2);
  for (std::uint32_t i = 0; i < count; ++i) {
    ++nodes_;
    JsonObjectText properties;
    properties.add("kind", R"({"const":)" + json_quoted(kTags[i]) + "}");
    for (std::uint32_t n = up_to(2); n > 0; --n) {
      const std::string key = name();
      properties.add(key, schema(place.below()));
    }
    JsonObjectText branch;
    branch.add("type", "\"object\"");
    branch.add("properties", properties.text());
    branch.add("required", R"(["kind"])");
    if (want(kUseAdditional, 50)) {
      branch.add("additionalProperties", "false");
    }
    branches.push_back(branch.text());
  }
  return std::string(uses(kUseAnyOf) && chance(rng_, 50) ? R"({"anyOf":)" : R"({"oneOf":)") +
         json_list(branches) + "}";
}

void SchemaMaker::add_keywords(JsonObjectText& out, Type type, const Place& place) {
  switch (type) {
    case Type::kNull:
    case Type::kBoolean:
      break;
    case Type::kInteger:
    case Type::kNumber:
      add_number(out, type);
      break;
    case Type::kString:
      add_string(out);
      break;
    case Type::kArray:
      add_array(out, place);
      break;
    case Type::kObject:
      add_object(out, place);
      break;
  }
}

void SchemaMaker::add_number(JsonObjectText& out, Type type) {
  const auto spelled = [&](int tenths) {
    std::string text = std::to_string(tenths / 10);
    if (tenths < 0 && tenths > -10) {
      text = "-0";
    }
    return type == Type::kNumber && tenths % 10 != 0
               ? text + "." + std::to_string(std::abs(tenths % 10))
               : text;
  };
  const int low = static_cast<int>(rng_.below(400)) - 200;
  const int width = want(kUseContradictions, 5)
                        ? -15
                        : static_cast<int>(rng_.below(chance(rng_, 50) ? 60 : 2000));
  if (want(kUseBounds, 40)) {
    out.add(chance(rng_, 25) ? "exclusiveMinimum" : "minimum", spelled(low));
  }
  if (want(kUseBounds, 40)) {
    out.add(chance(rng_, 25) ? "exclusiveMaximum" : "maximum", spelled(low + width));
  }
  if (want(kUseOddText, 4)) {
    out.add("maximum", random_number(rng_));
  }
  if (want(kUseMultipleOf, 15)) {
    out.add("multipleOf", std::string(kSteps[rng_.below(type == Type::kInteger ? 5 : 10)]));
  }
}

void SchemaMaker::add_string(JsonObjectText& out) {
  const std::uint32_t low = up_to(6);
  if (want(kUseFormat, 15)) {
    out.add("format", json_quoted(pick(rng_, kFormats)));
    return;
  }
  const bool pattern = want(kUsePattern, 25);
  if (pattern) {
    out.add("pattern",
            json_quoted(want(kUseOddText, 30) ? pick(rng_, kOddPatterns) : pick(rng_, kPatterns)));
  }
  // A pattern has a length already; another one beside it is rare.
  if (want(kUseLength, pattern ? 15 : 30)) {
    out.add("minLength", std::to_string(low));
  }
  if (want(kUseLength, pattern ? 15 : 30)) {
    const bool tight = want(kUseContradictions, 5);
    out.add("maxLength",
            std::to_string(tight ? low / 2 : low + up_to(chance(rng_, 60) ? 10 : 300)));
  }
}

void SchemaMaker::add_array(JsonObjectText& out, const Place& place) {
  if (!leaf(place) && want(kUsePrefixItems, 15)) {
    std::vector<std::string> prefix;
    for (std::uint32_t n = 1 + up_to(2); n > 0; --n) {
      prefix.push_back(schema(place.below()));
    }
    out.add("prefixItems", json_list(prefix));
  }
  const bool unique = want(kUseUniqueItems, 12);
  if (unique) {
    out.add("uniqueItems", "true");
    out.add("items", scalar_schema(place.below()));
    out.add("maxItems", std::to_string(1 + up_to(5)));
  } else if (!leaf(place) && chance(rng_, 85)) {
    out.add("items", schema(place.below()));
  } else if (want(kUseBooleans, 20) && uses(kUsePrefixItems)) {
    out.add("items", "false");
  }
  const std::uint32_t low = up_to(3);
  if (want(kUseItemCounts, unique ? 20 : 25)) {
    out.add("minItems", std::to_string(unique ? 1 : low));
  }
  if (want(kUseItemCounts, 25)) {
    out.add("maxItems", std::to_string(want(kUseContradictions, 5) ? 0 : low + up_to(5)));
  }
  if (!leaf(place) && want(kUseContains, 8)) {
    add_contains(out, place);
  }
  if (!leaf(place) && want(kUseUnevaluated, 3)) {
    out.add("unevaluatedItems", chance(rng_, 60) ? "false" : schema(place.below()));
  }
}

void SchemaMaker::add_contains(JsonObjectText& out, const Place& place) {
  out.add("contains", schema(place.below()));
  const std::uint32_t low = up_to(2);
  if (chance(rng_, 30)) {
    out.add("minContains", std::to_string(low));
  }
  if (chance(rng_, 30)) {
    out.add("maxContains", std::to_string(low + up_to(2)));
  }
}

std::vector<std::string> SchemaMaker::some_names(const std::vector<std::string>& names,
                                                 std::uint32_t percent) {
  std::vector<std::string> out;
  for (const std::string& each : names) {
    if (chance(rng_, percent)) {
      out.push_back(each);
    }
  }
  return out;
}

void SchemaMaker::add_object(JsonObjectText& out, const Place& place) {
  JsonObjectText properties;
  std::vector<std::string> names;
  const std::uint32_t count = leaf(place) ? up_to(1) : up_to(place.depth == 0 ? 6 : 4);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string each = name();
    if (std::ranges::find(names, each) == names.end()) {
      properties.add(each,
                     leaf(place) ? typed(Type::kString, place.below()) : schema(place.below()));
      names.push_back(std::move(each));
    }
  }
  if (!names.empty()) {
    out.add("properties", properties.text());
  }
  std::vector<std::string> required = some_names(names, chance(rng_, 25) ? 100 : 45);
  if (want(kUseContradictions, 8)) {
    required.push_back(name());
    std::ranges::sort(required);
    required.erase(std::unique(required.begin(), required.end()), required.end());
  }
  if (!required.empty()) {
    out.add("required", json_list_of_strings(required));
  }
  if (want(kUseAdditional, 45)) {
    out.add("additionalProperties",
            leaf(place) || chance(rng_, 60) ? "false" : schema(place.below()));
  }
  if (!leaf(place)) {
    add_object_rest(out, names, place);
  }
}

void SchemaMaker::add_object_rest(JsonObjectText& out, const std::vector<std::string>& names,
                                  const Place& place) {
  if (want(kUsePatternProperties, 10)) {
    JsonObjectText patterns;
    for (std::uint32_t n = 1 + up_to(1); n > 0; --n) {
      const std::string_view key = pick(rng_, kNamePatterns);
      patterns.add(key, schema(place.below()));
    }
    out.add("patternProperties", patterns.text());
  }
  if (want(kUsePropertyNames, 6)) {
    out.add("propertyNames", chance(rng_, 50)
                                 ? R"({"pattern":)" + json_quoted(pick(rng_, kNamePatterns)) + "}"
                                 : R"({"maxLength":)" + std::to_string(1 + up_to(5)) + "}");
  }
  const std::uint32_t low = up_to(2);
  if (want(kUsePropertyCounts, 7)) {
    out.add("minProperties", std::to_string(low));
  }
  if (want(kUsePropertyCounts, 7)) {
    out.add("maxProperties", std::to_string(low + 1 + up_to(3)));
  }
  if (!names.empty() && want(kUseDependent, 7)) {
    JsonObjectText dependent;
    const std::string& key = pick(rng_, names);
    dependent.add(key, json_list_of_strings(some_names(names, 50)));
    out.add("dependentRequired", dependent.text());
  }
  if (!names.empty() && want(kUseDependent, 4)) {
    JsonObjectText dependent;
    const std::string& key = pick(rng_, names);
    dependent.add(key, typed(Type::kObject, place.here()));
    out.add("dependentSchemas", dependent.text());
  }
  if (want(kUseUnevaluated, 3)) {
    out.add("unevaluatedProperties", chance(rng_, 60) ? "false" : schema(place.below()));
  }
}

// Branches are mostly of the type of their parent: others would only forbid.
void SchemaMaker::add_applicators(JsonObjectText& out, Type type, const Place& place) {
  const auto branch = [&] {
    return chance(rng_, 80) ? (++nodes_, typed(type, place.here())) : schema(place.here());
  };
  const auto branches = [&](std::uint32_t count) {
    std::vector<std::string> items;
    for (; count > 0; --count) {
      items.push_back(branch());
    }
    return json_list(items);
  };
  if (leaf(place)) {
    return;
  }
  if (want(kUseAllOf, 5)) {
    out.add("allOf", branches(1 + up_to(1)));
  }
  if (want(kUseAnyOf, 7)) {
    out.add("anyOf", branches(2 + up_to(1)));
  }
  if (want(kUseOneOf, 3)) {
    out.add("oneOf", branches(2));
  }
  if (want(kUseNot, 4)) {
    out.add("not", chance(rng_, 50) && uses(kUseEnum) ? enumeration() : branch());
  }
  if (want(kUseIf, 4)) {
    out.add("if", branch());
    if (chance(rng_, 80)) {
      out.add("then", branch());
    }
    if (chance(rng_, 60)) {
      out.add("else", branch());
    }
  }
}

}  // namespace

std::string random_schema(Rng& rng, const RandomSchemaOptions& options) {
  return SchemaMaker(rng, options).document();
}

}  // namespace daybreak::grammar
