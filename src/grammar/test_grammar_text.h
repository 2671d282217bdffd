// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: what a grammar text accepts and refuses, and the error that is expected of another.

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/ebnf.h"
#include "grammar/test_recognizer.h"

namespace daybreak::grammar {

// A grammar text, texts of its language and texts outside of it.
struct GrammarCase {
  std::string_view grammar;
  std::vector<std::string_view> accepted;
  std::vector<std::string_view> refused;
};

inline void expect_language(const GrammarCase& test) {
  Budget budget(1'000'000);
  const auto rules = parse_grammar(test.grammar, budget);
  ASSERT_TRUE(rules) << test.grammar << "\n" << rules.error().message;
  TestRecognizer recognizer(*rules);
  for (const std::string_view text : test.accepted) {
    EXPECT_TRUE(recognizer.matches(text)) << test.grammar << "\naccepted: " << text;
  }
  for (const std::string_view text : test.refused) {
    EXPECT_FALSE(recognizer.matches(text)) << test.grammar << "\nrefused: " << text;
  }
  EXPECT_FALSE(recognizer.left_recursive()) << test.grammar;
}

inline void expect_error(std::string_view grammar, Errc code, std::string_view message) {
  Budget budget(1'000'000);
  const auto rules = parse_grammar(grammar, budget);
  ASSERT_FALSE(rules) << grammar;
  EXPECT_EQ(rules.error().message, message) << grammar;
  EXPECT_EQ(rules.error().code, code) << grammar;
}

}  // namespace daybreak::grammar
