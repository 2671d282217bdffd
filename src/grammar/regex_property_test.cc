// SPDX-License-Identifier: Apache-2.0
// Random patterns against a matcher that follows ECMA-262's own words: a recursive search for an
// end position, without automata.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "grammar/regex.h"
#include "grammar/regex_ast.h"
#include "grammar/regex_classes.h"

namespace daybreak::grammar {
namespace {

// All positions where a match of a node that begins at one of `from` may end. Sets instead of
// backtracking: which of several matches comes first does not matter here.
class Matcher {
 public:
  using Places = std::set<std::size_t>;
  Matcher(const RegexAst& ast, const std::u32string& text) : ast_(ast), text_(text) {}

  [[nodiscard]] bool search() const {
    for (std::size_t at = 0; at <= text_.size(); ++at) {
      if (!ends(ast_.root, {at}).empty()) {
        return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] bool word(std::size_t at) const {
    return at < text_.size() && word_class().contains(text_[at]);
  }

  [[nodiscard]] bool holds(const RegexNode& node, std::size_t at) const {
    switch (node.kind) {
      case RegexNode::Kind::kBegin:
        return at == 0;
      case RegexNode::Kind::kBoundary:
        return ((at > 0 && word(at - 1)) != word(at)) != node.negative;
      default:
        return ends(node.items[0], {at}).empty() == node.negative;
    }
  }

  [[nodiscard]] Places ends(std::uint32_t index, Places from) const {
    const RegexNode& node = ast_.nodes[index];
    Places out;
    switch (node.kind) {
      case RegexNode::Kind::kChars:
        for (const std::size_t at : from) {
          if (at < text_.size() && ast_.sets[node.set].contains(text_[at])) {
            out.insert(at + 1);
          }
        }
        return out;
      case RegexNode::Kind::kSequence:
        for (const std::uint32_t item : node.items) {
          from = ends(item, std::move(from));
        }
        return from;
      case RegexNode::Kind::kChoice:
        for (const std::uint32_t item : node.items) {
          out.merge(ends(item, from));
        }
        return out;
      case RegexNode::Kind::kRepeat: {
        std::uint32_t count = 0;
        for (; count < node.min; ++count) {
          from = ends(node.items[0], std::move(from));
        }
        out = from;
        // More rounds than positions find nothing new.
        for (; count < node.max && !from.empty() && count < node.min + text_.size(); ++count) {
          from = ends(node.items[0], std::move(from));
          out.insert(from.begin(), from.end());
        }
        return out;
      }
      default:
        for (const std::size_t at : from) {
          if (holds(node, at)) {
            out.insert(at);
          }
        }
        return out;
    }
  }

  const RegexAst& ast_;
  const std::u32string& text_;
};

std::string choice(Rng& rng, int depth);

std::string term(Rng& rng, int depth) {
  static const std::vector<std::string> chars = {"a", "b", ".", "[^a]", "\\w", "-", "[a-]", "\\n"};
  static const std::vector<std::string> assertions = {"^", "$", "\\b", "\\B"};
  static const std::vector<std::string> counts = {"*", "+", "?", "{2}", "{0,2}", "{2,}", "{1,3}?"};
  const std::uint32_t kind = rng.below(depth > 0 ? 10 : 5);
  if (kind == 8) {
    return (rng.below(2) == 0 ? "(?=" : "(?!") + choice(rng, depth - 1) + ")";
  }
  if (kind == 9) {
    return assertions[rng.below(4)];
  }
  std::string out = kind < 5 ? chars[rng.below(8)] : "(" + choice(rng, depth - 1) + ")";
  return rng.below(3) == 0 ? out + counts[rng.below(7)] : out;
}

std::string choice(Rng& rng, int depth) {
  std::string out;
  do {
    out += out.empty() ? "" : "|";
    for (std::uint32_t i = rng.below(4); i > 0; --i) {
      out += term(rng, depth);
    }
  } while (rng.below(4) == 0);
  return out;
}

TEST(RegexProperty, AgreesWithTheDefinitionOnShortStrings) {
  std::vector<std::u32string> texts = {U""};
  for (std::size_t i = 0; i < texts.size() && texts.size() < 500; ++i) {
    for (const char32_t c : U"ab-\n") {
      if (c != 0) {
        texts.push_back(texts[i] + c);
      }
    }
  }
  Rng rng(21);
  std::size_t matches = 0;
  for (int round = 0; round < 250; ++round) {
    const std::string pattern = choice(rng, 3);
    Budget budget(5'000'000);
    const Result<RegexAst> ast = parse_regex(pattern, budget);
    ASSERT_TRUE(ast) << pattern << ": " << ast.error().message;
    const Result<Dfa> language = compile_regex(pattern, RegexMatch::kSearch, budget);
    ASSERT_TRUE(language) << pattern << ": " << language.error().message;
    for (const std::u32string& text : texts) {
      const bool expected = Matcher(*ast, text).search();
      const std::string bytes(text.begin(), text.end());
      ASSERT_EQ(language->contains(bytes), expected) << pattern << " on '" << bytes << "'";
      matches += expected ? 1 : 0;
    }
  }
  EXPECT_GT(matches, 10'000U);
}

// whole(P|Q) is the union, (?=P$)Q the intersection, (?!P$) the complement. A pattern whose
// automata are too large is passed over; there are few.
TEST(RegexProperty, OperatorsAreOperationsOnLanguages) {
  Rng rng(22);
  int too_large = 0;
  for (int round = 0; round < 120; ++round) {
    const std::string p = "(?:" + choice(rng, 2) + ")";
    const std::string q = "(?:" + choice(rng, 2) + ")";
    const auto whole = [](const std::string& pattern) {
      Budget budget(1'000'000);
      return compile_regex(pattern, RegexMatch::kWhole, budget);
    };
    Budget budget(1'000'000);
    const auto a = whole(p);
    const auto b = whole(q);
    if (!a || !b) {
      ++too_large;
      continue;
    }
    const std::vector<std::pair<Result<Dfa>, Result<Dfa>>> equal = {
        {whole(p + "|" + q), a->unite(*b, budget)},
        {whole("(?=" + p + "$)" + q), a->intersect(*b, budget)},
        {whole("(?!" + p + "$)[^]*"), a->complement(budget)},
        {whole(p + "{2,}"), whole(p + p + "+")},
        {whole(p + "{0,2}"), whole("(?:" + p + p + "?)?")},
        {compile_regex(p, RegexMatch::kSearch, budget), whole("[^]*" + p + "[^]*")},
    };
    for (std::size_t i = 0; i < equal.size(); ++i) {
      const auto& [left, right] = equal[i];
      if (!left || !right) {
        ++too_large;
        RecordProperty("too_large_" + std::to_string(round), p + " " + q);
        continue;
      }
      ASSERT_EQ(*left, *right) << i << ": " << p << " " << q;
    }
  }
  EXPECT_LT(too_large, 12);
}

}  // namespace
}  // namespace daybreak::grammar
