// SPDX-License-Identifier: Apache-2.0
#pragma once

// Normaliser: what a conjunction of literals allows, one JSON type at a time, as alternatives
// without boolean operators. Scalars become languages, objects and arrays become terms.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/formats.h"
#include "grammar/literals.h"
#include "grammar/number_language.h"
#include "grammar/pattern_table.h"
#include "grammar/string_language.h"
#include "grammar/terms.h"

namespace daybreak::grammar {

// Not thread-safe. `literals`, `patterns` and `budget` outlive it.
class Normaliser {
 public:
  Normaliser(LiteralTable& literals, PatternTable& patterns, Budget& budget, Formats formats);
  ~Normaliser();

  // Errors of all: kUnsupported naming path and keyword that cannot be enforced exactly,
  // kInvalidArgument for a pattern that is none, kTooLarge.
  [[nodiscard]] Result<bool> null(const Conjunction& literals);
  // Bit 0: false is allowed; bit 1: true is.
  [[nodiscard]] Result<std::uint8_t> booleans(const Conjunction& literals);
  [[nodiscard]] Result<std::vector<NumberLanguage>> numbers(const Conjunction& literals);
  [[nodiscard]] Result<std::vector<std::shared_ptr<const StringLanguage>>> strings(
      const Conjunction& literals);
  [[nodiscard]] Result<std::vector<ObjectTerm>> objects(const Conjunction& literals);
  [[nodiscard]] Result<std::vector<ArrayTerm>> arrays(const Conjunction& literals);

  // Returns true only if nothing satisfies all of `literals`. May say false where more thought
  // would say true. Keeps alternatives apart that differ in a tag (a required const).
  [[nodiscard]] Result<bool> certainly_empty(const Conjunction& literals);

  // Returns the strings that satisfy `schema`, as one language of keys.
  [[nodiscard]] Result<PatternId> keys_of(const Schema& schema);

  [[nodiscard]] LiteralTable& literals();
  [[nodiscard]] PatternTable& patterns();
  [[nodiscard]] Budget& budget();
  [[nodiscard]] Formats formats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::grammar
