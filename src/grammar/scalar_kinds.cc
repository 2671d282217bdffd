// SPDX-License-Identifier: Apache-2.0
#include "grammar/scalar_kinds.h"

#include <algorithm>
#include <string>

#include "grammar/formats.h"

namespace daybreak::grammar {

Error not_enforceable(const Schema& schema, std::string_view keyword, std::string_view why) {
  return Error{Errc::kUnsupported, schema.path + ": " + std::string(keyword) +
                                       " cannot be enforced exactly: " + std::string(why)};
}

// ------------------------------------------------------------------------------------- numbers

namespace {

std::optional<std::int64_t> small_integer(const Decimal& number) {
  constexpr std::int64_t kDigits = 17;
  const auto digits = static_cast<std::int64_t>(number.digits().size());
  if (!number.integer() || digits + number.exponent() > kDigits) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  for (std::int64_t i = 0; i < digits + number.exponent(); ++i) {
    value = 10 * value + (i < digits ? number.digits()[static_cast<std::size_t>(i)] - '0' : 0);
  }
  return number.negative() ? -value : value;
}

// Returns the numbers as languages; runs of consecutive integers are one.
NumberKind::Terms ranges_of(const std::vector<Decimal>& sorted) {
  NumberKind::Terms terms;
  std::optional<std::int64_t> last;
  for (const Decimal& number : sorted) {
    const std::optional<std::int64_t> integer = small_integer(number);
    if (last && integer && *integer == *last + 1) {
      terms.back().high = NumberBound{number, false};
    } else {
      NumberLanguage& term = terms.emplace_back();
      term.integers =
          number.integer() ? NumberLanguage::Integers::kOnly : NumberLanguage::Integers::kNone;
      term.low = NumberBound{number, false};
      term.high = NumberBound{number, false};
    }
    last = integer;
  }
  return terms;
}

}  // namespace

std::pair<NumberKind::Terms, NumberKind::Terms> NumberKind::typed(std::uint8_t types) {
  if ((types & kNumberType) != 0) {
    return {Terms{Term{}}, Terms{}};
  }
  if ((types & kIntegerType) == 0) {
    return {Terms{}, Terms{Term{}}};
  }
  Term integers;
  integers.integers = NumberLanguage::Integers::kOnly;
  Term others;
  others.integers = NumberLanguage::Integers::kNone;
  return {Terms{integers}, Terms{others}};
}

Part<NumberKind::Term> NumberKind::value(const JsonNode& node, Self& expander) {
  if (!node.is(JsonNode::Kind::kNumber)) {
    return always<Term>(false);
  }
  static_cast<void>(expander);
  return [&node](bool negated) -> Result<Terms> {
    DAYBREAK_TRY(const Decimal number, Decimal::parse(node.raw));
    Term term;
    if (negated) {
      term.excluded = {number};
    } else {
      term.integers =
          number.integer() ? NumberLanguage::Integers::kOnly : NumberLanguage::Integers::kNone;
      term.low = NumberBound{number, false};
      term.high = NumberBound{number, false};
    }
    return Terms{term};
  };
}

Part<NumberKind::Term> NumberKind::one_of_values(const std::vector<JsonNode>& nodes,
                                                 Self& expander) {
  return [this, &nodes, &expander](bool negated) -> Result<Terms> {
    std::vector<Part<Term>> parts;
    std::vector<Decimal> numbers;
    for (const JsonNode& node : nodes) {
      if (node.is(JsonNode::Kind::kNumber)) {
        DAYBREAK_TRY(Decimal number, Decimal::parse(node.raw));
        numbers.push_back(std::move(number));
        parts.push_back(value(node, expander));
      }
    }
    if (!negated && numbers.size() <= kMaxAlternatives) {
      return expander.any(parts, false);
    }
    std::ranges::sort(numbers);
    const auto doubles = std::ranges::unique(numbers);
    numbers.erase(doubles.begin(), doubles.end());
    if (!negated) {
      return expander.sum_of(ranges_of(numbers));
    }
    Term others;
    others.excluded = std::move(numbers);
    return Terms{std::move(others)};
  };
}

Status NumberKind::keywords(const Schema& schema, std::vector<Part<Term>>& parts, Self&) {
  Term term;
  const auto bound = [](const std::optional<Decimal>& inclusive,
                        const std::optional<Decimal>& exclusive, bool low) {
    std::optional<NumberBound> result;
    if (inclusive) {
      result = NumberBound{*inclusive, false};
    }
    if (exclusive &&
        (!result || (low ? *exclusive >= result->value : *exclusive <= result->value))) {
      result = NumberBound{*exclusive, true};
    }
    return result;
  };
  term.low = bound(schema.minimum, schema.exclusive_minimum, true);
  term.high = bound(schema.maximum, schema.exclusive_maximum, false);
  if (schema.multiple_of) {
    term.multiples = {*schema.multiple_of};
  }
  if (term == Term{}) {
    return ok();
  }
  parts.push_back([this, term](bool negated) -> Result<Terms> {
    if (negated) {
      return complement(term, *budget);
    }
    DAYBREAK_TRY(const std::optional<Term> own, intersect(term, Term{}, *budget));
    return own ? Terms{*own} : Terms{};
  });
  return ok();
}

// ------------------------------------------------------------------------------------- strings

bool operator==(const StringKind::Term& a, const StringKind::Term& b) {
  if (a.language == nullptr || b.language == nullptr) {
    return a.language == b.language;
  }
  return a.language == b.language || (a.language->min_chars() == b.language->min_chars() &&
                                      a.language->max_chars() == b.language->max_chars() &&
                                      a.language->dfa() == b.language->dfa());
}

std::pair<StringKind::Terms, StringKind::Terms> StringKind::typed(std::uint8_t types) {
  const bool in = (types & kStringType) != 0;
  return {in ? Terms{Term{}} : Terms{}, in ? Terms{} : Terms{Term{}}};
}

Part<StringKind::Term> StringKind::language(std::shared_ptr<const Dfa> dfa, std::uint32_t min,
                                            std::uint32_t max) {
  return [this, dfa = std::move(dfa), min, max](bool negated) -> Result<Terms> {
    DAYBREAK_TRY(const auto own, StringLanguage::make(dfa, min, max, normaliser->budget()));
    if (!negated) {
      return own == nullptr ? Terms{} : Terms{Term{own}};
    }
    if (own == nullptr) {
      return Terms{Term{}};
    }
    DAYBREAK_TRY(const auto others, complement(*own, normaliser->budget()));
    Terms terms;
    for (const auto& other : others) {
      terms.push_back(Term{other});
    }
    return terms;
  };
}

Part<StringKind::Term> StringKind::value(const JsonNode& node, Self& expander) {
  if (!node.is(JsonNode::Kind::kString)) {
    return always<Term>(false);
  }
  return [this, &node, &expander](bool negated) -> Result<Terms> {
    static_cast<void>(expander);
    const std::vector<std::string> only{node.text};
    DAYBREAK_TRY(Dfa dfa, Dfa::strings(only, normaliser->budget()));
    return language(std::make_shared<const Dfa>(std::move(dfa)), 0, kNoMaxChars)(negated);
  };
}

Part<StringKind::Term> StringKind::one_of_values(const std::vector<JsonNode>& nodes, Self&) {
  return [this, &nodes](bool negated) -> Result<Terms> {
    std::vector<std::string> texts;
    for (const JsonNode& node : nodes) {
      if (node.is(JsonNode::Kind::kString)) {
        texts.push_back(node.text);
      }
    }
    if (texts.empty()) {
      return negated ? Terms{Term{}} : Terms{};
    }
    DAYBREAK_TRY(Dfa dfa, Dfa::strings(texts, normaliser->budget()));
    return language(std::make_shared<const Dfa>(std::move(dfa)), 0, kNoMaxChars)(negated);
  };
}

Status StringKind::keywords(const Schema& schema, std::vector<Part<Term>>& parts, Self&) {
  static const auto kAll = std::make_shared<const Dfa>(Dfa::all());
  if (schema.min_length || schema.max_length) {
    const auto clamp = [](std::uint64_t value) {
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kNoMaxChars - 1));
    };
    parts.push_back(language(kAll, clamp(schema.min_length.value_or(0)),
                             schema.max_length ? clamp(*schema.max_length) : kNoMaxChars));
  }
  if (schema.pattern) {
    auto pattern = normaliser->patterns().regex(*schema.pattern, normaliser->budget());
    if (!pattern) {
      return std::move(pattern).error().in(schema.path + ": pattern");
    }
    parts.push_back(language(normaliser->patterns().dfa(*pattern), 0, kNoMaxChars));
  }
  if (schema.format && normaliser->formats() == Formats::kAssert) {
    if (const Dfa* format = format_language(*schema.format)) {
      // Formats live as long as the process.
      parts.push_back(language(std::shared_ptr<const Dfa>(std::shared_ptr<void>(), format), 0,
                               format_max_chars(*schema.format).value_or(kNoMaxChars)));
    }
  }
  return ok();
}

Result<std::optional<StringKind::Term>> StringKind::meet(const Term& a, const Term& b) {
  if (a.language == nullptr || b.language == nullptr) {
    return std::optional<Term>(a.language == nullptr ? b : a);
  }
  DAYBREAK_TRY(auto both, intersect(*a.language, *b.language, normaliser->budget()));
  return both == nullptr ? std::optional<Term>() : std::optional<Term>(Term{std::move(both)});
}

}  // namespace daybreak::grammar
