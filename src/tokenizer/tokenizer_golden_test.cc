// SPDX-License-Identifier: Apache-2.0
// The test vocabulary against ids computed by tools/make_test_vocab.py.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tokenizer/test_vocabulary.h"

namespace daybreak::tokenizer {
namespace {

using Ids = std::vector<TokenId>;

TEST(Tokenizer, GivesTheIdsOfAllGoldens) {
  const auto tokenizer = test_tokenizer();
  ASSERT_NE(tokenizer, nullptr);
  std::istringstream lines(
      daybreak::testing::read_file(daybreak::testing::source_path("golden/tokenizer/small.jsonl")));
  std::size_t cases = 0;
  for (std::string line; std::getline(lines, line); ++cases) {
    SCOPED_TRACE(line);
    const auto golden = nlohmann::json::parse(line);
    const auto text = golden["text"].get<std::string>();
    Ids ordinary;
    tokenizer->encode(text, AllowSpecial::kNo, Slicing::kOn, ordinary);
    EXPECT_EQ(ordinary, golden["ordinary"].get<Ids>());
    Ids special;
    tokenizer->encode(text, AllowSpecial::kYes, Slicing::kOff, special);
    EXPECT_EQ(special, golden["special"].get<Ids>());
    Ids capped;
    tokenizer->encode_sliced(text, AllowSpecial::kYes, {.max_chars = 11, .max_run = 4}, capped);
    EXPECT_EQ(capped, golden["capped"].get<Ids>());
    EXPECT_EQ(tokenizer->decode(ordinary), text);
    EXPECT_EQ(tokenizer->decode(special), text);
    EXPECT_EQ(tokenizer->decode(capped), text);
  }
  EXPECT_EQ(cases, 304U);
}

}  // namespace
}  // namespace daybreak::tokenizer
