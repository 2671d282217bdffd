// SPDX-License-Identifier: Apache-2.0
// Where $ref and $dynamicRef lead (JSON Schema Core 2020-12, sections 8.2 and 9.2).

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/json_document.h"
#include "grammar/meta_schemas.h"
#include "grammar/schema_reader.h"
#include "grammar/uri.h"

namespace daybreak::grammar {
namespace {

// Returns a JSON pointer segment with ~0 and ~1 replaced, or nothing for another use of "~".
std::optional<std::string> unescape_segment(std::string_view segment) {
  std::string out;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '~') {
      out += segment[i];
    } else if (segment.substr(i, 2) == "~0" || segment.substr(i, 2) == "~1") {
      out += segment[++i] == '0' ? '~' : '/';
    } else {
      return std::nullopt;
    }
  }
  return out;
}

const JsonNode* step_into(const JsonNode& node, std::string_view segment, KeyIndex& keys) {
  if (node.is(JsonNode::Kind::kObject)) {
    const auto member = keys.find(node, segment);
    return member ? &node.items[*member] : nullptr;
  }
  std::size_t index = 0;
  const auto read = std::from_chars(segment.data(), segment.data() + segment.size(), index);
  const bool is_index = read.ec == std::errc() && read.ptr == segment.data() + segment.size() &&
                        (segment == "0" || !segment.starts_with('0'));
  return node.is(JsonNode::Kind::kArray) && is_index && index < node.items.size()
             ? &node.items[index]
             : nullptr;
}

// Calls `visit` with every subschema that applies to the same instance as `schema`.
template <class Visit>
void for_each_in_place(const Schema& schema, const DynamicAnchors& anchors, const Visit& visit) {
  for (const auto* list : {&schema.all_of, &schema.any_of, &schema.one_of}) {
    std::ranges::for_each(*list, visit);
  }
  for (const auto& [name, child] : schema.dependent_schemas) {
    visit(child);
  }
  for (const Schema* child : {schema.negated, schema.condition, schema.consequence,
                              schema.alternative, schema.ref, schema.dynamic_ref}) {
    if (child != nullptr) {
      visit(child);
    }
  }
  if (const auto targets = anchors.find(schema.dynamic_anchor); targets != anchors.end()) {
    std::ranges::for_each(targets->second, visit);
  }
}

}  // namespace

Status SchemaReader::resolve_refs() {
  // Resolving may read more schemas, whose references are appended.
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const PendingRef pending = pending_[i];
    DAYBREAK_TRY(const Schema* target, resolve(pending));
    if (!pending.dynamic) {
      pending.from->ref = target;
      continue;
    }
    pending.from->dynamic_ref = target;
    const auto name = percent_decode(split_uri(pending.reference).fragment.value_or(""));
    const JsonNode& source = *target->source;
    const auto anchor =
        source.is(JsonNode::Kind::kObject) ? keys_.find(source, "$dynamicAnchor") : std::nullopt;
    if (anchor && name && source.items[*anchor].text == *name) {
      pending.from->dynamic_anchor = *name;
    }
  }
  return ok();
}

Result<const Schema*> SchemaReader::resolve(const PendingRef& pending) {
  const std::string uri = resolve_uri(resources_[pending.from->resource].uri, pending.reference);
  const auto fragment = percent_decode(split_uri(pending.reference).fragment.value_or(""));
  DAYBREAK_TRY(const auto resource, find_resource(uri));
  if (!resource) {
    return schema_error(
        pending.path, "a reference into this schema",
        "\"" + printable(pending.reference, 120) + "\", a document that is not here");
  }
  if (fragment && fragment->empty()) {
    return resources_[*resource].root;
  }
  if (fragment && fragment->starts_with('/')) {
    return follow_pointer(pending, *fragment, *resource);
  }
  const auto& anchors = resources_[*resource].anchors;
  const auto anchor = fragment ? anchors.find(*fragment) : anchors.end();
  if (anchor == anchors.end()) {
    return schema_error(pending.path, "a reference to a schema that exists",
                        "\"" + printable(pending.reference, 120) + "\"");
  }
  return anchor->second;
}

Result<std::optional<std::size_t>> SchemaReader::find_resource(const std::string& uri) {
  if (const auto known = resource_by_uri_.find(uri); known != resource_by_uri_.end()) {
    return std::optional(known->second);
  }
  const JsonNode* meta = meta_schema(uri);
  if (meta == nullptr) {
    return std::optional<std::size_t>();
  }
  const std::size_t resource = resources_.size();
  resources_.push_back({});
  resources_.back().uri = uri;
  resource_by_uri_.emplace(uri, resource);
  DAYBREAK_TRY(resources_[resource].root, read(*meta, uri + "#", resource));
  return std::optional(resource);
}

Result<const Schema*> SchemaReader::follow_pointer(const PendingRef& pending,
                                                   std::string_view pointer, std::size_t resource) {
  const Schema* around = resources_[resource].root;
  const JsonNode* node = around->source;
  std::string path = around->path;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    const auto segment = unescape_segment(pointer.substr(0, end));
    node = segment ? step_into(*node, *segment, keys_) : nullptr;
    if (node == nullptr) {
      return schema_error(pending.path, "a reference to a schema that exists",
                          "\"" + printable(pending.reference, 120) + "\"");
    }
    path = child_path(path, *segment);
    pointer.remove_prefix(end);
    // The base URI is that of the closest schema around the target.
    if (const auto known = nodes_.find(node); known != nodes_.end()) {
      around = known->second;
    }
  }
  DAYBREAK_TRY(const Schema* target, read(*node, std::move(path), around->resource));
  return target;
}

// Depth-first over the edges that stay at one instance, with an explicit stack: the depth is the
// number of schemas.
Status SchemaReader::check_circles() const {
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  struct Frame {
    const Schema* schema;
    std::vector<const Schema*> children;
  };
  const DynamicAnchors anchors = document_.dynamic_anchors();
  std::unordered_map<const Schema*, Mark> marks;
  std::vector<Frame> stack;
  const auto open = [&](const Schema* schema) {
    marks[schema] = Mark::kOpen;
    Frame& frame = stack.emplace_back(Frame{.schema = schema, .children = {}});
    for_each_in_place(*schema, anchors,
                      [&](const Schema* child) { frame.children.push_back(child); });
  };
  for (const Schema& start : document_.nodes_) {
    if (marks[&start] == Mark::kNew) {
      open(&start);
    }
    while (!stack.empty()) {
      if (stack.back().children.empty()) {
        marks[stack.back().schema] = Mark::kDone;
        stack.pop_back();
        continue;
      }
      const Schema* child = stack.back().children.back();
      stack.back().children.pop_back();
      if (marks[child] == Mark::kOpen) {
        return schema_error(stack.back().schema->path, "references that lead into the instance",
                            "a circle back to " + printable(child->path, 100));
      }
      if (marks[child] == Mark::kNew) {
        open(child);
      }
    }
  }
  return ok();
}

}  // namespace daybreak::grammar
