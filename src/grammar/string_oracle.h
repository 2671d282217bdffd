// SPDX-License-Identifier: Apache-2.0
#pragma once

// What may stand inside a string, by definition: the whole text is decoded from its beginning, and
// an unfinished code point is tried against the spellings of many. Test code only, slow.
// Long because: spelling, decoding and looking ahead are one definition.

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "grammar/string_lexer.h"

namespace daybreak::grammar {

class StringOracle {
 public:
  struct Answer {
    StringStep kind = StringStep::kDead;
    Dfa::State state = 0;   // at the quote, if kClosed
    std::string_view rest;  // after it
  };

  explicit StringOracle(const StringLanguage& language) : language_(language) {}

  // Code points that stand for all: an edge of a tested language holds, of every block between
  // these, all or nothing. Bytes of tested texts beyond ASCII are C3, A9, F0, 9F; hex digits 0 8 a
  // b c d.
  static const std::vector<std::uint32_t>& representatives() {
    static const std::vector<std::uint32_t> kAll = [] {
      std::vector<std::uint32_t> out;
      for (std::uint32_t c = 0; c < 0x800; ++c) {
        out.push_back(c);
      }
      const std::uint32_t digits[] = {0x0, 0x8, 0xA, 0xB, 0xC, 0xD};
      for (const std::uint32_t a : digits) {
        for (const std::uint32_t b : digits) {
          for (std::uint32_t i = 0; i < 36; ++i) {
            const std::uint32_t low = digits[i / 6] << 4 | digits[i % 6];
            const std::uint32_t unit = a << 12 | b << 8 | low;
            if (unit >= 0x800 && (unit < 0xD800 || unit >= 0xE000)) {
              out.push_back(unit);
            }
            if (unit >= 0xD800 && unit < 0xDC00) {
              for (std::uint32_t j = 0; j < 72; ++j) {
                const std::uint32_t pair = (j / 36) << 8 | digits[j / 6 % 6] << 4 | digits[j % 6];
                out.push_back(0x10000 + ((unit - 0xD800) << 10) + pair);
              }
            }
          }
        }
      }
      for (std::uint32_t c = 0; c < 0x1000; ++c) {
        out.push_back(0x1F000 + c);  // F0 9F
        out.push_back(0x29000 + c);  // F0 A9
      }
      return out;
    }();
    return kAll;
  }

  // Classifies a text that begins after the opening quote.
  Answer classify(StringCoding coding, std::string_view text) const {
    Dfa::State state = Dfa::kStart;
    std::uint32_t chars = 0;
    std::size_t at = 0;
    while (at < text.size()) {
      if (coding == StringCoding::kJson && text[at] == '"') {
        const bool accepts = language_.dfa().accepts(state) && chars >= language_.min_chars() &&
                             chars <= language_.max_chars();
        return accepts ? Answer{StringStep::kClosed, state, text.substr(at + 1)} : Answer{};
      }
      const auto code = decode(coding, text.substr(at));
      if (!code) {
        const std::string tail(text.substr(at));
        return {tail_viable(coding, tail, state, chars) ? StringStep::kInside : StringStep::kDead,
                0,
                {}};
      }
      state = language_.dfa().next(state, code->value);
      ++chars;
      at += code->length;
      if (state == Dfa::kDead) {
        return {};
      }
    }
    return {viable(state, chars) ? StringStep::kInside : StringStep::kDead, 0, {}};
  }

  // By trying all lengths.
  bool viable(Dfa::State state, std::uint32_t chars) const {
    const auto known = viable_.find({state, chars});
    if (known != viable_.end()) {
      return known->second;
    }
    bool& found = viable_[{state, chars}];
    std::set<Dfa::State> now{state};
    for (int steps = 0; steps < 64 && !found; ++steps, ++chars) {
      std::set<Dfa::State> next;
      for (const Dfa::State at : now) {
        found = found || (language_.dfa().accepts(at) && chars >= language_.min_chars() &&
                          chars <= language_.max_chars());
        for (const Dfa::Edge& edge : language_.dfa().edges(at)) {
          next.insert(edge.target);
        }
      }
      now.swap(next);
    }
    return found;
  }

