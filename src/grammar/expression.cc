// SPDX-License-Identifier: Apache-2.0
#include "grammar/expression.h"

#include <utility>

namespace daybreak::grammar {
namespace {

using Kind = Expression::Kind;

ExpressionPtr make(Expression expression) {
  return std::make_shared<const Expression>(std::move(expression));
}

bool is_empty_text(const Expression& expression) {
  return expression.kind == Kind::kBytes && expression.bytes.empty();
}

}  // namespace

ExpressionPtr bytes(std::string text) {
  return make({.kind = Kind::kBytes, .bytes = std::move(text)});
}

ExpressionPtr chars(CharSet set) { return make({.kind = Kind::kChars, .chars = std::move(set)}); }

ExpressionPtr marker(TokenId id) { return make({.kind = Kind::kMarker, .marker = id}); }

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
  return make({.kind = Kind::kSequence, .items = std::move(flat)});
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
  return make({.kind = Kind::kChoice, .items = std::move(flat)});
}

ExpressionPtr repeat(ExpressionPtr item, std::uint32_t min, std::uint32_t max) {
  if (max == 0 || is_empty_text(*item)) {
    return bytes("");
  }
  if (min == 1 && max == 1) {
    return item;
  }
  return make({.kind = Kind::kRepeat, .items = {std::move(item)}, .min = min, .max = max});
}

ExpressionPtr optional(ExpressionPtr item) { return repeat(std::move(item), 0, 1); }

ExpressionPtr rule(std::uint32_t number) { return make({.kind = Kind::kRule, .rule = number}); }

ExpressionPtr text(std::shared_ptr<const StringLanguage> language) {
  return make({.kind = Kind::kText, .language = std::move(language)});
}

ExpressionPtr json(FormulaId formula, std::uint8_t types) {
  return make({.kind = Kind::kJson, .formula = formula, .types = types});
}

}  // namespace daybreak::grammar
