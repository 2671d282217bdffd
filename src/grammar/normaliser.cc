// SPDX-License-Identifier: Apache-2.0
#include "grammar/normaliser.h"

#include <map>
#include <utility>

#include "grammar/container_kinds.h"
#include "grammar/regex.h"
#include "grammar/scalar_kinds.h"

namespace daybreak::grammar {
namespace {

// How deep certainly_empty() looks into members: tags stand at the first or second level.
constexpr int kTagDepth = 2;

// Alternatives of the same length bounds as one language: fewer alternatives to follow later.
Result<std::vector<std::shared_ptr<const StringLanguage>>> joined(
    const std::vector<StringKind::Term>& terms, Budget& budget) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<const StringLanguage>> groups;
  for (const StringKind::Term& term : terms) {
    const auto own = term.language == nullptr ? StringLanguage::all() : term.language;
    auto& group = groups[{own->min_chars(), own->max_chars()}];
    if (group == nullptr) {
      group = own;
      continue;
    }
    DAYBREAK_TRY(Dfa both, group->dfa().unite(own->dfa(), budget));
    DAYBREAK_TRY(group, StringLanguage::make(std::make_shared<const Dfa>(std::move(both)),
                                             own->min_chars(), own->max_chars(), budget));
  }
  std::vector<std::shared_ptr<const StringLanguage>> languages;
  for (auto& [bounds, language] : groups) {
    languages.push_back(std::move(language));
  }
  return languages;
}

// A language with its length bounds as states.
Result<Dfa> unbounded(const StringLanguage& language, Budget& budget) {
  if (!language.bounded()) {
    return language.dfa();
  }
  std::string lengths = "[^]{" + std::to_string(language.min_chars()) + ",";
  if (language.max_chars() != kNoMaxChars) {
    lengths += std::to_string(language.max_chars());
  }
  DAYBREAK_TRY(const Dfa bounds, compile_regex(lengths + "}", RegexMatch::kWhole, budget));
  return language.dfa().intersect(bounds, budget);
}

}  // namespace

struct Normaliser::Impl {
  Impl(Normaliser* self, LiteralTable& literals_in, PatternTable& patterns_in, Budget& budget_in,
       Formats formats_in)
      : literals(literals_in),
        patterns(patterns_in),
        budget(budget_in),
        formats(formats_in),
        nulls({}, literals, budget),
        bits({}, literals, budget),
        numbers({&budget}, literals, budget),
        strings({self}, literals, budget),
        objects({{self}}, literals, budget),
        arrays({{self}}, literals, budget) {}

  LiteralTable& literals;
  PatternTable& patterns;
  Budget& budget;
  Formats formats;
  Expander<NullKind> nulls;
  Expander<BooleanKind> bits;
  Expander<NumberKind> numbers;
  Expander<StringKind> strings;
  Expander<ObjectKind> objects;
  Expander<ArrayKind> arrays;
  std::map<Conjunction, bool> empty;
  std::map<const Schema*, PatternId> keys;
  int tag_depth = 0;
};

Normaliser::Normaliser(LiteralTable& literals, PatternTable& patterns, Budget& budget,
                       Formats formats)
    : impl_(std::make_unique<Impl>(this, literals, patterns, budget, formats)) {}
Normaliser::~Normaliser() = default;

LiteralTable& Normaliser::literals() { return impl_->literals; }
PatternTable& Normaliser::patterns() { return impl_->patterns; }
Budget& Normaliser::budget() { return impl_->budget; }
Formats Normaliser::formats() const { return impl_->formats; }

Result<bool> Normaliser::null(const Conjunction& literals) {
  DAYBREAK_TRY(const auto terms, impl_->nulls.conjunction(literals));
  return !terms.empty();
}

Result<std::uint8_t> Normaliser::booleans(const Conjunction& literals) {
  DAYBREAK_TRY(const auto terms, impl_->bits.conjunction(literals));
  std::uint8_t values = 0;
  for (const BooleanKind::Term& term : terms) {
    values |= term.values;
  }
  return values;
}

Result<std::vector<NumberLanguage>> Normaliser::numbers(const Conjunction& literals) {
  return impl_->numbers.conjunction(literals);
}

Result<std::vector<std::shared_ptr<const StringLanguage>>> Normaliser::strings(
    const Conjunction& literals) {
  DAYBREAK_TRY(const auto terms, impl_->strings.conjunction(literals));
  return joined(terms, impl_->budget);
}

Result<std::vector<ObjectTerm>> Normaliser::objects(const Conjunction& literals) {
  return impl_->objects.conjunction(literals);
}

Result<std::vector<ArrayTerm>> Normaliser::arrays(const Conjunction& literals) {
  return impl_->arrays.conjunction(literals);
}

Result<bool> Normaliser::certainly_empty(const Conjunction& literals) {
  if (literals.empty() || impl_->tag_depth >= kTagDepth) {
    return false;
  }
  if (literals.front() == kFalseLiteral) {
    return true;
  }
  if (const auto known = impl_->empty.find(literals); known != impl_->empty.end()) {
    return known->second;
  }
  ++impl_->tag_depth;
  const auto decide = [&]() -> Result<bool> {
    DAYBREAK_TRY(const bool nothing, null(literals));
    DAYBREAK_TRY(const std::uint8_t bits, booleans(literals));
    if (nothing || bits != 0) {
      return false;
    }
    DAYBREAK_TRY(const auto numeric, impl_->numbers.conjunction(literals));
    DAYBREAK_TRY(const auto texts, impl_->strings.conjunction(literals));
    if (!numeric.empty() || !texts.empty()) {
      return false;
    }
    DAYBREAK_TRY(const auto members, impl_->objects.conjunction(literals));
    DAYBREAK_TRY(const auto elements, impl_->arrays.conjunction(literals));
    return members.empty() && elements.empty();
  };
  Result<bool> empty = decide();
  --impl_->tag_depth;
  if (empty && impl_->tag_depth == 0) {
    impl_->empty.emplace(literals, *empty);
  }
  return empty;
}

Result<PatternId> Normaliser::keys_of(const Schema& schema) {
  if (const auto known = impl_->keys.find(&schema); known != impl_->keys.end()) {
    return known->second;
  }
  DAYBREAK_TRY(const auto languages, strings(LiteralTable::simplify({literals().of(schema)})));
  Dfa keys;
  for (const auto& language : languages) {
    DAYBREAK_TRY(const Dfa own, unbounded(*language, budget()));
    DAYBREAK_TRY(keys, keys.unite(own, budget()));
  }
  const PatternId id = patterns().intern(std::make_shared<const Dfa>(std::move(keys)));
  impl_->keys.emplace(&schema, id);
  return id;
}

}  // namespace daybreak::grammar
