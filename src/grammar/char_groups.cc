// SPDX-License-Identifier: Apache-2.0
#include "grammar/char_groups.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <vector>

namespace daybreak::grammar {
namespace {

enum Group : std::uint8_t {
  kLower,
  kUpper,
  kDigit,
  kSpace,
  kHyphen,
  kUnderscore,
  kDot,
  kComma,
  kSlash,
  kColon,
  kAt,
  kAngle,
  kBracket,
  kPunctuation,  // the other ASCII punctuation
  kQuote,
  kBackslash,
  kLineBreak,     // what a dot does not match
  kBlankControl,  // the other ASCII white space
  kControl,
  kUpperControl,  // U+007F to U+009F
  kUnicodeSpace,  // what \s matches beyond ASCII, the line separators among them
  kLatin,
  kAlphabets,
  kHan,  // U+4E00 to U+9FA5, as patterns write it
  kEastAsian,
  kHangul,
  kOtherBmp,
  kAstral,
};
static_assert(kAstral + 1 == kCharGroups);

std::uint8_t ascii_group(std::uint32_t c) {
  const auto one_of = [c](std::string_view set) {
    return set.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (c >= 'a' && c <= 'z') {
    return kLower;
  }
  if (c >= 'A' && c <= 'Z') {
    return kUpper;
  }
  if (c >= '0' && c <= '9') {
    return kDigit;
  }
  constexpr std::string_view kSingle = " -_.,/:@";
  if (const auto at = kSingle.find(static_cast<char>(c)); at != std::string_view::npos) {
    return static_cast<std::uint8_t>(kSpace + at);
  }
  return one_of("<>")       ? kAngle
         : one_of("()[]{}") ? kBracket
         : c == '"'         ? kQuote
         : c == '\\'        ? kBackslash
         : one_of("\n\r")   ? kLineBreak
         : one_of("\t\v\f") ? kBlankControl
         : c < 0x20         ? kControl
         : c == 0x7F        ? kUpperControl
                            : kPunctuation;
}

// Where a group beyond ASCII begins.
struct Start {
  std::uint32_t low;
  Group group;
};
constexpr Start kStarts[] = {
    {0x80, kUpperControl},   {0xA0, kUnicodeSpace},   {0xA1, kLatin},
    {0x250, kAlphabets},     {0x1680, kUnicodeSpace}, {0x1681, kAlphabets},
    {0x2000, kUnicodeSpace}, {0x200B, kAlphabets},    {0x2028, kUnicodeSpace},
    {0x202A, kAlphabets},    {0x202F, kUnicodeSpace}, {0x2030, kAlphabets},
    {0x205F, kUnicodeSpace}, {0x2060, kAlphabets},    {0x2E80, kEastAsian},
    {0x3000, kUnicodeSpace}, {0x3001, kEastAsian},    {0x4E00, kHan},
    {0x9FA6, kEastAsian},    {0xA000, kOtherBmp},     {0xAC00, kHangul},
    {0xD7A4, kOtherBmp},     {0xE000, kOtherBmp},     {0xFEFF, kUnicodeSpace},
    {0xFF00, kOtherBmp},     {0x10000, kAstral},
};
constexpr std::uint32_t kHighestBeforeSurrogates = 0xD7FF;

std::vector<CharGroupRange> make_ranges() {
  std::vector<CharGroupRange> ranges;
  for (std::uint32_t c = 0; c < 0x80; ++c) {
    const std::uint8_t group = ascii_group(c);
    if (!ranges.empty() && ranges.back().group == group) {
      ranges.back().high = c;
    } else {
      ranges.push_back({c, c, group});
    }
  }
  for (std::size_t i = 0; i < std::size(kStarts); ++i) {
    const std::uint32_t next = i + 1 < std::size(kStarts) ? kStarts[i + 1].low : kMaxCodePoint + 1;
    const std::uint32_t high = next == 0xE000 ? kHighestBeforeSurrogates : next - 1;
    ranges.push_back({kStarts[i].low, high, kStarts[i].group});
  }
  return ranges;
}

const std::vector<CharGroupRange>& ranges() {
  static const std::vector<CharGroupRange> kRanges = make_ranges();
  return kRanges;
}

std::array<std::uint32_t, kCharGroups> make_sizes() {
  std::array<std::uint32_t, kCharGroups> sizes{};
  for (const CharGroupRange& range : ranges()) {
    sizes[range.group] += range.high - range.low + 1;
  }
  return sizes;
}

}  // namespace

std::span<const CharGroupRange> char_group_ranges() { return ranges(); }

std::size_t char_group_range_at(std::uint32_t code_point) {
  const auto at = std::ranges::lower_bound(ranges(), code_point, {}, &CharGroupRange::high);
  return static_cast<std::size_t>(at - ranges().begin());
}

std::uint8_t char_group_of(std::uint32_t code_point) {
  const std::size_t at = char_group_range_at(code_point);
  assert(at < ranges().size() && ranges()[at].low <= code_point);
  return ranges()[at].group;
}

const std::array<std::uint32_t, kCharGroups>& char_group_sizes() {
  static const std::array<std::uint32_t, kCharGroups> kSizes = make_sizes();
  return kSizes;
}

GroupMask non_ascii_groups() {
  constexpr GroupMask kFromUpperControl = kAllGroups & ~((GroupMask{1} << kUpperControl) - 1);
  return kFromUpperControl;
}

}  // namespace daybreak::grammar
