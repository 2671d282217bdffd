// SPDX-License-Identifier: Apache-2.0
#pragma once

// SchemaCompiler: schema texts to formulas, all schemas of one grammar together.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/formula_table.h"
#include "grammar/literals.h"
#include "grammar/normaliser.h"
#include "grammar/pattern_table.h"
#include "grammar/schema.h"
#include "grammar/shapes.h"

namespace daybreak::grammar {

// Used by one thread. Formulas may be asked for until finish().
class SchemaCompiler {
 public:
  SchemaCompiler(Budget& budget, Formats formats);

  // Reads a schema and keeps it; errors begin with `name` and ": ", unless it is empty.
  // Errors: see SchemaDocument::parse; kUnsupported for $dynamicRef whose target depends on the
  // instance.
  [[nodiscard]] Result<const Schema*> read(std::string_view text, std::string_view name);
  [[nodiscard]] Result<FormulaId> formula(const Schema& schema) { return table_.of(schema); }

  // Expands all formulas asked for. Errors: see FormulaTable::close(), with the schema's name and
  // the place in it. Call once.
  [[nodiscard]] Result<CompiledSchemas> finish();
  // "No value conforms", naming a place that nothing satisfies if there is one. After finish().
  [[nodiscard]] Error contradiction(std::string_view what) const;

 private:
  struct Document {
    std::shared_ptr<const SchemaDocument> schema;
    std::string name;
  };
  [[nodiscard]] static Error named(Error error, const std::string& name);
  std::vector<Document> documents_;
  LiteralTable literals_;
  PatternTable patterns_;
  Normaliser normaliser_;
  FormulaTable table_;
};

}  // namespace daybreak::grammar
