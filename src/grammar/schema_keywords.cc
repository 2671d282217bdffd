// SPDX-License-Identifier: Apache-2.0
// The keywords of JSON Schema 2020-12: what value each may have, and where it goes in a Schema.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "base/json_document.h"
#include "grammar/meta_schemas.h"
#include "grammar/schema_reader.h"

namespace daybreak::grammar {
namespace {

using Kind = JsonNode::Kind;

Status expect_kind(const JsonNode& node, std::string_view path, Kind kind, std::string_view what) {
  if (node.is(kind)) {
    return ok();
  }
  return schema_error(path, what, shown(node));
}

Result<Decimal> read_number(const JsonNode& node, std::string_view path) {
  DAYBREAK_CHECK_OK(expect_kind(node, path, Kind::kNumber, "a number"));
  auto number = Decimal::parse(node.raw);
  if (!number) {
    return std::move(number).error().in(printable(path, 200));
  }
  return number;
}

// Counts beyond 64 bits are saturated: no instance is that long.
Result<std::uint64_t> read_count(const JsonNode& node, std::string_view path) {
  constexpr std::int64_t kMaxDigits = 19;
  constexpr std::string_view kExpected = "an integer of at least 0";
  DAYBREAK_CHECK_OK(expect_kind(node, path, Kind::kNumber, kExpected));
  DAYBREAK_TRY(const Decimal number, read_number(node, path));
  if (number.negative() || !number.integer()) {
    return schema_error(path, kExpected, shown(node));
  }
  if (static_cast<std::int64_t>(number.digits().size()) + number.exponent() > kMaxDigits) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  std::uint64_t count = 0;
  for (const char digit : number.digits()) {
    count = count * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  for (std::int64_t i = 0; i < number.exponent() && count != 0; ++i) {
    count *= 10;
  }
  return count;
}

Result<std::vector<std::string>> read_strings(const JsonNode& node, std::string_view path) {
  DAYBREAK_CHECK_OK(expect_kind(node, path, Kind::kArray, "an array of strings"));
  std::vector<std::string> strings;
  strings.reserve(node.items.size());
  for (const JsonNode& item : node.items) {
    DAYBREAK_CHECK_OK(expect_kind(item, path, Kind::kString, "an array of strings"));
    strings.push_back(item.text);
  }
  return strings;
}

constexpr std::array<std::pair<std::string_view, std::uint8_t>, 7> kTypes = {{
    {"null", kNullType},
    {"boolean", kBooleanType},
    {"integer", kIntegerType},
    {"number", kNumberType},
    {"string", kStringType},
    {"array", kArrayType},
    {"object", kObjectType},
}};

Result<std::uint8_t> read_type(const JsonNode& node, std::string_view path) {
  const auto* const type = std::ranges::find(kTypes, std::string_view(node.text),
                                             &std::pair<std::string_view, std::uint8_t>::first);
  if (!node.is(Kind::kString) || type == kTypes.end()) {
    return schema_error(path,
                        "null, boolean, integer, number, string, array, object or an array of them",
                        shown(node));
  }
  return type->second;
}

// The drafts that clients still name; what they spell differently is refused where it appears.
bool is_older_draft(std::string_view uri) {
  return (uri.starts_with("http://json-schema.org/") ||
          uri.starts_with("https://json-schema.org/")) &&
         uri.find("2020-12") == std::string_view::npos;
}

bool is_anchor(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

const std::unordered_map<std::string_view, SchemaReader::Target>& SchemaReader::keywords() {
  using R = SchemaReader;
  static const std::unordered_map<std::string_view, Target> table = {
      {"$schema", &R::read_dialect},
      {"$anchor", &R::read_anchor},
      {"$dynamicAnchor", &R::read_dynamic_anchor},
      {"$ref", &R::read_ref},
      {"$dynamicRef", &R::read_ref},
      {"$recursiveRef", &R::read_older},
      {"dependencies", &R::read_older},
      {"$defs", &R::read_defs},
      {"contentSchema", &R::read_content_schema},
      {"type", &R::read_types},
      {"enum", &R::read_enum},
      {"const", &R::read_const},
      {"minimum", &Schema::minimum},
      {"maximum", &Schema::maximum},
      {"exclusiveMinimum", &Schema::exclusive_minimum},
      {"exclusiveMaximum", &Schema::exclusive_maximum},
      {"multipleOf", &R::read_multiple_of},
      {"minLength", &Schema::min_length},
      {"maxLength", &Schema::max_length},
      {"pattern", &Schema::pattern},
      {"format", &Schema::format},
      {"prefixItems", &Schema::prefix_items},
      {"items", &R::read_items},
      {"contains", &Schema::contains},
      {"minContains", &Schema::min_contains},
      {"maxContains", &Schema::max_contains},
      {"minItems", &Schema::min_items},
      {"maxItems", &Schema::max_items},
      {"uniqueItems", &R::read_unique},
      {"unevaluatedItems", &Schema::unevaluated_items},
      {"properties", &R::read_properties},
      {"patternProperties", &Schema::pattern_properties},
      {"additionalProperties", &Schema::additional_properties},
      {"propertyNames", &Schema::property_names},
      {"unevaluatedProperties", &Schema::unevaluated_properties},
      {"required", &R::read_required},
      {"minProperties", &Schema::min_properties},
      {"maxProperties", &Schema::max_properties},
      {"dependentRequired", &R::read_dependent_required},
      {"dependentSchemas", &Schema::dependent_schemas},
      {"allOf", &Schema::all_of},
      {"anyOf", &R::read_any_of},
      {"oneOf", &R::read_one_of},
      {"not", &Schema::negated},
      {"if", &Schema::condition},
      {"then", &Schema::consequence},
      {"else", &Schema::alternative},
  };
  return table;
}

Status SchemaReader::read_keywords(Schema& schema, const JsonNode& node) {
  const auto& table = keywords();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (const auto known = table.find(node.keys[i]); known != table.end()) {
      const Keyword keyword{.name = node.keys[i],
                            .value = node.items[i],
                            .path = child_path(schema.path, node.keys[i]),
                            .resource = schema.resource};
      DAYBREAK_CHECK_OK(read_keyword(schema, keyword, known->second));
    }
  }
  return ok();
}

Status SchemaReader::read_keyword(Schema& schema, const Keyword& keyword, const Target& target) {
  const auto set = [&schema](auto member, auto value) -> Status {
    if (!value) {
      return std::move(value).error();
    }
    schema.*member = *std::move(value);
    return ok();
  };
  const auto read_string = [&]() -> Result<std::string> {
    DAYBREAK_CHECK_OK(expect_kind(keyword.value, keyword.path, Kind::kString, "a string"));
    return keyword.value.text;
  };
  return std::visit(
      Overloaded{
          [&](std::optional<std::uint64_t> Schema::* member) {
            return set(member, read_count(keyword.value, keyword.path));
          },
          [&](std::optional<Decimal> Schema::* member) {
            return set(member, read_number(keyword.value, keyword.path));
          },
          [&](std::optional<std::string> Schema::* member) { return set(member, read_string()); },
          [&](Schema::Ref Schema::* member) {
            return set(member, read(keyword.value, keyword.path, keyword.resource));
          },
          [&](std::vector<Schema::Ref> Schema::* member) {
            return set(member, read_schemas(keyword));
          },
          [&](SchemaMap Schema::* member) { return set(member, read_schema_map(keyword)); },
          [&](Special special) { return (this->*special)(schema, keyword); },
      },
      target);
}

Result<std::vector<Schema::Ref>> SchemaReader::read_schemas(const Keyword& keyword) {
  DAYBREAK_CHECK_OK(expect_kind(keyword.value, keyword.path, Kind::kArray, "an array of schemas"));
  std::vector<Schema::Ref> schemas;
  for (std::size_t i = 0; i < keyword.value.items.size(); ++i) {
    DAYBREAK_TRY(const Schema* child,
                 read(keyword.value.items[i], child_path(keyword.path, std::to_string(i)),
                      keyword.resource));
    schemas.push_back(child);
  }
  return schemas;
}

Result<SchemaReader::SchemaMap> SchemaReader::read_schema_map(const Keyword& keyword) {
  const JsonNode& node = keyword.value;
  DAYBREAK_CHECK_OK(expect_kind(node, keyword.path, Kind::kObject, "an object of schemas"));
  SchemaMap schemas;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    DAYBREAK_TRY(const Schema* child,
                 read(node.items[i], child_path(keyword.path, node.keys[i]), keyword.resource));
    schemas.emplace_back(node.keys[i], child);
  }
  return schemas;
}

Status SchemaReader::read_any_of(Schema& schema, const Keyword& keyword) {
  schema.has_any_of = true;
  return read_keyword(schema, keyword, &Schema::any_of);
}

Status SchemaReader::read_one_of(Schema& schema, const Keyword& keyword) {
  schema.has_one_of = true;
  return read_keyword(schema, keyword, &Schema::one_of);
}

Status SchemaReader::read_properties(Schema& schema, const Keyword& keyword) {
  DAYBREAK_CHECK_OK(read_keyword(schema, keyword, &Schema::properties));
  auto& order = schema.properties_by_name;
  order.resize(schema.properties.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(
      order, {}, [&](std::uint32_t i) -> const std::string& { return schema.properties[i].first; });
  return ok();
}

Status SchemaReader::read_items(Schema& schema, const Keyword& keyword) {
  if (keyword.value.is(Kind::kArray)) {
    return schema_error(keyword.path, "a schema (2020-12 spells a list of schemas prefixItems)",
                        "an array");
  }
  return read_keyword(schema, keyword, &Schema::items);
}

Status SchemaReader::read_types(Schema& schema, const Keyword& keyword) {
  const JsonNode& node = keyword.value;
  if (!node.is(Kind::kArray)) {
    DAYBREAK_TRY(schema.types, read_type(node, keyword.path));
    return ok();
  }
  std::uint8_t types = 0;
  for (const JsonNode& item : node.items) {
    DAYBREAK_TRY(const std::uint8_t type, read_type(item, keyword.path));
    types |= type;
  }
  schema.types = types;
  return ok();
}

Status SchemaReader::read_enum(Schema& schema, const Keyword& keyword) {
  DAYBREAK_CHECK_OK(expect_kind(keyword.value, keyword.path, Kind::kArray, "an array"));
  schema.enumeration = &keyword.value;
  return ok();
}

Status SchemaReader::read_const(Schema& schema, const Keyword& keyword) {
  schema.constant = &keyword.value;
  return ok();
}

Status SchemaReader::read_unique(Schema& schema, const Keyword& keyword) {
  DAYBREAK_CHECK_OK(expect_kind(keyword.value, keyword.path, Kind::kBoolean, "true or false"));
  schema.unique_items = keyword.value.boolean;
  return ok();
}

Status SchemaReader::read_multiple_of(Schema& schema, const Keyword& keyword) {
  DAYBREAK_TRY(const Decimal number, read_number(keyword.value, keyword.path));
  if (number.zero() || number.negative()) {
    return schema_error(keyword.path, "a number above 0", shown(keyword.value));
  }
  schema.multiple_of = number;
  return ok();
}

Status SchemaReader::read_required(Schema& schema, const Keyword& keyword) {
  DAYBREAK_TRY(schema.required, read_strings(keyword.value, keyword.path));
  return ok();
}

Status SchemaReader::read_dependent_required(Schema& schema, const Keyword& keyword) {
  const JsonNode& node = keyword.value;
  DAYBREAK_CHECK_OK(expect_kind(node, keyword.path, Kind::kObject, "an object of string arrays"));
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    DAYBREAK_TRY(auto names, read_strings(node.items[i], child_path(keyword.path, node.keys[i])));
    schema.dependent_required.emplace_back(node.keys[i], std::move(names));
  }
  return ok();
}

// Not used by the schema itself: read because references lead there.
Status SchemaReader::read_defs(Schema& /*schema*/, const Keyword& keyword) {
  const auto schemas = read_schema_map(keyword);
  return schemas ? ok() : Status(schemas.error());
}

Status SchemaReader::read_content_schema(Schema& /*schema*/, const Keyword& keyword) {
  const auto schema = read(keyword.value, keyword.path, keyword.resource);
  return schema ? ok() : Status(schema.error());
}

Status SchemaReader::read_dialect(Schema& schema, const Keyword& keyword) {
  const std::string& uri = keyword.value.text;
  const bool older = is_older_draft(uri);
  if (!older && uri != kMetaSchemaUri && uri != std::string(kMetaSchemaUri) + "#") {
    return schema_error(keyword.path, kMetaSchemaUri, shown(keyword.value));
  }
  if (&schema == &document_.nodes_.front()) {
    older_draft_ = older;
  }
  return ok();
}

Status SchemaReader::add_anchor(const Keyword& keyword, const Schema& schema) {
  const std::string& name = keyword.value.text;
  if (!keyword.value.is(Kind::kString) || !is_anchor(name)) {
    return schema_error(keyword.path, "a name of letters, digits, '-', '_' and '.'",
                        shown(keyword.value));
  }
  const auto [at, added] = resources_[keyword.resource].anchors.emplace(name, &schema);
  if (!added && at->second != &schema) {
    return schema_error(keyword.path,
                        "another anchor than that of " + printable(at->second->path, 100),
                        shown(keyword.value));
  }
  return ok();
}

Status SchemaReader::read_anchor(Schema& schema, const Keyword& keyword) {
  return add_anchor(keyword, schema);
}

Status SchemaReader::read_dynamic_anchor(Schema& schema, const Keyword& keyword) {
  DAYBREAK_CHECK_OK(add_anchor(keyword, schema));
  auto& all = document_.dynamic_anchors_;
  all.resize(std::max(all.size(), keyword.resource + 1));
  all[keyword.resource].emplace_back(keyword.value.text, &schema);
  return ok();
}

Status SchemaReader::read_ref(Schema& schema, const Keyword& keyword) {
  DAYBREAK_CHECK_OK(expect_kind(keyword.value, keyword.path, Kind::kString, "a URI reference"));
  pending_.push_back({.from = &schema,
                      .reference = keyword.value.text,
                      .path = keyword.path,
                      .dynamic = keyword.name == "$dynamicRef"});
  return ok();
}

// Annotations in 2020-12. Where the document says that it is older, they were meant to hold.
Status SchemaReader::read_older(Schema& /*schema*/, const Keyword& keyword) {
  if (!older_draft_) {
    return ok();
  }
  return schema_error(
      keyword.path,
      keyword.name == "dependencies" ? "dependentRequired or dependentSchemas" : "$dynamicRef",
      "an older draft's keyword");
}

}  // namespace daybreak::grammar
