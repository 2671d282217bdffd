// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validation: one run of a Validator over one instance.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/schema.h"
#include "grammar/validator.h"

namespace daybreak::grammar {

class Validation {
 public:
  Validation(const SchemaDocument& document, const PatternCache& patterns,
             const ValidationOptions& options)
      : document_(document), patterns_(patterns), options_(options), left_(options.max_steps) {}

  [[nodiscard]] Result<ValidationResult> run(const JsonNode& instance);

 private:
  // Which children (items, or members) of an instance some keyword has looked at; what the
  // unevaluated keywords ask for. Empty: none.
  using Seen = std::vector<bool>;
  // One schema applied to one value.
  struct Visit {
    const Schema& schema;
    const JsonNode& instance;
    Seen* seen;  // null: nobody will ask
  };

  // Whether the instance conforms. Reports errors unless quiet_. On success what was looked at is
  // added to `seen`.
  bool apply(const Schema& schema, const JsonNode& instance, Seen* seen);
  bool apply_keywords(const Visit& visit);
  // The same for child `index`.
  bool apply_to_child(const Schema& schema, const JsonNode& parent, std::size_t index);
  // The same without reports: a branch whose failure is no error.
  bool test(const Schema& schema, const JsonNode& instance, Seen* seen);
  bool test_child(const Schema& schema, const JsonNode& parent, std::size_t index);

  bool check_general(const Visit& visit);      // type, enum, const
  bool check_number(const Visit& visit);       //
  bool check_string(const Visit& visit);       //
  bool check_array(const Visit& visit);        // validation_array.cc
  bool check_unique(const Visit& visit);       //
  bool check_contains(const Visit& visit);     //
  bool check_object(const Visit& visit);       // validation_object.cc
  bool check_members(const Visit& visit);      //
  bool check_dependents(const Visit& visit);   //
  bool check_references(const Visit& visit);   // $ref, $dynamicRef
  bool check_combined(const Visit& visit);     // allOf, anyOf, oneOf, not
  bool check_conditional(const Visit& visit);  // if, then, else
  bool check_unevaluated(const Visit& visit);

  // Returns the member's index in the instance.
  std::optional<std::size_t> find_member(const JsonNode& object, std::string_view name);
  bool has_duplicate_key(const JsonNode& node);

  // Both return false, so that they can end a check.
  bool report(const Visit& visit, std::string_view keyword, std::string_view expected,
              std::string_view found);
  bool stop(Error error);
  // Takes steps; false when there are none left.
  bool spend(std::uint64_t steps);
  // Whether reporting more errors of one schema is of use.
  [[nodiscard]] bool enough() const { return stopped_ || quiet_ > 0 || full_; }
  [[nodiscard]] std::string instance_path() const;

  const SchemaDocument& document_;
  const PatternCache& patterns_;
  const ValidationOptions& options_;
  std::uint64_t left_;
  std::size_t depth_ = 0;
  std::size_t quiet_ = 0;           // > 0: inside a branch
  bool full_ = false;               // max_errors reached
  std::optional<Error> stopped_;    // set: the run has failed
  std::vector<std::size_t> scope_;  // the resources entered: the dynamic scope
  std::vector<std::pair<const JsonNode*, std::size_t>> at_;  // parents and child indices
  std::unordered_map<const JsonNode*, std::vector<std::uint32_t>> key_orders_;
  ValidationResult result_;
};

// Marks one child. `children` is their number.
inline void mark_seen(std::vector<bool>* seen, std::size_t index, std::size_t children) {
  if (seen != nullptr) {
    seen->resize(children);
    (*seen)[index] = true;
  }
}

}  // namespace daybreak::grammar
