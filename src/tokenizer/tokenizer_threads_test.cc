// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "tokenizer/test_vocabulary.h"

namespace daybreak::tokenizer {
namespace {

TEST(Tokenizer, ThreadsShareOneWithoutLocks) {
  const auto tokenizer = test_tokenizer();
  ASSERT_NE(tokenizer, nullptr);
  const std::string text =
      "The quick brown fox <|open|>think<|sep|> \xE4\xBD\xA0\xE5\xA5\xBD 12345\n" +
      std::string(300, '-');
  std::vector<TokenId> expected;
  tokenizer->encode(text, AllowSpecial::kYes, Slicing::kOn, expected);
  std::vector<int> failures(4, 0);
  {
    std::vector<std::jthread> threads;
    for (int& failed : failures) {
      threads.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          std::vector<TokenId> ids;
          tokenizer->encode(text, AllowSpecial::kYes, Slicing::kOn, ids);
          failed += ids != expected || tokenizer->decode(ids) != text;
        }
      });
    }
  }
  EXPECT_EQ(failures, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace daybreak::tokenizer
