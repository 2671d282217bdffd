// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: whether a text belongs to rules without left recursion, by trying everything.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "grammar/expression.h"

namespace daybreak::grammar {

class TestRecognizer {
 public:
  explicit TestRecognizer(const RuleSet& rules) : rules_(rules) {}

  // REQUIRES: valid UTF-8.
  bool matches(std::string_view text) {
    text_ = text;
    known_.clear();
    return ends(*rules_.start, 0).contains(text.size());
  }
  // Whether a rule was seen to call itself without progress; matches() then says too little.
  [[nodiscard]] bool left_recursive() const { return left_recursive_; }

 private:
  using Ends = std::set<std::size_t>;
  using Kind = Expression::Kind;

  Ends ends(const Expression& e, std::size_t at) {
    switch (e.kind) {
      case Kind::kBytes:
        return text_.substr(at).starts_with(e.bytes) ? Ends{at + e.bytes.size()} : Ends{};
      case Kind::kChars: {
        if (at == text_.size()) {
          return {};
        }
        const CodePoint point = valid_code_point(text_, at);
        return e.chars.contains(point.value) ? Ends{at + point.length} : Ends{};
      }
      case Kind::kSequence: {
        Ends now{at};
        for (const auto& item : e.items) {
          now = step(*item, now);
        }
        return now;
      }
      case Kind::kChoice: {
        Ends all;
        for (const auto& item : e.items) {
          all.merge(ends(*item, at));
        }
        return all;
      }
      case Kind::kRepeat:
        return repeated(e, at);
      case Kind::kRule:
        return called(e.rule, at);
      default:
        return {};
    }
  }

  Ends step(const Expression& e, const Ends& from) {
    Ends all;
    for (const std::size_t at : from) {
      all.merge(ends(e, at));
    }
    return all;
  }

  Ends repeated(const Expression& e, std::size_t at) {
    Ends now{at};
    // More rounds than the text has bytes reach nothing new.
    const auto bound = static_cast<std::uint32_t>(text_.size() + 1);
    for (std::uint32_t i = 0; i < e.min && !now.empty(); ++i) {
      Ends after = step(*e.items.front(), now);
      if (i > bound && after == now) {
        break;
      }
      now = std::move(after);
    }
    Ends all = now;
    for (std::uint32_t i = e.min; i < e.max && i < e.min + bound && !now.empty(); ++i) {
      now = step(*e.items.front(), now);
      all.insert(now.begin(), now.end());
    }
    return all;
  }

  Ends called(std::uint32_t number, std::size_t at) {
    const auto [known, fresh] = known_.try_emplace({number, at});
    if (!fresh) {
      left_recursive_ = left_recursive_ || !known->second.first;
      return known->second.second;
    }
    Ends found = ends(*rules_.rules[number], at);
    known_[{number, at}] = {true, found};
    return found;
  }

  const RuleSet& rules_;
  std::string_view text_;
  std::map<std::pair<std::uint32_t, std::size_t>, std::pair<bool, Ends>> known_;
  bool left_recursive_ = false;
};

}  // namespace daybreak::grammar
