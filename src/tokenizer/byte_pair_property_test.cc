// SPDX-License-Identifier: Apache-2.0
// Both ways of merging against the definition.

#include <gtest/gtest.h>

#include <random>

#include "tokenizer/byte_pair.h"
#include "tokenizer/test_vocabulary.h"

namespace daybreak::tokenizer {
namespace {

using Ids = std::vector<TokenId>;

class BytePair : public ::testing::Test {
 protected:
  void SetUp() override {
    auto parsed = test_vocabulary();
    ASSERT_TRUE(parsed) << parsed.error().message;
    vocabulary = std::make_unique<Vocabulary>(*std::move(parsed));
  }

  void expect_plain(const std::string& piece) const {
    const Ids expected = plain_merge(*vocabulary, piece);
    Ids scanned;
    merge_by_scan(*vocabulary, piece, scanned);
    ASSERT_EQ(scanned, expected) << piece;
    Ids heaped;
    merge_by_heap(*vocabulary, piece, heaped);
    ASSERT_EQ(heaped, expected) << piece;
    Ids encoded{7};  // appended to
    encode_piece(*vocabulary, piece, encoded);
    const TokenId whole = vocabulary->find(piece);
    Ids with_shortcut = whole == Vocabulary::kNone ? expected : Ids{whole};
    with_shortcut.insert(with_shortcut.begin(), 7);
    ASSERT_EQ(encoded, with_shortcut) << piece;
  }

  std::unique_ptr<Vocabulary> vocabulary;
};

TEST_F(BytePair, RanksOfTheTestVocabularyAreNotMonotone) {
  std::size_t lower_than_a_part = 0;
  std::size_t unreachable = 0;
  for (TokenId rank = 0; rank < vocabulary->size(); ++rank) {
    const std::string_view token = vocabulary->bytes_of(rank);
    for (std::size_t cut = 1; cut < token.size(); ++cut) {
      const TokenId left = vocabulary->find(token.substr(0, cut));
      const TokenId right = vocabulary->find(token.substr(cut));
      lower_than_a_part +=
          left != Vocabulary::kNone && right != Vocabulary::kNone && (rank < left || rank < right);
    }
    unreachable += plain_merge(*vocabulary, token) != Ids{rank};
  }
  EXPECT_GT(lower_than_a_part, 20U);
  EXPECT_EQ(unreachable, 3U);  // what only the look-up of whole pieces finds
}

TEST_F(BytePair, EqualsTheDefinitionOnEveryToken) {
  for (TokenId rank = 0; rank < vocabulary->size(); ++rank) {
    expect_plain(std::string(vocabulary->bytes_of(rank)));
  }
}

TEST_F(BytePair, EqualsTheDefinitionOnRunsOfEveryLength) {
  for (const std::string unit : {" ", "-", "a", "\n", "\t", "世", "!", "世界", "カタ"}) {
    std::string piece;
    for (int n = 1; n <= 90; ++n) {
      piece += unit;
      expect_plain(piece);
    }
  }
}

TEST_F(BytePair, EqualsTheDefinitionOnJoinedTokens) {
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::string piece;
    for (std::size_t parts = random() % 6; parts > 0; --parts) {
      // Cut tokens, so that merges start at odd places and inside characters.
      const std::string_view token =
          vocabulary->bytes_of(static_cast<TokenId>(random() % vocabulary->size()));
      const std::size_t cut = random() % token.size();
      piece += random() % 2 == 0 ? token.substr(cut) : token.substr(0, cut + 1);
    }
    expect_plain(piece);
  }
}

TEST_F(BytePair, ScanHandsOverToTheHeapPastItsLength) {
  for (const std::size_t length : {63U, 64U, 65U, 66U}) {
    expect_plain(std::string(length, 'a'));
    expect_plain(std::string(length, '\x80'));
  }
}

}  // namespace
}  // namespace daybreak::tokenizer
