// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/utf8.h"

namespace daybreak::tokenizer {
namespace {

using Pieces = std::vector<std::string>;

Pieces pieces_of(const std::string& text) {
  Pieces pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = piece_end(text, begin);
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

// Each row names the rule it pins; worked by hand from the pattern.
TEST(PreTokenizer, SplitsAsThePatternSays) {
  struct Row {
    const char* rule;
    std::string text;
    Pieces pieces;
  };
  const Row rows[] = {
      {"Han runs end at other scripts", "hello你好world", {"hello", "你好", "world"}},
      {"々 and 〇 are Han, ー is not", "々〇カー", {"々〇", "カー"}},
      {"Han symbols and numerals are Han too", "⺀中〇", {"⺀中〇"}},
      {"a symbol run takes up Han symbols", "!⺀!", {"!⺀!"}},
      {"digits take up Han numerals", "1〇23", {"1〇2", "3"}},
      {"a word takes one leading character", "(hello) \"x", {"(hello", ")", " \"", "x"}},
      {"the leading character is never a line break", "\nab", {"\n", "ab"}},
      {"the leading character may be any space", "\tab\u00a0cd", {"\tab", "\u00a0cd"}},
      {"upper then lower", "HTTPServer iPhone", {"HTTPServer", " i", "Phone"}},
      {"upper gives back nothing it need not", "ABCd", {"ABCd"}},
      {"upper gives back to the last shared letter", "AאBC", {"Aא", "BC"}},
      {"two shared letters", "אאB", {"אא", "B"}},
      {"a mark leads, if a word follows it", "\u0301ab", {"\u0301ab"}},
      {"a mark before capitals is a word alone", "\u0301AB", {"\u0301", "AB"}},
      {"two marks: the first leads", "\u0301\u0301A", {"\u0301\u0301", "A"}},
      {"marks inside a word", "e\u0301a", {"e\u0301a"}},
      {"contractions, any case", "it's IT'S we'RE o'Ll", {"it's", " IT'S", " we'RE", " o'Ll"}},
      {"long s folds to s", "a'\u017f!", {"a'\u017f", "!"}},
      {"other apostrophes do not count", "it’s", {"it", "’s"}},
      {"a contraction needs a word", " 's 1's", {" '", "s", " ", "1", "'s"}},
      {"what is no contraction leads a word", "a'sb a'rx", {"a's", "b", " a", "'rx"}},
      {"a contraction may end the text early", "a' a'r", {"a", "'", " a", "'r"}},
      {"digits in threes from the left", "1234567", {"123", "456", "7"}},
      {"other numbers are digits", "Ⅷ½²①", {"Ⅷ½²", "①"}},
      {"symbols take one space and line breaks", "a +=\r\n\nb", {"a", " +=\r\n\n", "b"}},
      {"the one space is U+0020", "\u00a0+", {"\u00a0", "+"}},
      {"whitespace ends after its last line break", " \n \n  b", {" \n \n", " ", " b"}},
      {"whitespace leaves one to what follows", "a    b", {"a", "   ", " b"}},
      {"also to what cannot take it", "a   1", {"a", "  ", " ", "1"}},
      {"but not at the end", "hello   ", {"hello", "   "}},
      {"U+001C is no whitespace", "a\x1c\x1c b", {"a", "\x1c\x1c", " b"}},
      {"U+0085 and U+2028 are", "a\u0085\u2028b", {"a", "\u0085", "\u2028b"}},
      {"emoji with joiners", "👩‍💻 x", {"👩‍💻", " x"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(pieces_of(row.text), row.pieces) << row.rule;
  }
}

// A quadratic scanner would take hours here; the test runner's timeout is the gate.
TEST(PreTokenizer, TakesLinearTimeOnRunsOfAnyClass) {
  constexpr std::size_t kRepeats = 1'000'000;
  for (const std::string unit : {"a", "A", "א", "\u0301", "1", " ", "\n", "\t", "!", "你", "'",
                                 "\r\n", "א'", "A\u0301", "\u0301A", " \n", "\n ", "  a", "'s"}) {
    std::string text;
    text.reserve(unit.size() * kRepeats);
    for (std::size_t i = 0; i < kRepeats; ++i) {
      text += unit;
    }
    std::size_t covered = 0;
    while (covered < text.size()) {
      const std::size_t end = piece_end(text, covered);
      ASSERT_GT(end, covered);
      covered = end;
    }
    EXPECT_EQ(covered, text.size());
  }
}

TEST(PreTokenizer, TakesLinearTimeWhereUpperHasToBeGivenBack) {
  // One shared letter, then capitals: the run is scanned, given back, and scanned again.
  std::string text = "א";
  text.append(1'000'000, 'A');
  EXPECT_EQ(pieces_of(text).size(), 2U);
  // A line break, then spaces up to a word.
  text = "\n" + std::string(1'000'000, ' ') + "b";
  EXPECT_EQ(pieces_of(text).size(), 3U);
}

}  // namespace
}  // namespace daybreak::tokenizer
