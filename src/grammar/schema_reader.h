// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a SchemaDocument is made: every subschema is read where the keywords say there is one, with
// the base URI that is valid there (schema_reader.cc, schema_keywords.cc); then references are
// resolved, which may discover more subschemas in places that no keyword marks (schema_refs.cc).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/schema.h"

namespace daybreak::grammar {

// Used for one document, by one thread.
class SchemaReader {
 public:
  SchemaReader(SchemaDocument& document, const SchemaLimits& limits)
      : document_(document), limits_(limits) {}

  // Reads the document's tree. Errors: as SchemaDocument::parse.
  [[nodiscard]] Status read_document();

 private:
  // One keyword's value and where it stands.
  struct Keyword {
    std::string_view name;
    const JsonNode& value;
    std::string path;  // of the value
    std::size_t resource;
  };
  using Special = Status (SchemaReader::*)(Schema&, const Keyword&);
  using SchemaMap = std::vector<std::pair<std::string, Schema::Ref>>;
  // What a keyword fills in; the type says what its value must be.
  using Target = std::variant<std::optional<std::uint64_t> Schema::*,  // a count
                              std::optional<Decimal> Schema::*,
                              std::optional<std::string> Schema::*, Schema::Ref Schema::*,
                              std::vector<Schema::Ref> Schema::*, SchemaMap Schema::*, Special>;

  // A part of the document with its own URI ($id), or a meta-schema.
  struct Resource {
    std::string uri;
    const Schema* root = nullptr;
    std::unordered_map<std::string, const Schema*> anchors;
  };
  struct PendingRef {
    Schema* from;
    std::string reference;  // as written
    std::string path;       // of the keyword
    bool dynamic;           // $dynamicRef
  };

  // Reads one subschema, or returns the node that was made for it before. `resource` is the one
  // around it.
  Result<Schema*> read(const JsonNode& node, std::string path, std::size_t resource);
  Status enter_resource(Schema& schema, const JsonNode& node);

  // schema_keywords.cc: the keywords of one schema.
  static const std::unordered_map<std::string_view, Target>& keywords();
  Status read_keywords(Schema& schema, const JsonNode& node);
  Status read_keyword(Schema& schema, const Keyword& keyword, const Target& target);
  Result<std::vector<Schema::Ref>> read_schemas(const Keyword& keyword);
  Result<SchemaMap> read_schema_map(const Keyword& keyword);
  Status add_anchor(const Keyword& keyword, const Schema& schema);
  Status read_any_of(Schema& schema, const Keyword& keyword);
  Status read_one_of(Schema& schema, const Keyword& keyword);
  Status read_properties(Schema& schema, const Keyword& keyword);
  Status read_items(Schema& schema, const Keyword& keyword);
  Status read_types(Schema& schema, const Keyword& keyword);
  Status read_enum(Schema& schema, const Keyword& keyword);
  Status read_const(Schema& schema, const Keyword& keyword);
  Status read_unique(Schema& schema, const Keyword& keyword);
  Status read_multiple_of(Schema& schema, const Keyword& keyword);
  Status read_required(Schema& schema, const Keyword& keyword);
  Status read_dependent_required(Schema& schema, const Keyword& keyword);
  Status read_defs(Schema& schema, const Keyword& keyword);
  Status read_content_schema(Schema& schema, const Keyword& keyword);
  Status read_dialect(Schema& schema, const Keyword& keyword);
  Status read_anchor(Schema& schema, const Keyword& keyword);
  Status read_dynamic_anchor(Schema& schema, const Keyword& keyword);
  Status read_ref(Schema& schema, const Keyword& keyword);
  Status read_older(Schema& schema, const Keyword& keyword);

  // schema_refs.cc
  Status resolve_refs();
  Result<const Schema*> resolve(const PendingRef& pending);
  // Returns the resource with this URI, reading a meta-schema when one is meant, or nothing.
  Result<std::optional<std::size_t>> find_resource(const std::string& uri);
  Result<const Schema*> follow_pointer(const PendingRef& pending, std::string_view pointer,
                                       std::size_t resource);
  Status check_circles() const;

  SchemaDocument& document_;
  const SchemaLimits& limits_;
  std::vector<Resource> resources_;
  std::unordered_map<std::string, std::size_t> resource_by_uri_;
  std::unordered_map<const JsonNode*, Schema*> nodes_;
  std::vector<PendingRef> pending_;
  std::size_t path_bytes_ = 0;
  bool older_draft_ = false;  // $schema names a draft before 2020-12
};

// Returns `parent` with one more JSON pointer segment.
[[nodiscard]] std::string child_path(std::string_view parent, std::string_view key);

// Returns a value for a message: its type, or its spelling when it is short.
[[nodiscard]] std::string shown(const JsonNode& node);

// Returns kInvalidArgument "PATH: expected WHAT, found FOUND", cut to a readable length.
[[nodiscard]] Error schema_error(std::string_view path, std::string_view expected,
                                 std::string_view found);

}  // namespace daybreak::grammar
