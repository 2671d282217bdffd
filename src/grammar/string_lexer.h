// SPDX-License-Identifier: Apache-2.0
#pragma once

// StringLexer: the bytes between the quotes of a JSON string, or of a raw text, as code points of a
// StringLanguage. It works on the decoded string: \u0061 is an a, \ud83d\ude00 is one code point,
// and a lone surrogate, a control character or a byte that is not UTF-8 ends the walk.

#include <cstdint>
#include <vector>

#include "grammar/char_set.h"
#include "grammar/string_language.h"

namespace daybreak::grammar {

// How a string stands in the output.
enum class StringCoding : std::uint8_t {
  kJson,  // after the opening quote; an unescaped quote ends it
  kRaw,   // the bytes themselves; only a marker token ends it
};

// What of the coding is unfinished.
enum class StringPhase : std::uint8_t {
  kPlain,      // between code points
  kUtf8,       // inside a multi-byte sequence
  kEscape,     // after a backslash
  kHex,        // inside \uXXXX
  kLow,        // after a high surrogate: backslash expected
  kLowEscape,  // then u
  kLowHex,     // then the four digits of a low surrogate
};

struct StringState {
  Dfa::State state = Dfa::kStart;
  std::uint32_t chars = 0;    // code points so far; without an upper bound at most min_chars()
  std::uint32_t partial = 0;  // of the unfinished code point; its layout is step()'s affair
  StringPhase phase = StringPhase::kPlain;
  std::uint8_t missing = 0;  // bytes or digits still to come of it

  friend bool operator==(const StringState&, const StringState&) = default;
};

enum class StringStep : std::uint8_t {
  kDead,    // no string of the language is spelled like that
  kInside,  // go on; the state can be completed
  kClosed,  // the byte was the closing quote of a member of the language (kJson only)
};

// Takes one byte. `state` is updated on kInside, unspecified on kDead, unchanged on kClosed.
// kInside means that completion is possible, unfinished escapes and sequences included: after
// a prefix of a multi-byte sequence at least one code point with that prefix must be viable.
[[nodiscard]] StringStep step(const StringLanguage& language, StringCoding coding,
                              StringState& state, std::uint8_t byte);

// What a byte is to the coding alone, whatever the language.
struct DecodedByte {
  enum class Kind : std::uint8_t { kInvalid, kUnfinished, kCodePoint, kQuote };
  Kind kind = Kind::kInvalid;
  std::uint32_t code_point = 0;  // if kCodePoint
};

// Takes one byte, changing only phase, partial and missing of `state` (which are unspecified on
// kInvalid). kUnfinished may be the beginning of a surrogate, see can_complete().
[[nodiscard]] DecodedByte decode_byte(StringCoding coding, StringState& state, std::uint8_t byte);

// Takes one whole code point. Returns false, and leaves `state` unspecified, if the language does
// not go on with it. REQUIRES: phase kPlain; a Unicode scalar value.
[[nodiscard]] bool step_code_point(const StringLanguage& language, StringState& state,
                                   std::uint32_t code_point);

// Returns the code points that the unfinished one can still become, as disjoint ranges; all of them
// in phases kPlain and kEscape.
[[nodiscard]] std::vector<CharRange> completions(const StringState& state);

// Returns whether some code point of the language completes the unfinished one: what step() makes
// sure of. REQUIRES: a phase other than kPlain that step() led to with this or another language.
[[nodiscard]] bool can_complete(const StringLanguage& language, const StringState& state);

// Returns whether the text may end here (kRaw), or the quote may come next (kJson).
[[nodiscard]] inline bool can_close(const StringLanguage& language, const StringState& state) {
  return state.phase == StringPhase::kPlain && language.accepts(state.state, state.chars);
}

}  // namespace daybreak::grammar
