// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arguments of one tool call as an Expression, see message_grammar.h.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/expression.h"
#include "grammar/message_rules.h"
#include "grammar/schema_compiler.h"

namespace daybreak::grammar {

// Expressions that open and close an element of K3's XTML.
class Elements {
 public:
  explicit Elements(const MessageMarkers& markers) : markers_(markers) {}
  // <|open|>HEADER<|sep|>, <|close|>NAME<|sep|>, <|end_of_msg|>
  [[nodiscard]] ExpressionPtr open(std::string header) const;
  [[nodiscard]] ExpressionPtr open(ExpressionPtr header) const;
  [[nodiscard]] ExpressionPtr close(std::string name) const;
  [[nodiscard]] ExpressionPtr end() const { return marker(markers_.end_of_msg); }
  // Whole elements.
  [[nodiscard]] ExpressionPtr element(std::string header, std::string name,
                                      ExpressionPtr body) const;

 private:
  MessageMarkers markers_;
};

// Returns an attribute value as K3 spells it: & and " escaped.
[[nodiscard]] std::string escape_attribute(std::string_view value);

// A tool's schema before and after the formulas are expanded.
class ToolArguments {
 public:
  // Asks for the formulas; errors about the schema begin with `name`. Errors: those of
  // SchemaCompiler, and kInvalidArgument when parameters describes no object.
  [[nodiscard]] static Result<ToolArguments> read(const ToolRule& tool, const std::string& name,
                                                  SchemaCompiler& schemas);

  // Returns the arguments of a call. Errors: kInvalidArgument when no arguments conform.
  [[nodiscard]] Result<ExpressionPtr> expression(const CompiledSchemas& schemas,
                                                 const Elements& elements) const;

 private:
  struct Argument {
    std::string key;
    FormulaId formula = 0;
    bool required = false;
  };
  [[nodiscard]] static Result<std::optional<std::vector<Argument>>> arguments_of(
      const Schema& root, SchemaCompiler& schemas);
  [[nodiscard]] ExpressionPtr argument(const Argument& argument, const Formula& formula,
                                       const Elements& elements) const;

  bool strict_ = true;
  FormulaId whole_ = 0;
  // One element per property, where the schema speaks of each property on its own; else only the
  // json block can be exact.
  std::optional<std::vector<Argument>> arguments_;
};

}  // namespace daybreak::grammar
