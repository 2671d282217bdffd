// SPDX-License-Identifier: Apache-2.0
// Layout of StringState::partial by phase:
//   kUtf8               the bits so far
//   kHex                the digits so far
//   kLow, kLowEscape    the low ten bits of the high surrogate
//   kLowHex             those << 16 | the digits so far
#include "grammar/string_lexer.h"

#include <algorithm>

namespace daybreak::grammar {
namespace {

constexpr std::uint32_t kSurrogates = 0xD800;  // high ones: D800 to DBFF
constexpr std::uint32_t kLowSurrogates = 0xDC00;
constexpr std::uint32_t kSurrogatesEnd = 0xE000;
constexpr std::uint32_t kAstral = 0x10000;
constexpr int kNoDigit = -1;

int hex_digit(std::uint8_t byte) {
  if (byte >= '0' && byte <= '9') {
    return byte - '0';
  }
  const int lower = byte | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : kNoDigit;
}

// Returns what \X stands for, or 0.
std::uint32_t short_escape(std::uint8_t byte) {
  switch (byte) {
    case '"':
    case '\\':
    case '/':
      return byte;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

std::uint32_t chars_after(const StringLanguage& language, std::uint32_t chars) {
  return language.max_chars() == kNoMaxChars ? std::min(chars + 1, language.min_chars())
                                             : chars + 1;
}

// Returns whether a code point in [low, high] may come next.
bool any_viable(const StringLanguage& language, const StringState& state, std::uint32_t low,
                std::uint32_t high) {
  const auto edges = language.dfa().edges(state.state);
  const std::uint32_t chars = chars_after(language, state.chars);
  auto edge = std::ranges::lower_bound(edges, low, {}, &Dfa::Edge::high);
  for (; low <= high && edge != edges.end() && edge->low <= high; ++edge) {
    if (language.viable(edge->target, chars)) {
      return true;
    }
  }
  return false;
}

// Code points, clipped to the scalar values, as ranges.
std::vector<CharRange> scalars(std::uint32_t low, std::uint32_t high) {
  const CharSet set({{low, std::min(high, kMaxCodePoint)}});
  return {set.ranges().begin(), set.ranges().end()};
}

// Code points whose UTF-16 high surrogate lies in [low, high], low ten bits each.
CharRange pairs(std::uint32_t low, std::uint32_t high) {
  return {kAstral + (low << 10), kAstral + (high << 10) + 0x3FF};
}

std::vector<CharRange> hex_completions(const StringState& state) {
  const int shift = 4 * state.missing;
  const std::uint32_t low = state.partial << shift;
  const std::uint32_t high = low + (std::uint32_t{1} << shift) - 1;
  std::vector<CharRange> ranges = scalars(low, high);
  const std::uint32_t first = std::max(low, kSurrogates);
  const std::uint32_t last = std::min(high, kLowSurrogates - 1);
  if (first <= last) {
    ranges.push_back(pairs(first - kSurrogates, last - kSurrogates));
  }
  return ranges;
}

std::vector<CharRange> low_hex_completions(const StringState& state) {
  const int shift = 4 * state.missing;
  const std::uint32_t digits = (state.partial & 0xFFFF) << shift;
  const std::uint32_t low = std::max(digits, kLowSurrogates);
  const std::uint32_t high = std::min(digits + (std::uint32_t{1} << shift), kSurrogatesEnd) - 1;
  const std::uint32_t base = kAstral + (state.partial >> 16 << 10);
  if (low > high) {
    return {};
  }
  return {{base + low - kLowSurrogates, base + high - kLowSurrogates}};
}

// Overlong forms: a sequence of n bytes holds nothing below this.
constexpr std::uint32_t smallest_utf8(int missing) {
  return missing == 3 ? kAstral : missing == 2 ? 0x800 : 0x80;
}

std::vector<CharRange> utf8_completions(const StringState& state) {
  const int shift = 6 * state.missing;
  const std::uint32_t low = std::max(state.partial << shift, smallest_utf8(state.missing));
  const std::uint32_t high = (state.partial << shift) + (std::uint32_t{1} << shift) - 1;
  return low <= std::min(high, kMaxCodePoint) ? scalars(low, high) : std::vector<CharRange>();
}

using Kind = DecodedByte::Kind;

DecodedByte unfinished(StringState& state, StringPhase phase, std::uint32_t partial,
                       std::uint8_t missing) {
  state.phase = phase;
  state.partial = partial;
  state.missing = missing;
  return {Kind::kUnfinished};
}

DecodedByte complete(StringState& state, std::uint32_t code_point) {
  state.phase = StringPhase::kPlain;
  state.partial = 0;
  state.missing = 0;
  return {Kind::kCodePoint, code_point};
}

DecodedByte decode_lead(StringState& state, std::uint8_t byte) {
  if (byte < 0xC2 || byte > 0xF4) {
    return {};
  }
  const std::uint8_t missing = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
  return unfinished(state, StringPhase::kUtf8, byte & (0x3F >> missing), missing);
}

DecodedByte decode_plain(StringCoding coding, StringState& state, std::uint8_t byte) {
  if (coding == StringCoding::kJson) {
    if (byte == '"') {
      return {Kind::kQuote};
    }
    if (byte == '\\') {
      return unfinished(state, StringPhase::kEscape, 0, 0);
    }
    if (byte < 0x20) {
      return {};
    }
  }
  return byte < 0x80 ? DecodedByte{Kind::kCodePoint, byte} : decode_lead(state, byte);
}

DecodedByte decode_utf8(StringState& state, std::uint8_t byte) {
  const std::uint32_t value = state.partial << 6 | (byte & 0x3F);
  // The first continuation byte decides whether the form is overlong or too large; afterwards the
  // limits of shorter sequences hold of themselves.
  const int shift = 6 * (state.missing - 1);
  const bool overlong = ((value + 1) << shift) <= smallest_utf8(state.missing);
  if ((byte & 0xC0) != 0x80 || overlong || (value << shift) > kMaxCodePoint) {
    return {};
  }
  if (state.missing > 1) {
    return unfinished(state, StringPhase::kUtf8, value, state.missing - 1);
  }
  return value >= kSurrogates && value < kSurrogatesEnd ? DecodedByte{} : complete(state, value);
}

DecodedByte decode_escape(StringState& state, std::uint8_t byte) {
  if (byte == 'u') {
    return unfinished(state, StringPhase::kHex, 0, 4);
  }
  const std::uint32_t code_point = short_escape(byte);
  return code_point == 0 ? DecodedByte{} : complete(state, code_point);
}

DecodedByte decode_hex(StringState& state, std::uint8_t byte) {
  const int digit = hex_digit(byte);
  if (digit == kNoDigit) {
    return {};
  }
  const std::uint32_t unit = state.partial << 4 | static_cast<std::uint32_t>(digit);
  if (state.missing > 1) {
    return unfinished(state, StringPhase::kHex, unit, state.missing - 1);
  }
  if (unit < kSurrogates || unit >= kSurrogatesEnd) {
    return complete(state, unit);
  }
  return unit < kLowSurrogates ? unfinished(state, StringPhase::kLow, unit - kSurrogates, 0)
                               : DecodedByte{};
}

DecodedByte decode_low_hex(StringState& state, std::uint8_t byte) {
  const int digit = hex_digit(byte);
  if (digit == kNoDigit) {
    return {};
  }
  const std::uint32_t digits = (state.partial & 0xFFFF) << 4 | static_cast<std::uint32_t>(digit);
  const std::uint32_t high = state.partial >> 16;
  if (state.missing > 1) {
    return unfinished(state, StringPhase::kLowHex, high << 16 | digits, state.missing - 1);
  }
  return digits < kLowSurrogates || digits >= kSurrogatesEnd
             ? DecodedByte{}
             : complete(state, kAstral + (high << 10) + (digits - kLowSurrogates));
}

}  // namespace

bool step_code_point(const StringLanguage& language, StringState& state, std::uint32_t code_point) {
  state.state = language.dfa().next(state.state, code_point);
  if (state.state == Dfa::kDead) {
    return false;
  }
  state.chars = chars_after(language, state.chars);
  return language.viable(state.state, state.chars);
}

std::vector<CharRange> completions(const StringState& state) {
  switch (state.phase) {
    case StringPhase::kPlain:
    case StringPhase::kEscape:
      return scalars(0, kMaxCodePoint);  // \u can spell any of them
    case StringPhase::kUtf8:
      return utf8_completions(state);
    case StringPhase::kHex:
      return hex_completions(state);
    case StringPhase::kLow:
    case StringPhase::kLowEscape:
      return {pairs(state.partial, state.partial)};
    case StringPhase::kLowHex:
      return low_hex_completions(state);
  }
  return {};
}

bool can_complete(const StringLanguage& language, const StringState& state) {
  return std::ranges::any_of(completions(state), [&](const CharRange& range) {
    return any_viable(language, state, range.low, range.high);
  });
}

DecodedByte decode_byte(StringCoding coding, StringState& state, std::uint8_t byte) {
  switch (state.phase) {
    case StringPhase::kPlain:
      return decode_plain(coding, state, byte);
    case StringPhase::kUtf8:
      return decode_utf8(state, byte);
    case StringPhase::kEscape:
      return decode_escape(state, byte);
    case StringPhase::kHex:
      return decode_hex(state, byte);
    case StringPhase::kLow:
      return byte == '\\' ? unfinished(state, StringPhase::kLowEscape, state.partial, 0)
                          : DecodedByte{};
    case StringPhase::kLowEscape:
      return byte == 'u' ? unfinished(state, StringPhase::kLowHex, state.partial << 16, 4)
                         : DecodedByte{};
    case StringPhase::kLowHex:
      return decode_low_hex(state, byte);
  }
  return {};
}

StringStep step(const StringLanguage& language, StringCoding coding, StringState& state,
                std::uint8_t byte) {
  const DecodedByte decoded = decode_byte(coding, state, byte);
  bool inside = false;
  switch (decoded.kind) {
    case Kind::kInvalid:
      break;
    case Kind::kQuote:
      return can_close(language, state) ? StringStep::kClosed : StringStep::kDead;
    case Kind::kCodePoint:
      inside = step_code_point(language, state, decoded.code_point);
      break;
    case Kind::kUnfinished:
      inside = can_complete(language, state);
      break;
  }
  return inside ? StringStep::kInside : StringStep::kDead;
}

}  // namespace daybreak::grammar
