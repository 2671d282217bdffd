// SPDX-License-Identifier: Apache-2.0
// Merging with the real K3 ranks against the definition, where K3 is known to be awkward.

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "testing/paths.h"
#include "tokenizer/byte_pair.h"
#include "tokenizer/plain_encoder.h"

namespace daybreak::tokenizer {
namespace {

class K3BytePair : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = daybreak::testing::shared_path("tokenizer/kimi-k3/tiktoken.model");
    DAYBREAK_SHARED_OR_SKIP(path);
    auto parsed = Vocabulary::parse(daybreak::testing::read_file(path));
    ASSERT_TRUE(parsed) << parsed.error().message;
    vocabulary = std::make_unique<Vocabulary>(*std::move(parsed));
  }

  void expect_plain(const std::string& piece) const {
    const std::vector<TokenId> expected = plain_merge(*vocabulary, piece);
    std::vector<TokenId> scanned;
    merge_by_scan(*vocabulary, piece, scanned);
    ASSERT_EQ(scanned, expected) << piece;
    std::vector<TokenId> heaped;
    merge_by_heap(*vocabulary, piece, heaped);
    ASSERT_EQ(heaped, expected) << piece;
  }

  std::unique_ptr<Vocabulary> vocabulary;
};

// Tokens of up to 256 spaces, many of them with a lower rank than their parts.
TEST_F(K3BytePair, EqualsTheDefinitionOnRuns) {
  for (const char unit : {' ', '-', '=', '\n', 'a'}) {
    for (const unsigned length : {1U,  2U,  3U,  4U,  5U,  7U,   8U,   9U,   15U,  16U,  17U,
                                  31U, 33U, 63U, 64U, 65U, 100U, 127U, 128U, 129U, 200U, 300U}) {
      expect_plain(std::string(length, unit));
    }
  }
  for (const std::size_t length : {255U, 256U, 257U, 511U, 513U, 600U}) {
    expect_plain(std::string(length, ' '));
  }
}

// Tokens that start or end inside a character, between whole ones: what an encoder that starts
// from whole characters gets wrong.
TEST_F(K3BytePair, EqualsTheDefinitionAroundPartsOfCharacters) {
  std::mt19937 random(17);
  std::size_t partial = 0;
  for (TokenId rank = 0; rank < vocabulary->size(); ++rank) {
    const std::string token(vocabulary->bytes_of(rank));
    if (is_valid_utf8(token)) {
      continue;
    }
    ++partial;
    for (int round = 0; round < 3; ++round) {
      const auto any = [&] {
        return std::string(
            vocabulary->bytes_of(static_cast<TokenId>(random() % vocabulary->size())));
      };
      expect_plain(any() + token + any());
      expect_plain(token + any().substr(0, 2));
    }
  }
  EXPECT_EQ(partial, 1172U);
}

}  // namespace
}  // namespace daybreak::tokenizer
