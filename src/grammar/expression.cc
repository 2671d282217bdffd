// SPDX-License-Identifier: Apache-2.0
#include "grammar/expression.h"

#include <utility>

#include "base/utf8.h"

namespace daybreak::grammar {
namespace {

using Kind = Expression::Kind;

ExpressionPtr made(Expression expression) {
  return std::make_shared<const Expression>(std::move(expression));
}

Expression of_kind(Kind kind) {
  Expression expression;
  expression.kind = kind;
  return expression;
}

ExpressionPtr of_items(Kind kind, std::vector<ExpressionPtr> items) {
  Expression expression = of_kind(kind);
  expression.items = std::move(items);
  return made(std::move(expression));
}

bool is_empty_text(const Expression& expression) {
  return expression.kind == Kind::kBytes && expression.bytes.empty();
}

}  // namespace

ExpressionPtr bytes(std::string text) {
  Expression expression = of_kind(Kind::kBytes);
  expression.bytes = std::move(text);
  return made(std::move(expression));
}

ExpressionPtr characters(const std::vector<std::uint32_t>& code_points) {
  std::string text;
  for (const std::uint32_t code_point : code_points) {
    append_utf8(code_point, text);
  }
  return bytes(std::move(text));
}

ExpressionPtr chars(CharSet set) {
  Expression expression = of_kind(Kind::kChars);
  expression.chars = std::move(set);
  return made(std::move(expression));
}

ExpressionPtr marker(TokenId id) {
  Expression expression = of_kind(Kind::kMarker);
  expression.marker = id;
  return made(std::move(expression));
}

ExpressionPtr sequence(std::vector<ExpressionPtr> items) {
  std::vector<ExpressionPtr> flat;
  flat.reserve(items.size());
  for (ExpressionPtr& item : items) {
    if (item->kind == Kind::kSequence) {
      flat.insert(flat.end(), item->items.begin(), item->items.end());
    } else if (!is_empty_text(*item)) {
      flat.push_back(std::move(item));
    }
  }
  if (flat.empty()) {
    return bytes("");
  }
  if (flat.size() == 1) {
    return std::move(flat.front());
  }
  return of_items(Kind::kSequence, std::move(flat));
}

ExpressionPtr choice(std::vector<ExpressionPtr> items) {
  std::vector<ExpressionPtr> flat;
  flat.reserve(items.size());
  for (ExpressionPtr& item : items) {
    if (item->kind == Kind::kChoice) {
      flat.insert(flat.end(), item->items.begin(), item->items.end());
    } else {
      flat.push_back(std::move(item));
    }
  }
  if (flat.size() == 1) {
    return std::move(flat.front());
  }
  return of_items(Kind::kChoice, std::move(flat));
}

ExpressionPtr repeat(ExpressionPtr item, std::uint32_t min, std::uint32_t max) {
  if (max == 0 || is_empty_text(*item)) {
    return bytes("");
  }
  if (min == 1 && max == 1) {
    return item;
  }
  Expression expression = of_kind(Kind::kRepeat);
  expression.items.push_back(std::move(item));
  expression.min = min;
  expression.max = max;
  return made(std::move(expression));
}

ExpressionPtr optional(ExpressionPtr item) { return repeat(std::move(item), 0, 1); }

ExpressionPtr rule(std::uint32_t number) {
  Expression expression = of_kind(Kind::kRule);
  expression.rule = number;
  return made(std::move(expression));
}

ExpressionPtr text(std::shared_ptr<const StringLanguage> language) {
  Expression expression = of_kind(Kind::kText);
  expression.language = std::move(language);
  return made(std::move(expression));
}

ExpressionPtr json(FormulaId formula, std::uint8_t types) {
  Expression expression = of_kind(Kind::kJson);
  expression.formula = formula;
  expression.types = types;
  return made(std::move(expression));
}

}  // namespace daybreak::grammar
