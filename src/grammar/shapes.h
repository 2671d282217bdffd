// SPDX-License-Identifier: Apache-2.0
#pragma once

// Formulas and shapes: schemas in the form the automaton runs on. A formula says what a value may
// be, one JSON type at a time; an object or array shape is one alternative for a container. All
// questions of the kind "can this still be completed?" are answered here. Immutable, thread-safe.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grammar/expression.h"
#include "grammar/key_automaton.h"
#include "grammar/number_lexer.h"
#include "grammar/string_language.h"
#include "grammar/terms.h"

namespace daybreak::grammar {

inline constexpr std::uint32_t kMaxConditions = 8;  // "some member must ..." of one shape

struct Formula {
  bool null = false;
  std::uint8_t booleans = 0;  // bit 0: false; bit 1: true
  std::vector<NumberLanguage> numbers;
  std::vector<std::shared_ptr<const NumberLexer>> lexers;  // [numbers]
  std::vector<std::shared_ptr<const StringLanguage>> strings;
  std::vector<std::uint32_t> objects;  // shapes
  std::vector<std::uint32_t> arrays;
  bool satisfiable = false;

  // Returns how many scalars satisfy it, saturated at `cap`. Containers are not counted.
  [[nodiscard]] std::uint64_t count_scalars(std::uint64_t cap) const;
  // Returns the types (TypeBits) that occur in it.
  [[nodiscard]] std::uint8_t types() const;
};

// One way to choose a child: what it must satisfy, and which pending conditions of its container it
// then fulfils.
struct ChildOption {
  FormulaId formula = 0;
  std::uint32_t fulfils = 0;  // bits
};

// How far an object has come.
struct ObjectProgress {
  std::span<const std::uint64_t> seen;  // bit per name
  std::uint64_t count = 0;              // members
  std::uint32_t fulfilled = 0;          // bits of ObjectShape::conditions
};

// Which keys may come next.
struct KeyChoices {
  std::vector<std::uint64_t> names;  // bit per name
  std::uint32_t atoms = 0;           // bit per atom
};

struct ObjectShape {
  KeyAutomaton keys;
  std::vector<std::vector<ChildOption>> options;  // [names + atoms]
  std::vector<std::uint64_t> required;            // bit per name
  std::uint32_t conditions =
      0;  // one bit per "some member must ..." (kMaxConditions); all must be fulfilled
  std::uint64_t min = 0, max = kNoLimit;

  [[nodiscard]] std::size_t words() const { return required.size(); }
  [[nodiscard]] bool can_close(const ObjectProgress& progress) const;
  // Returns the keys after which the object can still be completed.
  [[nodiscard]] KeyChoices choices(const ObjectProgress& progress) const;
  // Returns whether `label` is one of choices() with this option.
  [[nodiscard]] bool allows(const ObjectProgress& progress, KeyLabel label,
                            const ChildOption& option) const;
  // Returns whether any completion exists.
  [[nodiscard]] bool can_finish(const ObjectProgress& progress) const;
};

struct ArrayShape {
  struct Condition {  // "between min and max elements ..."
    std::uint64_t from = 0, min = 0, max = kNoLimit;
  };
  std::vector<std::vector<ChildOption>> prefix;  // by index; fulfils: the conditions it counts for
  std::vector<ChildOption> tail;                 // of every later index
  std::vector<Condition> conditions;
  std::uint64_t min = 0, max = kNoLimit;
  bool unique = false;
  // Counts of the conditions are one number in mixed radix. Filled by prepare().
  std::vector<std::uint32_t> radix;          // values of each count: 0 .. radix - 1, saturating
  std::vector<std::uint32_t> distance;       // [rows, codes]: elements still needed; kNever
  std::vector<std::uint32_t> tail_distance;  // [codes], from index `rows` on
  std::uint64_t rows = 0;
  static constexpr std::uint32_t kNever = 0xFFFFFFFF;

  // Fills the tables. Errors: kUnsupported, kTooLarge.
  [[nodiscard]] Status prepare(Budget& budget);

  [[nodiscard]] std::span<const ChildOption> options(std::uint64_t index) const {
    return index < prefix.size() ? std::span(prefix[index]) : std::span(tail);
  }
  // Returns the counts after an element chosen with `option`; saturated.
  [[nodiscard]] std::uint32_t after(std::uint32_t counts, const ChildOption& option) const;
  // Returns whether an element at `index` with `option` leaves a completion.
  [[nodiscard]] bool allows(std::uint64_t index, std::uint32_t counts,
                            const ChildOption& option) const;
  [[nodiscard]] bool can_close(std::uint64_t index, std::uint32_t counts) const;
  [[nodiscard]] bool can_finish(std::uint64_t index, std::uint32_t counts) const;

 private:
  [[nodiscard]] std::uint64_t distance_from(std::uint64_t index, std::uint32_t counts) const;
  [[nodiscard]] bool fulfilled(std::uint32_t counts) const;
};

// All that a grammar's schemas became.
struct CompiledSchemas {
  std::vector<Formula> formulas;
  std::vector<ObjectShape> objects;
  std::vector<ArrayShape> arrays;
  [[nodiscard]] std::size_t bytes() const;  // of memory, about
};

}  // namespace daybreak::grammar
