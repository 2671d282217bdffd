// SPDX-License-Identifier: Apache-2.0
#pragma once

// Schema: one (sub)schema of JSON Schema 2020-12, read and resolved. The validator, the dialect
// checks, the generator and the grammar compiler all work on this one tree (a graph, where $ref
// leads back). Nodes belong to a SchemaDocument and are never changed once it is made.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/decimal.h"

namespace daybreak::grammar {

// The seven type names of JSON Schema as bits; kInteger is the part of kNumber without fraction.
enum TypeBits : std::uint8_t {
  kNullType = 1,
  kBooleanType = 2,
  kIntegerType = 4,
  kNumberType = 8,  // any number, integers included
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
  kAllTypes = 127,
};

struct Schema {
  using Ref = const Schema*;  // null: keyword absent

  std::string path;            // JSON pointer of this node, "#" at the root; the nodes of the
                               // 2020-12 meta-schema have their URI before the "#"
  std::optional<bool> always;  // set: the schema `true` or `false`; nothing below applies
  const JsonNode* source = nullptr;

  std::optional<std::uint8_t> types;      // TypeBits
  const JsonNode* enumeration = nullptr;  // the array
  const JsonNode* constant = nullptr;

  std::optional<Decimal> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;

  std::optional<std::uint64_t> min_length, max_length;  // code points
  std::optional<std::string> pattern, format;

  std::vector<Ref> prefix_items;
  Ref items = nullptr;
  Ref contains = nullptr;
  std::optional<std::uint64_t> min_contains, max_contains, min_items, max_items;
  bool unique_items = false;
  Ref unevaluated_items = nullptr;

  std::vector<std::pair<std::string, Ref>> properties;          // in the schema's order
  std::vector<std::uint32_t> properties_by_name;                // indices into it, sorted by name
  std::vector<std::pair<std::string, Ref>> pattern_properties;  // regular expression, schema
  Ref additional_properties = nullptr;
  Ref property_names = nullptr;
  Ref unevaluated_properties = nullptr;
  std::vector<std::string> required;
  std::optional<std::uint64_t> min_properties, max_properties;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  std::vector<std::pair<std::string, Ref>> dependent_schemas;

  std::vector<Ref> all_of, any_of, one_of;  // empty: keyword absent
  bool has_any_of = false;                  // tells an empty anyOf (nothing is valid) from none
  bool has_one_of = false;
  Ref negated = nullptr;                                                  // not
  Ref condition = nullptr, consequence = nullptr, alternative = nullptr;  // if, then, else

  Ref ref = nullptr;  // $ref, resolved
  // $dynamicRef: the static target, and the anchor's name when it is a $dynamicAnchor (then the
  // outermost dynamic scope decides), else empty.
  Ref dynamic_ref = nullptr;
  std::string dynamic_anchor;
  std::size_t resource = 0;  // which schema resource ($id) the node belongs to

  // Returns the property's schema, or null.
  [[nodiscard]] Ref property(std::string_view name) const;
};

using DynamicAnchors = std::unordered_map<std::string_view, std::vector<const Schema*>>;

struct SchemaLimits {
  std::size_t max_bytes = 1'048'576;
  std::size_t max_depth = 64;               // nesting of the JSON text
  std::size_t max_nodes = 50'000;           // subschemas
  std::size_t max_path_bytes = 33'554'432;  // of all nodes' paths
};

// Not copyable: nodes point into it.
class SchemaDocument {
 public:
  // Reads a schema and resolves every $ref within it ($id, $anchor, $dynamicAnchor and JSON
  // pointers, percent-escapes included) or to the 2020-12 meta-schema. Unknown keywords are
  // annotations.
  // Errors: kInvalidArgument "PATH: expected ..., found ..." for a keyword of the wrong type, a key
  //         given twice, a $ref that leads nowhere, outside the document, or round in a circle
  //         without descending into the instance, an unknown $schema; what an older draft spells
  //         differently (items as an array; dependencies and $recursiveRef where $schema names
  //         that draft) is refused as such, not read as an annotation
  //         kTooLarge        a limit is passed, except max_depth (kInvalidArgument)
  [[nodiscard]] static Result<std::shared_ptr<const SchemaDocument>> parse(
      std::string_view text, const SchemaLimits& limits = {});

  SchemaDocument(const SchemaDocument&) = delete;
  SchemaDocument& operator=(const SchemaDocument&) = delete;

  [[nodiscard]] const Schema& root() const { return *root_; }
  [[nodiscard]] const std::deque<Schema>& nodes() const { return nodes_; }
  // Returns the node that `anchor` names as a $dynamicAnchor in a resource, or null.
  [[nodiscard]] const Schema* dynamic_target(std::size_t resource, std::string_view anchor) const;
  // Returns the nodes of all resources that carry a $dynamicAnchor, by its name.
  [[nodiscard]] DynamicAnchors dynamic_anchors() const;
  [[nodiscard]] std::size_t bytes() const;  // of memory, about

 private:
  friend class SchemaReader;
  SchemaDocument() = default;
  std::string text_;
  JsonNode tree_;
  std::deque<Schema> nodes_;
  const Schema* root_ = nullptr;
  // [resource], sorted by name
  std::vector<std::vector<std::pair<std::string, const Schema*>>> dynamic_anchors_;
};

// Returns whether two JSON values are equal as JSON Schema has it: numbers by value, objects
// whatever the order of their members.
[[nodiscard]] bool equal_values(const JsonNode& a, const JsonNode& b);

}  // namespace daybreak::grammar
