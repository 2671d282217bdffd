// SPDX-License-Identifier: Apache-2.0
#pragma once

// MfjsChecker: one check of one schema. Rules of one node are in mfjs.cc and mfjs_keywords.cc,
// rules of references in mfjs_references.cc.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/mfjs.h"

namespace daybreak::grammar {

class MfjsChecker {
 public:
  MfjsChecker(const JsonNode& root, MfjsLevel level, const MfjsLimits& limits)
      : root_(root), level_(level), limits_(limits) {}

  [[nodiscard]] Status check();

 private:
  using Path = std::string;  // "" at the root, else parts joined by dots
  // When a schema is taken to have a finite instance. The dialect wants more than is needed: an
  // array ends only where its items do; but it is content with one required member that ends.
  // Both readings must hold.
  enum class Ending : bool { kDialect, kTrue };

  // Whether the schema at the top level of the document is meant.
  [[nodiscard]] bool is_root(const JsonNode& schema) const { return &schema == &root_; }
  [[nodiscard]] bool at_least(MfjsLevel level) const { return level_ >= level; }
  static Error fail(const Path& path, std::string_view rule);
  static Path join(const Path& path, std::string_view part);

  Status check_duplicates(const JsonNode& node, const Path& path) const;
  Status check_schema(const JsonNode& schema, const Path& path, std::size_t depth);
  Status check_children(const JsonNode& schema, const Path& path, std::size_t depth);
  Status check_definitions(const JsonNode& schema, const Path& path, std::size_t depth);
  Status check_type_place(const JsonNode& schema, const Path& path) const;
  Status check_types(const JsonNode& schema, const Path& path) const;
  Status check_several_types(const JsonNode& schema, const Path& path, std::size_t types) const;
  Status check_allowed(const JsonNode& schema, const Path& path,
                       const std::vector<std::string_view>& types) const;

  // mfjs_keywords.cc
  Status check_keyword(const JsonNode& schema, std::string_view keyword, const JsonNode& value,
                       const Path& path);
  Status check_properties(const JsonNode& value, const Path& path) const;
  Status check_required(const JsonNode& schema, const JsonNode& value, const Path& path) const;
  Status check_required_place(const JsonNode& schema, const JsonNode& value,
                              const Path& path) const;
  Status check_enum(const JsonNode& schema, const JsonNode& value, const Path& path) const;
  Status check_enum_types(const JsonNode& schema, const JsonNode& value, const Path& path) const;
  Status check_any_of(const JsonNode& schema, const JsonNode& value, const Path& path) const;
  Status check_defs(const JsonNode& value, const Path& path) const;
  Status check_no_slash(const JsonNode& node, const Path& path) const;
  Status check_siblings(const JsonNode& schema, std::string_view keyword, const Path& path) const;
  Status check_counts(const JsonNode& schema, std::string_view least, std::string_view most,
                      const Path& path) const;
  Status check_range(const JsonNode& schema, bool integer, const Path& path) const;
  Status check_order(const JsonNode& schema, std::string_view least, std::string_view most,
                     const Path& path) const;

  // mfjs_references.cc
  Status check_ref(const JsonNode& schema, const JsonNode& value, const Path& path);
  [[nodiscard]] const JsonNode* resolve(std::string_view ref) const;
  Status check_references();
  Status check_expansions(const JsonNode& schema, const Path& path);
  Status check_expansion(const JsonNode& schema, const Path& path);
  Result<std::size_t> reference_depth(const JsonNode& schema,
                                      std::unordered_set<std::string_view>& open);
  Status check_ends(Ending ending);
  Result<bool> ends(const JsonNode& schema, Ending ending);
  Result<bool> object_ends(const JsonNode& schema, Ending ending);
  Result<std::optional<Path>> endless_reference(const JsonNode& schema, const Path& path,
                                                Ending ending);
  Status spend();

  const JsonNode& root_;
  MfjsLevel level_;
  const MfjsLimits& limits_;
  std::size_t properties_ = 0;
  std::size_t steps_ = 0;
  bool too_deep_ = false;
  std::vector<std::string_view> references_;                     // targets of $ref, once each
  std::unordered_map<std::string_view, std::size_t> ref_depth_;  // by target
  std::unordered_set<std::string_view> ending_;                  // targets known to end
};

// The type names of a schema: one, several, or none if `type` is absent or no name.
[[nodiscard]] std::vector<std::string_view> mfjs_types(const JsonNode& schema);

// Keywords that may stand beside anything: description and title.
[[nodiscard]] bool is_mfjs_remark(std::string_view keyword);
// Keywords of the top level only: $defs and $id.
[[nodiscard]] bool is_mfjs_root_keyword(std::string_view keyword);

}  // namespace daybreak::grammar
