// SPDX-License-Identifier: Apache-2.0
#pragma once

// StringLexer: the bytes between the quotes of a JSON string, or of a raw text, as code points of a
// StringLanguage. It works on the decoded string: \u0061 is an a, \ud83d\ude00 is one code point,
// and a lone surrogate, a control character or a byte that is not UTF-8 ends the walk.

#include <cstdint>

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
  std::uint32_t chars = 0;    // code points so far; saturated where the bounds no longer tell
  std::uint32_t partial = 0;  // bits of the unfinished code point
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

// Returns whether the text may end here (kRaw), or the quote may come next (kJson).
[[nodiscard]] inline bool can_close(const StringLanguage& language, const StringState& state) {
  return state.phase == StringPhase::kPlain && language.accepts(state.state, state.chars);
}

}  // namespace daybreak::grammar
