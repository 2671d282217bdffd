// SPDX-License-Identifier: Apache-2.0
// The scanner against the pattern itself, run by a backtracking matcher.

#include <gtest/gtest.h>

#include <random>

#include "tokenizer/pre_tokenizer_oracle.h"

namespace daybreak::tokenizer {
namespace {

using reference::Symbol;

TEST(PreTokenizer, AgreesWithThePatternOnAllStringsOfFiveClasses) {
  check_all_strings(reference::kClassSymbols, 5);
}

TEST(PreTokenizer, AgreesWithThePatternOnAllStringsOfFourContractionLetters) {
  check_all_strings(reference::kContractionSymbols, 4);
}

TEST(PreTokenizer, AgreesWithThePatternOnLongRandomStrings) {
  std::vector<Symbol> alphabet(reference::kClassSymbols.begin(), reference::kClassSymbols.end());
  alphabet.insert(alphabet.end(), reference::kContractionSymbols.begin(),
                  reference::kContractionSymbols.end());
  alphabet.insert(alphabet.end(), reference::kRareSymbols.begin(), reference::kRareSymbols.end());
  const reference::Regex regex(reference::kK3Pattern);
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    // Few different symbols make long runs, which is where giving back matters.
    std::vector<Symbol> symbols;
    const Symbol some[] = {alphabet[random() % alphabet.size()],
                           alphabet[random() % alphabet.size()],
                           alphabet[random() % alphabet.size()]};
    const std::size_t length = 1 + random() % 40;
    for (std::size_t i = 0; i < length; ++i) {
      symbols.push_back(random() % 4 == 0 ? alphabet[random() % alphabet.size()]
                                          : some[random() % 3]);
    }
    for (std::size_t begin = 0; begin < symbols.size(); ++begin) {
      const std::vector<Symbol> rest(symbols.begin() + static_cast<std::ptrdiff_t>(begin),
                                     symbols.end());
      ASSERT_TRUE(first_pieces_agree(regex, rest)) << reference::text_of(rest);
    }
  }
}

}  // namespace
}  // namespace daybreak::tokenizer
