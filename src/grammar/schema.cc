// SPDX-License-Identifier: Apache-2.0
#include "grammar/schema.h"

#include <algorithm>

#include "grammar/schema_reader.h"

namespace daybreak::grammar {
namespace {

// REQUIRES: the tree was parsed under a depth limit, which bounds the recursion.
std::size_t tree_bytes(const JsonNode& node) {
  std::size_t bytes = sizeof(JsonNode) + node.text.size();
  for (const std::string& key : node.keys) {
    bytes += sizeof(std::string) + key.size();
  }
  for (const JsonNode& item : node.items) {
    bytes += tree_bytes(item);
  }
  return bytes;
}

}  // namespace

Schema::Ref Schema::property(std::string_view name) const {
  const auto at = std::ranges::lower_bound(
      properties_by_name, name, {},
      [this](std::uint32_t i) -> std::string_view { return properties[i].first; });
  return at != properties_by_name.end() && properties[*at].first == name ? properties[*at].second
                                                                         : nullptr;
}

Result<std::shared_ptr<const SchemaDocument>> SchemaDocument::parse(std::string_view text,
                                                                    const SchemaLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Error{Errc::kTooLarge, "schema: expected at most " + std::to_string(limits.max_bytes) +
                                      " bytes, found " + std::to_string(text.size())};
  }
  const std::shared_ptr<SchemaDocument> document(new SchemaDocument);  // NOLINT: private
  document->text_ = text;
  auto tree = parse_json_tree(document->text_, {.max_depth = limits.max_depth});
  if (!tree) {
    return std::move(tree).error().in("schema");
  }
  document->tree_ = *std::move(tree);
  SchemaReader reader(*document, limits);
  DAYBREAK_CHECK_OK(reader.read_document());
  return std::shared_ptr<const SchemaDocument>(document);
}

const Schema* SchemaDocument::dynamic_target(std::size_t resource, std::string_view anchor) const {
  if (resource >= dynamic_anchors_.size()) {
    return nullptr;
  }
  const auto& anchors = dynamic_anchors_[resource];
  const auto at = std::ranges::lower_bound(
      anchors, anchor, {}, [](const auto& entry) -> std::string_view { return entry.first; });
  return at != anchors.end() && at->first == anchor ? at->second : nullptr;
}

DynamicAnchors SchemaDocument::dynamic_anchors() const {
  DynamicAnchors anchors;
  for (const auto& resource : dynamic_anchors_) {
    for (const auto& [name, schema] : resource) {
      anchors[name].push_back(schema);
    }
  }
  return anchors;
}

std::size_t SchemaDocument::bytes() const {
  std::size_t bytes = sizeof(SchemaDocument) + text_.size() + tree_bytes(tree_);
  for (const Schema& node : nodes_) {
    bytes += sizeof(Schema) + node.path.size();
    bytes +=
        (node.prefix_items.size() + node.all_of.size() + node.any_of.size() + node.one_of.size()) *
        sizeof(Schema::Ref);
    for (const auto* map : {&node.properties, &node.pattern_properties, &node.dependent_schemas}) {
      for (const auto& [name, schema] : *map) {
        bytes += sizeof(std::string) + name.size() + sizeof(Schema::Ref);
      }
    }
    for (const std::string& name : node.required) {
      bytes += sizeof(std::string) + name.size();
    }
  }
  return bytes;
}

}  // namespace daybreak::grammar
