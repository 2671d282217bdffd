// SPDX-License-Identifier: Apache-2.0
// Patterns as node's RegExp reads them, made by tools/make_regex_goldens.mjs.

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

#include "base/json_tree.h"
#include "grammar/regex.h"
#include "testing/paths.h"

namespace daybreak::grammar {
namespace {

TEST(RegexGolden, MatchesAsNodeDoes) {
  std::istringstream in(testing::read_file(testing::source_path("golden/grammar/regex.jsonl")));
  std::size_t strings = 0;
  std::size_t patterns = 0;
  for (std::string line; std::getline(in, line); ++patterns) {
    const auto golden = parse_json_tree(line);
    ASSERT_TRUE(golden) << golden.error().message;
    const std::string& pattern = golden->find("pattern")->text;
    Budget budget(10'000'000);
    const Result<Dfa> language = compile_regex(pattern, RegexMatch::kSearch, budget);
    ASSERT_TRUE(language) << pattern << ": " << language.error().message;
    for (const char* list : {"matches", "others"}) {
      for (const JsonNode& text : golden->find(list)->items) {
        EXPECT_EQ(language->contains(text.text), list == std::string("matches"))
            << pattern << " on " << text.raw;
        ++strings;
      }
    }
  }
  EXPECT_EQ(patterns, 260U);
  EXPECT_GT(strings, 2000U);
  std::cout << "PROOF regex_node: " << patterns << " patterns on " << strings << " strings\n";
}

}  // namespace
}  // namespace daybreak::grammar
