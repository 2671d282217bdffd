// SPDX-License-Identifier: Apache-2.0
// The exhaustive comparison one symbol further: 7.5 and 8.0 million strings.

#include <gtest/gtest.h>

#include "tokenizer/pre_tokenizer_oracle.h"

namespace daybreak::tokenizer {
namespace {

TEST(PreTokenizer, AgreesWithThePatternOnAllStringsOfSixClasses) {
  check_all_strings(reference::kClassSymbols, 6);
}

TEST(PreTokenizer, AgreesWithThePatternOnAllStringsOfFiveContractionLetters) {
  check_all_strings(reference::kContractionSymbols, 5);
}

}  // namespace
}  // namespace daybreak::tokenizer
