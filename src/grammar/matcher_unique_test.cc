// SPDX-License-Identifier: Apache-2.0
// uniqueItems and what a matcher keeps from one id to the next: places that read the same bytes but
// must not repeat the same values are not one place.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/grammar.h"
#include "grammar/message_rules.h"
#include "grammar/test_tokens.h"

namespace daybreak::grammar {
namespace {

// Reads `ids` one by one, and holds the mask before each, and after the last, to accept().
void expect_exact_masks(const TestTokens& tokens, std::string_view schema,
                        const std::vector<std::string_view>& ids) {
  const auto grammar = compile_schema(schema);
  ASSERT_TRUE(grammar) << grammar.error().message;
  const std::array<TokenId, 1> stop{tokens.eos};
  Matcher matcher(*grammar, tokens.index, stop);
  std::string so_far;
  for (std::size_t i = 0; i <= ids.size(); ++i) {
    const auto view = matcher.mask();
    const std::vector<std::uint32_t> mask(view.begin(), view.end());
    // A matcher of its own, so that this one keeps what it keeps.
    for (TokenId id = 0; id < tokens.size(); ++id) {
      Matcher other(*grammar, tokens.index, stop);
      ASSERT_TRUE(so_far.empty() || other.accept_bytes(so_far));
      EXPECT_EQ(mask_has(mask, id), other.accept(id)) << so_far << " then " << tokens.bytes(id);
    }
    if (i < ids.size()) {
      const std::vector<TokenId> next = tokens.ids(ids[i]);
      ASSERT_EQ(next.size(), 1U) << ids[i];
      ASSERT_TRUE(matcher.accept(next.front())) << so_far << " then " << ids[i];
      so_far += ids[i];
    }
  }
}

TEST(MatcherUnique, AMaskIsNotKeptFromOneNumberToTheNext) {
  const TestTokens tokens({",1]", ",10]", ",101]", ",\"", "e1"});
  for (const std::string_view items : {"integer", "number"}) {
    const std::string schema =
        R"({"type":"array","uniqueItems":true,"items":{"type":")" + std::string(items) + R"("}})";
    expect_exact_masks(tokens, schema, {"[", "1", "0", "1", ",", "1", "0"});
    expect_exact_masks(tokens, schema, {"[", "-", "1", ",", "1", "0", "1"});
  }
}

TEST(MatcherUnique, AnEmptyStringIsNotNull) {
  const TestTokens tokens({"],[\"\"", "],[null", ",\"\"", ",null", "[[null", "[[\"\""});
  constexpr std::string_view kSchema =
      R"({"items":{"type":"array","uniqueItems":true,"items":{"type":["null","string"]}},
          "type":"array"})";
  expect_exact_masks(tokens, kSchema, {"[[null", "],[\"\"", "],[null", ",\"\""});
  expect_exact_masks(tokens, kSchema, {"[[\"\"", "],[null", "],[\"\""});
}

}  // namespace
}  // namespace daybreak::grammar
