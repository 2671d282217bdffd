// SPDX-License-Identifier: Apache-2.0
#include "grammar/regex_classes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "tokenizer/char_class.h"

namespace daybreak::grammar {
namespace {

using tokenizer::CharClass;

// Code points of the pre-tokenizer's table with one class, as ranges.
struct TableRange {
  CharRange range;
  CharClass cls;
};

std::vector<TableRange> table_ranges() {
  std::vector<TableRange> out;
  for (std::uint32_t code = 0; code <= kMaxCodePoint; ++code) {
    const CharClass cls = tokenizer::char_class(code);
    if (!out.empty() && out.back().cls == cls) {
      out.back().range.high = code;
    } else {
      out.push_back({{code, code}, cls});
    }
  }
  return out;
}

template <class Predicate>
CharSet select(const std::vector<TableRange>& table, Predicate wanted) {
  std::vector<CharRange> ranges;
  for (const TableRange& entry : table) {
    if (wanted(entry.cls)) {
      ranges.push_back(entry.range);
    }
  }
  return CharSet(std::move(ranges));
}

// Lt: 31 letters such as U+01C5, and no more since Unicode 1.1.
CharSet titlecase() {
  return CharSet({{0x01C5, 0x01C5},
                  {0x01C8, 0x01C8},
                  {0x01CB, 0x01CB},
                  {0x01F2, 0x01F2},
                  {0x1F88, 0x1F8F},
                  {0x1F98, 0x1F9F},
                  {0x1FA8, 0x1FAF},
                  {0x1FBC, 0x1FBC},
                  {0x1FCC, 0x1FCC},
                  {0x1FFC, 0x1FFC}});
}

// Nd: the zeros of Unicode 16.0; nine more digits follow each.
constexpr std::array<std::uint32_t, 76> kZeros = {
    0x0030,  0x0660,  0x06F0,  0x07C0,  0x0966,  0x09E6,  0x0A66,  0x0AE6,  0x0B66,  0x0BE6,
    0x0C66,  0x0CE6,  0x0D66,  0x0DE6,  0x0E50,  0x0ED0,  0x0F20,  0x1040,  0x1090,  0x17E0,
    0x1810,  0x1946,  0x19D0,  0x1A80,  0x1A90,  0x1B50,  0x1BB0,  0x1C40,  0x1C50,  0xA620,
    0xA8D0,  0xA900,  0xA9D0,  0xA9F0,  0xAA50,  0xABF0,  0xFF10,  0x104A0, 0x10D30, 0x10D40,
    0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x116D0,
    0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50, 0x11DA0, 0x11F50, 0x16130,
    0x16A60, 0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6,
    0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0};

CharSet decimal_digits() {
  std::vector<CharRange> ranges;
  for (const std::uint32_t zero : kZeros) {
    ranges.push_back({zero, zero + 9});
  }
  return CharSet(std::move(ranges));
}

struct Property {
  std::vector<std::string_view> names;  // after General_Category= where `category`
  bool category;
  CharSet set;
};

std::vector<Property> make_properties() {
  using namespace tokenizer;
  const std::vector<TableRange> table = table_ranges();
  const auto with_bit = [&](CharClass bit) {
    return select(table, [bit](CharClass cls) { return (cls & bit) != 0; });
  };
  // Letters that the pattern counts as heads of words only are Lu or Lt, tails only are Ll.
  const auto exactly = [&](CharClass bits) {
    return select(table, [bits](CharClass cls) { return cls == bits; });
  };
  const CharSet upper = exactly(kLetter | kUpper).intersect(titlecase().complement());
  const CharSet lower = exactly(kLetter | kLower);
  return {
      {{"L", "Letter"}, true, with_bit(kLetter)},
      {{"LC", "Cased_Letter"}, true, upper.unite(lower).unite(titlecase())},
      {{"Lu", "Uppercase_Letter"}, true, upper},
      {{"Ll", "Lowercase_Letter"}, true, lower},
      {{"Lt", "Titlecase_Letter"}, true, titlecase()},
      {{"N", "Number"}, true, with_bit(kNumber)},
      {{"Nd", "Decimal_Number", "digit"}, true, decimal_digits()},
      {{"Script=Han", "sc=Han", "Script=Hani", "sc=Hani"}, false, with_bit(kHan)},
      {{"White_Space", "space"}, false, with_bit(kSpace)},
      {{"Any"}, false, CharSet::all()},
      {{"ASCII"}, false, CharSet({{0, 0x7F}})},
      {{"ASCII_Hex_Digit", "AHex"}, false, CharSet({{'0', '9'}, {'A', 'F'}, {'a', 'f'}})},
  };
}

}  // namespace

const CharSet& digit_class() {
  static const CharSet set({{'0', '9'}});
  return set;
}

const CharSet& word_class() {
  static const CharSet set({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
  return set;
}

const CharSet& space_class() {
  static const CharSet set({{0x09, 0x0D},
                            {0x20, 0x20},
                            {0xA0, 0xA0},
                            {0x1680, 0x1680},
                            {0x2000, 0x200A},
                            {0x2028, 0x2029},
                            {0x202F, 0x202F},
                            {0x205F, 0x205F},
                            {0x3000, 0x3000},
                            {0xFEFF, 0xFEFF}});
  return set;
}

const CharSet& dot_class() {
  static const CharSet set = CharSet({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}).complement();
  return set;
}

const CharSet* property_class(std::string_view name) {
  static const std::vector<Property> properties = make_properties();
  bool category_only = false;
  for (const std::string_view prefix : {"General_Category=", "gc="}) {
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      category_only = true;
      break;
    }
  }
  for (const Property& property : properties) {
    if ((property.category || !category_only) &&
        std::ranges::find(property.names, name) != property.names.end()) {
      return &property.set;
    }
  }
  return nullptr;
}

}  // namespace daybreak::grammar
