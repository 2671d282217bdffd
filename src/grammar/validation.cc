// SPDX-License-Identifier: Apache-2.0
#include "grammar/validation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json_document.h"
#include "grammar/formats.h"
#include "grammar/schema_reader.h"

namespace daybreak::grammar {
namespace {

using Kind = JsonNode::Kind;

void add_seen(std::vector<bool>* to, const std::vector<bool>& from) {
  if (to == nullptr || from.empty()) {
    return;
  }
  to->resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i]) {
      (*to)[i] = true;
    }
  }
}

std::uint8_t type_of(const JsonNode& node, const std::optional<Decimal>& number) {
  switch (node.kind) {
    case Kind::kNull:
      return kNullType;
    case Kind::kBoolean:
      return kBooleanType;
    case Kind::kNumber:
      return number->integer() ? kNumberType | kIntegerType : kNumberType;
    case Kind::kString:
      return kStringType;
    case Kind::kArray:
      return kArrayType;
    case Kind::kObject:
      return kObjectType;
  }
  __builtin_unreachable();
}

std::string type_names(std::uint8_t types) {
  constexpr std::array<std::string_view, 7> kNames = {"null",   "boolean", "integer", "number",
                                                      "string", "array",   "object"};
  std::string names;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((types >> i & 1U) != 0) {
      names += (names.empty() ? "" : " or ") + std::string(kNames[i]);
    }
  }
  return names.empty() ? "no type at all" : names;
}

std::uint64_t count_code_points(std::string_view utf8) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Comparing with a value of the schema costs at most its size.
std::uint64_t compare_steps(const JsonNode& value) { return 1 + value.raw.size() / 16; }

}  // namespace

Result<ValidationResult> Validation::run(const JsonNode& instance) {
  if (has_duplicate_key(instance)) {
    result_.errors.push_back({.instance_path = "",
                              .schema_path = "#",
                              .keyword = "",
                              .message = "expected every key once, found one twice"});
    return std::move(result_);
  }
  const bool valid = apply(document_.root(), instance, nullptr);
  if (stopped_) {
    return *std::move(stopped_);
  }
  if (valid != result_.valid()) {
    // Cannot be: every check that fails reports.
    return Error{Errc::kUnsupported, "validation failed without saying where"};
  }
  return std::move(result_);
}

bool Validation::has_duplicate_key(const JsonNode& node) {
  return node.duplicate != JsonNode::kNoDuplicate ||
         std::ranges::any_of(node.items, [this](const JsonNode& item) {
           return !item.items.empty() && has_duplicate_key(item);
         });
}

bool Validation::spend(std::uint64_t steps) {
  if (stopped_ || steps > left_) {
    left_ = 0;
    return stop({Errc::kTooLarge, "validation: expected at most " +
                                      std::to_string(options_.max_steps) + " steps, found more"});
  }
  left_ -= steps;
  return true;
}

bool Validation::stop(Error error) {
  if (!stopped_) {
    stopped_ = std::move(error);
  }
  return false;
}

std::string Validation::instance_path() const {
  std::string path;
  for (const auto& [parent, index] : at_) {
    path =
        child_path(path, parent->is(Kind::kObject) ? parent->keys[index] : std::to_string(index));
  }
  return path;
}

bool Validation::report(const Visit& visit, std::string_view keyword, std::string_view expected,
                        std::string_view found) {
  if (quiet_ > 0 || stopped_) {
    return false;
  }
  if (result_.errors.size() < options_.max_errors) {
    result_.errors.push_back(
        {.instance_path = instance_path(),
         .schema_path = visit.schema.path + (keyword.empty() ? "" : "/" + std::string(keyword)),
         .keyword = std::string(keyword),
         .message = "expected " + std::string(expected) + ", found " + std::string(found)});
  }
  full_ = result_.errors.size() >= options_.max_errors;
  return false;
}

bool Validation::apply_to_child(const Schema& schema, const JsonNode& parent, std::size_t index) {
  at_.emplace_back(&parent, index);
  const bool valid = apply(schema, parent.items[index], nullptr);
  at_.pop_back();
  return valid;
}

bool Validation::test(const Schema& schema, const JsonNode& instance, Seen* seen) {
  ++quiet_;
  const bool valid = apply(schema, instance, seen);
  --quiet_;
  return valid;
}

bool Validation::test_child(const Schema& schema, const JsonNode& parent, std::size_t index) {
  return test(schema, parent.items[index], nullptr);
}

bool Validation::apply(const Schema& schema, const JsonNode& instance, Seen* seen) {
  if (!spend(1)) {
    return false;
  }
  if (depth_ >= options_.max_depth) {
    return stop({Errc::kTooLarge, "validation: expected at most " +
                                      std::to_string(options_.max_depth) +
                                      " schemas within each other, found more"});
  }
  ++depth_;
  const bool enters = scope_.empty() || scope_.back() != schema.resource;
  if (enters) {
    scope_.push_back(schema.resource);
  }
  // A schema that fails has looked at nothing, so its marks are kept apart until it has not.
  Seen mine;
  const bool asks = schema.unevaluated_items != nullptr || schema.unevaluated_properties != nullptr;
  const bool keep = (seen != nullptr || asks) && !instance.items.empty();
  const Visit visit{.schema = schema, .instance = instance, .seen = keep ? &mine : nullptr};
  const bool valid = schema.always ? *schema.always || report(visit, "", "nothing", shown(instance))
                                   : apply_keywords(visit);
  if (valid && keep && spend(mine.size() / 64)) {
    add_seen(seen, mine);
  }
  if (enters) {
    scope_.pop_back();
  }
  --depth_;
  return valid && !stopped_;
}

