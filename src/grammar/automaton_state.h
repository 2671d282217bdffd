// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of an answer in progress: a few threads, each a place to read on (a leaf) inside
// containers and rules (frames). Threads exist side by side where a schema has alternatives that
// the text has not decided yet. Frames never change: a step makes new ones, so that a state can be
// kept, compared and returned to.
//
// Threads that read the same and differ only in what they are inside of become one: inside one
// frame with all their parents where the frames are alike but for those, else inside a join, whose
// parents it returns to one by one. So alternatives add up with the depth of nesting and do not
// multiply (graph-structured stacks: Tomita, "Efficient Parsing for Natural Language", 1985).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "grammar/number_lexer.h"
#include "grammar/rule_graph.h"
#include "grammar/shapes.h"
#include "grammar/string_lexer.h"

namespace daybreak::grammar {

// The decoded text of a string that must be remembered, last code point first.
struct TextLink {
  const TextLink* before = nullptr;
  std::uint32_t code_point = 0;
  std::uint32_t length = 0;
  std::uint64_t hash = 0;
};

// Returns whether two texts are equal.
[[nodiscard]] bool equal_texts(const TextLink* a, const TextLink* b);
// Returns the beginning of `text` with `length` code points. REQUIRES: length <= its length.
[[nodiscard]] const TextLink* text_prefix(const TextLink* text, std::uint32_t length);

// Keys of an object that no name of the schema covers, the newest first.
struct KeyLink {
  const KeyLink* next = nullptr;
  const TextLink* text = nullptr;
  std::uint64_t hash = 0;  // of all keys from here on
};

// Scalars that an array with uniqueItems holds so far, the newest first.
struct SeenValues {
  enum class Kind : std::uint8_t { kBits, kNumber, kString };
  const SeenValues* before = nullptr;
  Kind kind = Kind::kBits;
  std::uint8_t bits = 0;             // of all from here on; 1: null, 2: false, 4: true
  Decimal number;                    // kNumber
  const TextLink* string = nullptr;  // kString; null: the empty string
  std::uint64_t hash = 0;            // of all from here on
};

// Return the strings, and the numbers in ascending order, of a list of values (null: none).
[[nodiscard]] std::vector<const TextLink*> strings_of(const SeenValues* seen);
[[nodiscard]] std::vector<Decimal> numbers_of(const SeenValues* seen);

struct Frame {
  enum class Kind : std::uint8_t { kRoot, kRule, kObject, kArray, kJoin };

  Kind kind = Kind::kRoot;
  const Frame* parent = nullptr;
  std::uint64_t symbol = 0;  // hash of everything below
  std::uint64_t hash = 0;    // of that and the parent's

  std::span<const Frame* const> parents;  // kJoin: two or more, no joins, ascending by hash

  RuleGraph::NodeId node = 0;  // kRule: where to go on
  bool spaces = false;         // kObject, kArray: one space may follow ',' and ':'

  const ObjectShape* object = nullptr;  // kObject
  const std::uint64_t* seen = nullptr;  // [object->words()]
  std::uint32_t fulfilled = 0;
  std::uint64_t count = 0;  // kObject: members; kArray: elements begun
  const KeyLink* keys = nullptr;

  const ArrayShape* array = nullptr;  // kArray
  std::uint32_t counts = 0;
  const SeenValues* values = nullptr;  // null unless array->unique

  [[nodiscard]] ObjectProgress progress() const {
    return {{seen, object->words()}, count, fulfilled};
  }
};

enum class Leaf : std::uint8_t {
  kEnd,         // the answer is complete
  kNode,        // in a rule, at `node`
  kText,        // in a raw text of `language`
  kValue,       // before a JSON value of `formula`
  kLiteral,     // in true, false or null: `literal`, after `at` bytes
  kNumber,      // in a number of `numbers`
  kString,      // in a string of `language`
  kObjectOpen,  // after {
  kKeyStart,    // after a comma in an object
  kKey,         // in a key
  kColon,       // after a key, its value will be of `formula`
  kObjectNext,  // after a member
  kArrayOpen,   // after [
  kArrayNext,   // after an element
};

struct Thread {
  Leaf leaf = Leaf::kEnd;
  bool space = false;        // one space may come first
  std::uint8_t types = 0;    // kValue: TypeBits
  std::uint8_t literal = 0;  // kLiteral: 0 null, 1 false, 2 true
  std::uint8_t at = 0;
  std::uint32_t number = 0;  // kNode: node; kValue, kColon: formula
  const Frame* frame = nullptr;
  const std::shared_ptr<const StringLanguage>* language = nullptr;  // kText, kString, kKey
  StringState string;
  const TextLink* text = nullptr;       // kKey, kString: what must be remembered, else null
  const KeyChoices* choices = nullptr;  // kKeyStart, kKey; follow from the frame
  const std::shared_ptr<const NumberLexer>* numbers = nullptr;  // kNumber
  const NumberState* digits = nullptr;

  [[nodiscard]] std::uint64_t hash() const;
  // Of everything but the frame.
  [[nodiscard]] std::uint64_t content_hash() const;
};

using Threads = std::vector<Thread>;

}  // namespace daybreak::grammar
