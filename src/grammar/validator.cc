// SPDX-License-Identifier: Apache-2.0
#include "grammar/validator.h"

#include <utility>

#include "base/json_document.h"
#include "grammar/regex.h"
#include "grammar/schema_reader.h"
#include "grammar/validation.h"

namespace daybreak::grammar {

Result<PatternCache> PatternCache::compile(const SchemaDocument& document, Budget& budget) {
  PatternCache cache;
  const auto dfa = [&](const std::string& pattern, const std::string& path) -> Result<const Dfa*> {
    std::unique_ptr<const Dfa>& known = cache.dfas_[pattern];
    if (known == nullptr) {
      auto compiled = compile_regex(pattern, RegexMatch::kSearch, budget);
      if (!compiled) {
        return std::move(compiled).error().in(printable(path, 200));
      }
      known = std::make_unique<const Dfa>(*std::move(compiled));
    }
    return known.get();
  };
  for (const Schema& schema : document.nodes()) {
    if (!schema.pattern && schema.pattern_properties.empty()) {
      continue;
    }
    Entry& entry = cache.entries_[&schema];
    if (schema.pattern) {
      DAYBREAK_TRY(entry.pattern, dfa(*schema.pattern, schema.path + "/pattern"));
    }
    for (const auto& [pattern, child] : schema.pattern_properties) {
      DAYBREAK_TRY(const Dfa* names,
                   dfa(pattern, child_path(schema.path + "/patternProperties", pattern)));
      entry.property_names.push_back(names);
    }
  }
  return cache;
}

const PatternCache::Entry& PatternCache::of(const Schema& schema) const {
  static const Entry none;
  const auto known = entries_.find(&schema);
  return known == entries_.end() ? none : known->second;
}

Result<Validator> Validator::create(std::shared_ptr<const SchemaDocument> document,
                                    std::uint64_t pattern_steps) {
  Budget budget(pattern_steps);
  DAYBREAK_TRY(auto patterns, PatternCache::compile(*document, budget));
  return Validator(std::move(document), std::move(patterns));
}

Result<ValidationResult> Validator::validate(const JsonNode& instance,
                                             const ValidationOptions& options) const {
  return Validation(*document_, patterns_, options).run(instance);
}

}  // namespace daybreak::grammar