bool Validation::apply_keywords(const Visit& visit) {
  using Check = bool (Validation::*)(const Visit&);
  static constexpr std::array<Check, 9> kChecks = {
      &Validation::check_general,     &Validation::check_number,      &Validation::check_string,
      &Validation::check_array,       &Validation::check_object,      &Validation::check_references,
      &Validation::check_combined,    &Validation::check_conditional,
      &Validation::check_unevaluated,  // last: it asks what the others have looked at
  };
  bool valid = true;
  for (const Check check : kChecks) {
    valid = (this->*check)(visit) && valid;
    if (!valid && enough()) {
      return false;
    }
  }
  return valid;
}

bool Validation::check_general(const Visit& visit) {
  const Schema& schema = visit.schema;
  bool valid = true;
  if (schema.types) {
    std::optional<Decimal> number;
    if (visit.instance.is(Kind::kNumber)) {
      auto parsed = Decimal::parse(visit.instance.raw);
      if (!parsed) {
        return stop(std::move(parsed).error());
      }
      number = *std::move(parsed);
    }
    if ((*schema.types & type_of(visit.instance, number)) == 0) {
      valid = report(visit, "type", type_names(*schema.types), shown(visit.instance));
    }
  }
  if (schema.constant != nullptr) {
    if (!spend(compare_steps(*schema.constant))) {
      return false;
    }
    if (!equal_values(visit.instance, *schema.constant)) {
      valid = report(visit, "const", printable(schema.constant->raw, 60), shown(visit.instance));
    }
  }
  if (schema.enumeration != nullptr) {
    if (!spend(compare_steps(*schema.enumeration))) {
      return false;
    }
    const auto& values = schema.enumeration->items;
    if (std::ranges::none_of(
            values, [&](const JsonNode& value) { return equal_values(visit.instance, value); })) {
      valid = report(visit, "enum", "one of " + printable(schema.enumeration->raw, 120),
                     shown(visit.instance));
    }
  }
  return valid;
}

bool Validation::check_number(const Visit& visit) {
  const Schema& schema = visit.schema;
  if (!visit.instance.is(Kind::kNumber) ||
      !(schema.minimum || schema.maximum || schema.exclusive_minimum || schema.exclusive_maximum ||
        schema.multiple_of)) {
    return true;
  }
  const auto number = Decimal::parse(visit.instance.raw);
  if (!number) {
    return stop(number.error());
  }
  bool valid = true;
  const auto require = [&](bool holds, std::string_view keyword, std::string_view expected,
                           const Decimal& bound) {
    if (!holds) {
      valid = report(visit, keyword, std::string(expected) + " " + printable(bound.to_string(), 40),
                     shown(visit.instance));
    }
  };
  if (schema.minimum) {
    require(*number >= *schema.minimum, "minimum", "at least", *schema.minimum);
  }
  if (schema.maximum) {
    require(*number <= *schema.maximum, "maximum", "at most", *schema.maximum);
  }
  if (schema.exclusive_minimum) {
    require(*number > *schema.exclusive_minimum, "exclusiveMinimum", "more than",
            *schema.exclusive_minimum);
  }
  if (schema.exclusive_maximum) {
    require(*number < *schema.exclusive_maximum, "exclusiveMaximum", "less than",
            *schema.exclusive_maximum);
  }
  if (schema.multiple_of) {
    require(number->multiple_of(*schema.multiple_of), "multipleOf", "a multiple of",
            *schema.multiple_of);
  }
  return valid;
}

bool Validation::check_string(const Visit& visit) {
  const Schema& schema = visit.schema;
  const std::string& text = visit.instance.text;
  if (!visit.instance.is(Kind::kString)) {
    return true;
  }
  bool valid = true;
  if (schema.min_length || schema.max_length) {
    const std::uint64_t length = count_code_points(text);
    const std::string found = std::to_string(length);
    if (!spend(text.size() / 64)) {
      return false;
    }
    if (schema.min_length && length < *schema.min_length) {
      valid = report(visit, "minLength",
                     "at least " + std::to_string(*schema.min_length) + " characters", found);
    }
    if (schema.max_length && length > *schema.max_length) {
      valid = report(visit, "maxLength",
                     "at most " + std::to_string(*schema.max_length) + " characters", found);
    }
  }
  if (schema.pattern) {
    if (!spend(1 + text.size() / 8)) {
      return false;
    }
    if (!patterns_.of(schema).pattern->contains(text)) {
      valid = report(visit, "pattern", "a match of " + printable(*schema.pattern, 80),
                     shown(visit.instance));
    }
  }
  if (schema.format && options_.formats == Formats::kAssert) {
    const Dfa* language = format_language(*schema.format);
    if (!spend(1 + text.size() / 8)) {
      return false;
    }
    if (language != nullptr && !language->contains(text)) {
      valid = report(visit, "format", printable(*schema.format, 40), shown(visit.instance));
    }
  }
  return valid;
}

}  // namespace daybreak::grammar
