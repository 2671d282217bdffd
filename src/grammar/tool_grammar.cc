// SPDX-License-Identifier: Apache-2.0
#include "grammar/tool_grammar.h"

#include <algorithm>
#include <array>
#include <utility>

#include "grammar/message_grammar.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint32_t kMaxFreeKeyChars = 128;
constexpr int kMaxHops = 16;  // from $ref to $ref; after more, only the json block
constexpr std::array<std::pair<TypeBits, std::string_view>, 6> kTypeNames{{
    {kStringType, "string"},
    {kNumberType, "number"},
    {kBooleanType, "boolean"},
    {kObjectType, "object"},
    {kArrayType, "array"},
    {kNullType, "null"},
}};

ExpressionPtr any_text() { return text(StringLanguage::all()); }

std::string argument_header(std::string_view key, std::string_view type) {
  return "argument key=\"" + escape_attribute(key) + "\" type=\"" + std::string(type) + '"';
}

// Whether nothing but properties, required, additionalProperties and $ref speaks of the members.
bool describes_each_property(const Schema& schema) {
  return schema.enumeration == nullptr && schema.constant == nullptr &&
         schema.pattern_properties.empty() && schema.property_names == nullptr &&
         schema.unevaluated_properties == nullptr && !schema.min_properties &&
         !schema.max_properties && schema.dependent_required.empty() &&
         schema.dependent_schemas.empty() && schema.all_of.empty() && !schema.has_any_of &&
         !schema.has_one_of && schema.negated == nullptr && schema.condition == nullptr &&
         schema.dynamic_ref == nullptr;
}

// Arguments of a tool that is not strict: any keys, any text.
ExpressionPtr free_arguments(const Elements& elements) {
  const CharSet key_chars = CharSet({{'"', '"'}, {'&', '&'}, {'<', '<'}, {'>', '>'}, {0, 0x1F}});
  std::vector<ExpressionPtr> types;
  for (const auto& [type, name] : kTypeNames) {
    types.push_back(bytes(std::string(name)));
  }
  const ExpressionPtr header = sequence(
      {bytes("argument key=\""), repeat(chars(key_chars.complement()), 1, kMaxFreeKeyChars),
       bytes("\" type=\""), choice(std::move(types)), bytes("\"")});
  return choice({repeat(sequence({elements.open(header), any_text(), elements.close("argument")}),
                        0, Expression::kNoMax),
                 elements.element("json type=\"object\"", "json", any_text())});
}

}  // namespace

std::string escape_attribute(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

ExpressionPtr Elements::open(std::string header) const { return open(bytes(std::move(header))); }

ExpressionPtr Elements::open(ExpressionPtr header) const {
  return sequence({marker(markers_.open), std::move(header), marker(markers_.sep)});
}

ExpressionPtr Elements::close(std::string name) const {
  return sequence({marker(markers_.close), bytes(std::move(name)), marker(markers_.sep)});
}

ExpressionPtr Elements::element(std::string header, std::string name, ExpressionPtr body) const {
  return sequence({open(std::move(header)), std::move(body), close(std::move(name))});
}

Result<ToolArguments> ToolArguments::read(const ToolRule& tool, const std::string& name,
                                          SchemaCompiler& schemas) {
  ToolArguments arguments;
  arguments.strict_ = tool.strict;
  if (!tool.strict) {
    return arguments;
  }
  DAYBREAK_TRY(
      const Schema* root,
      schemas.read(tool.parameters.empty() ? R"({"type":"object"})" : tool.parameters, name));
  DAYBREAK_TRY(arguments.whole_, schemas.formula(*root));
  DAYBREAK_TRY(arguments.arguments_, arguments_of(*root, schemas));
  return arguments;
}

Result<std::optional<std::vector<ToolArguments::Argument>>> ToolArguments::arguments_of(
    const Schema& root, SchemaCompiler& schemas) {
  const Schema* schema = &root;
  // Generators that put everything into $defs leave a $ref at the root.
  for (int hops = 0; schema->ref != nullptr && hops < kMaxHops; ++hops) {
    if (!describes_each_property(*schema) || !schema->properties.empty() ||
        !schema->required.empty() || schema->additional_properties != nullptr) {
      break;
    }
    schema = schema->ref;
  }
  std::vector<Argument> arguments;
  if (schema->always == true) {
    return std::optional(std::move(arguments));
  }
  if (schema->always || schema->ref != nullptr || !describes_each_property(*schema) ||
      (schema->types && (*schema->types & kObjectType) == 0)) {
    return std::optional<std::vector<Argument>>();
  }
  for (const auto& [key, value] : schema->properties) {
    DAYBREAK_TRY(const FormulaId formula, schemas.formula(*value));
    const bool required = std::ranges::find(schema->required, key) != schema->required.end();
    arguments.push_back({key, formula, required});
  }
  for (const std::string& key : schema->required) {
    if (std::ranges::find(arguments, key, &Argument::key) == arguments.end()) {
      Schema anything;
      anything.always = true;
      const Schema& value =
          schema->additional_properties == nullptr ? anything : *schema->additional_properties;
      DAYBREAK_TRY(const FormulaId formula, schemas.formula(value));
      arguments.push_back({key, formula, true});
    }
  }
  return std::optional(std::move(arguments));
}

Result<ExpressionPtr> ToolArguments::expression(const CompiledSchemas& schemas,
                                                const Elements& elements) const {
  if (!strict_) {
    return free_arguments(elements);
  }
  const Formula& whole = schemas.formulas[whole_];
  if ((whole.types() & kObjectType) == 0 || whole.objects.empty()) {
    return Error{Errc::kInvalidArgument,
                 "expected a schema that some object satisfies, found one that none does"};
  }
  std::vector<ExpressionPtr> ways;
  if (arguments_) {
    std::vector<ExpressionPtr> all;
    for (const Argument& own : *arguments_) {
      const Formula& formula = schemas.formulas[own.formula];
      if (formula.satisfiable) {
        const ExpressionPtr one = argument(own, formula, elements);
        all.push_back(own.required ? one : optional(one));
      }
    }
    ways.push_back(sequence(std::move(all)));
  }
  ways.push_back(
      elements.element("json type=\"object\"", "json", json(whole_, kObjectType | kSpacedJson)));
  return choice(std::move(ways));
}

ExpressionPtr ToolArguments::argument(const Argument& own, const Formula& formula,
                                      const Elements& elements) const {
  std::vector<ExpressionPtr> ways;
  for (const auto& [type, name] : kTypeNames) {
    if ((formula.types() & type) == 0) {
      continue;
    }
    std::vector<ExpressionPtr> values;
    if (type == kStringType) {
      for (const auto& language : formula.strings) {
        values.push_back(text(language));
      }
    } else {
      values.push_back(json(own.formula, static_cast<std::uint8_t>(type | kSpacedJson)));
    }
    ways.push_back(
        elements.element(argument_header(own.key, name), "argument", choice(std::move(values))));
  }
  return choice(std::move(ways));
}

}  // namespace daybreak::grammar
