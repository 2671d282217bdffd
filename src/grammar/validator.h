// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validator: says whether a JSON value conforms to a schema of 2020-12, and where not. Independent
// of the grammar automaton, which is tested against it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/dfa.h"
#include "grammar/formats.h"
#include "grammar/schema.h"

namespace daybreak::grammar {

struct ValidationOptions {
  Formats formats = Formats::kAnnotate;
  std::size_t max_errors = 20;           // further ones are not reported
  std::uint64_t max_steps = 20'000'000;  // about one per keyword and value
  std::size_t max_depth = 1'000;         // of schemas within schemas, references followed
};

struct ValidationError {
  std::string instance_path;  // JSON pointer of the value, "" for the whole
  std::string schema_path;    // JSON pointer of the keyword, "#/properties/a/type"
  std::string keyword;        // "type"; "" where the schema is false or a key was given twice
  std::string message;        // "expected ..., found ..."
};

struct ValidationResult {
  std::vector<ValidationError> errors;  // of anyOf and the like one for the whole, not per branch
  [[nodiscard]] bool valid() const { return errors.empty(); }
};

// The patterns of a document, compiled once. Immutable.
class PatternCache {
 public:
  struct Entry {
    const Dfa* pattern = nullptr;            // null: no `pattern`
    std::vector<const Dfa*> property_names;  // [patternProperties]
  };
  // Errors: those of compile_regex, with the path of the pattern in front.
  [[nodiscard]] static Result<PatternCache> compile(const SchemaDocument& document, Budget& budget);

  // Returns the schema's patterns; empty if it has none.
  [[nodiscard]] const Entry& of(const Schema& schema) const;

 private:
  std::unordered_map<std::string, std::unique_ptr<const Dfa>> dfas_;  // by pattern
  std::unordered_map<const Schema*, Entry> entries_;
};

// Thread-safe.
class Validator {
 public:
  static constexpr std::uint64_t kPatternSteps = 20'000'000;

  // Compiles the document's patterns. Errors: as PatternCache::compile.
  [[nodiscard]] static Result<Validator> create(std::shared_ptr<const SchemaDocument> document,
                                                std::uint64_t pattern_steps = kPatternSteps);

  // REQUIRES: `instance` was parsed by parse_json_tree, whose nesting limit bounds recursion here.
  // An instance with a key given twice is not valid.
  // Errors: kTooLarge  more steps or deeper than the options allow, or a number beyond Decimal
  [[nodiscard]] Result<ValidationResult> validate(const JsonNode& instance,
                                                  const ValidationOptions& options = {}) const;

  [[nodiscard]] const SchemaDocument& document() const { return *document_; }

 private:
  Validator(std::shared_ptr<const SchemaDocument> document, PatternCache patterns)
      : document_(std::move(document)), patterns_(std::move(patterns)) {}
  std::shared_ptr<const SchemaDocument> document_;
  PatternCache patterns_;
};

// Returns a hash that equal values (see equal_values) share.
[[nodiscard]] std::uint64_t hash_value(const JsonNode& node);

}  // namespace daybreak::grammar