 private:
  static std::string hex4(std::uint32_t unit) {
    std::string out = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      out += "0123456789abcdef"[unit >> shift & 15];
    }
    return out;
  }

  static std::vector<std::string> spellings(StringCoding coding, std::uint32_t c) {
    std::vector<std::string> out(1);
    append_utf8(c, out[0]);
    if (coding == StringCoding::kRaw) {
      return out;
    }
    if (c < 0x20 || c == '"' || c == '\\') {
      out.clear();  // not raw
    }
    out.push_back(c < 0x10000 ? hex4(c)
                              : hex4(0xD800 + ((c - 0x10000) >> 10)) + hex4(0xDC00 + (c & 0x3FF)));
    const std::string_view kNames = "\"\\/bfnrt";
    const std::string_view kMeaning = "\"\\/\b\f\n\r\t";
    if (const auto at = c < 0x80 ? kMeaning.find(static_cast<char>(c)) : kMeaning.npos;
        at != kMeaning.npos) {
      out.push_back(std::string("\\") + kNames[at]);
    }
    return out;
  }

  // Hex digits in one case; what is not an escape stays.
  static std::string normal(std::string_view text) {
    std::string out(text);
    for (std::size_t at = 2; at < out.size() && out[0] == '\\'; ++at) {
      if (out[at] != 'U') {
        out[at] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[at])));
      }
    }
    return out;
  }

  // Returns the code point that `text` begins with, if it is there as a whole.
  static std::optional<CodePoint> decode(StringCoding coding, std::string_view text) {
    if (coding == StringCoding::kRaw || text[0] != '\\') {
      const Utf8Step step = utf8_step(text, 0);
      const bool control =
          coding == StringCoding::kJson && static_cast<unsigned char>(text[0]) < 32;
      return step.kind == Utf8Step::Kind::kValid && !control
                 ? std::optional(CodePoint{step.code_point, step.length})
                 : std::nullopt;
    }
    static const std::map<std::string, std::uint32_t> kEscapes = [] {
      std::map<std::string, std::uint32_t> out;
      for (const std::uint32_t c : representatives()) {
        for (const std::string& spelling : spellings(StringCoding::kJson, c)) {
          if (spelling[0] == '\\') {
            out[spelling] = c;
          }
        }
      }
      return out;
    }();
    for (const std::uint32_t length : {2U, 6U, 12U}) {
      if (length <= text.size()) {
        const auto found = kEscapes.find(normal(text.substr(0, length)));
        if (found != kEscapes.end()) {
          return CodePoint{found->second, length};
        }
      }
    }
    return std::nullopt;
  }

  bool tail_viable(StringCoding coding, const std::string& tail, Dfa::State state,
                   std::uint32_t chars) const {
    // Every spelling, in order: those that begin with the tail stand together.
    using Spellings = std::vector<std::pair<std::string, std::uint32_t>>;
    static std::map<StringCoding, Spellings> all;
    Spellings& sorted = all[coding];
    if (sorted.empty()) {
      for (const std::uint32_t c : representatives()) {
        for (std::string& spelling : spellings(coding, c)) {
          sorted.emplace_back(std::move(spelling), c);
        }
      }
      std::ranges::sort(sorted);
    }
    const std::string prefix = normal(tail);
    const auto begin = std::ranges::lower_bound(sorted, prefix, {}, &Spellings::value_type::first);
    std::set<Dfa::State> nexts;
    for (auto at = begin; at != sorted.end() && at->first.starts_with(prefix); ++at) {
      nexts.insert(language_.dfa().next(state, at->second));
    }
    nexts.erase(Dfa::kDead);
    return std::ranges::any_of(nexts, [&](Dfa::State next) { return viable(next, chars + 1); });
  }

  const StringLanguage& language_;
  mutable std::map<std::pair<Dfa::State, std::uint32_t>, bool> viable_;
};

}  // namespace daybreak::grammar
