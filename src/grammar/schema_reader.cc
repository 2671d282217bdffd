// SPDX-License-Identifier: Apache-2.0
#include "grammar/schema_reader.h"

#include <algorithm>
#include <utility>

#include "base/json_document.h"
#include "grammar/uri.h"

namespace daybreak::grammar {
namespace {

using Kind = JsonNode::Kind;

// Finds an object that has a key twice, whose meaning nobody can know, and leaves its path in
// `path`.
const JsonNode* find_duplicate(const JsonNode& node, std::string& path) {
  if (node.duplicate != JsonNode::kNoDuplicate) {
    path = child_path(path, node.keys[node.duplicate]);
    return &node;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::size_t length = path.size();
    if (!node.items[i].items.empty()) {
      path = child_path(path, node.is(Kind::kObject) ? node.keys[i] : std::to_string(i));
      if (const JsonNode* at = find_duplicate(node.items[i], path)) {
        return at;
      }
      path.resize(length);
    }
  }
  return nullptr;
}

}  // namespace

std::string shown(const JsonNode& node) {
  const bool has_members = node.is(Kind::kArray) || node.is(Kind::kObject);
  return has_members ? "an " + std::string(to_string(node.kind)) : printable(node.raw, 60);
}

std::string child_path(std::string_view parent, std::string_view key) {
  std::string path = std::string(parent) + "/";
  for (const char c : key) {
    if (c == '~' || c == '/') {
      path += c == '~' ? "~0" : "~1";
    } else {
      path += c;
    }
  }
  return path;
}

Error schema_error(std::string_view path, std::string_view expected, std::string_view found) {
  return {Errc::kInvalidArgument, printable(path, 200) + ": expected " + std::string(expected) +
                                      ", found " + std::string(found)};
}

Status SchemaReader::read_document() {
  std::string path = "#";
  if (find_duplicate(document_.tree_, path) != nullptr) {
    return schema_error(path, "every key once", "it twice");
  }
  resources_.push_back({});
  resource_by_uri_.emplace("", 0);
  DAYBREAK_TRY(Schema * root, read(document_.tree_, "#", 0));
  document_.root_ = root;
  DAYBREAK_CHECK_OK(resolve_refs());
  for (auto& anchors : document_.dynamic_anchors_) {
    std::ranges::sort(anchors);
  }
  document_.dynamic_anchors_.resize(resources_.size());
  return check_circles();
}

Result<Schema*> SchemaReader::read(const JsonNode& node, std::string path, std::size_t resource) {
  if (const auto known = nodes_.find(&node); known != nodes_.end()) {
    return known->second;
  }
  path_bytes_ += path.size();
  if (document_.nodes_.size() >= limits_.max_nodes || path_bytes_ > limits_.max_path_bytes) {
    return Error{Errc::kTooLarge, "schema: expected at most " + std::to_string(limits_.max_nodes) +
                                      " subschemas with " + std::to_string(limits_.max_path_bytes) +
                                      " bytes of paths, found more"};
  }
  Schema& schema = document_.nodes_.emplace_back();
  schema.path = std::move(path);
  schema.source = &node;
  schema.resource = resource;
  nodes_.emplace(&node, &schema);
  if (node.is(Kind::kBoolean)) {
    schema.always = node.boolean;
  } else {
    if (!node.is(Kind::kObject)) {
      return schema_error(schema.path, "a schema: an object, true or false", shown(node));
    }
    DAYBREAK_CHECK_OK(enter_resource(schema, node));
    DAYBREAK_CHECK_OK(read_keywords(schema, node));
  }
  if (resources_[schema.resource].root == nullptr) {
    resources_[schema.resource].root = &schema;  // a document that is `true` or has no $id
  }
  return &schema;
}

Status SchemaReader::enter_resource(Schema& schema, const JsonNode& node) {
  const JsonNode* id = node.find("$id");
  if (id != nullptr) {
    const std::string path = child_path(schema.path, "$id");
    if (!id->is(Kind::kString) || !split_uri(id->text).fragment.value_or("").empty()) {
      return schema_error(path, "a URI without fragment ($anchor names a place)", shown(*id));
    }
    const std::string uri = resolve_uri(resources_[schema.resource].uri, id->text);
    if (resources_[schema.resource].root == nullptr) {  // it is that resource's root
      resources_[schema.resource].uri = uri;
      resource_by_uri_.emplace(uri, schema.resource);
    } else {
      if (!resource_by_uri_.emplace(uri, resources_.size()).second) {
        return schema_error(path, "a URI that no other schema has", shown(*id));
      }
      schema.resource = resources_.size();
      resources_.push_back({.uri = uri, .root = &schema, .anchors = {}});
    }
  }
  if (resources_[schema.resource].root == nullptr) {
    resources_[schema.resource].root = &schema;
  }
  return ok();
}

}  // namespace daybreak::grammar
