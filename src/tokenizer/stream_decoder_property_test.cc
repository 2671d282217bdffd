// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/test_vocabulary.h"

namespace daybreak::tokenizer {
namespace {

using Ids = std::vector<TokenId>;

TEST(StreamDecoder, AnyIdsStreamTheDecodedText) {
  const auto tokenizer = test_tokenizer();
  ASSERT_NE(tokenizer, nullptr);
  std::mt19937 random(13);
  for (int round = 0; round < 20'000; ++round) {
    Ids ids(random() % 12);
    for (TokenId& id : ids) {
      id = static_cast<TokenId>(random() % (tokenizer->vocab_size() + 3));
    }
    StreamDecoder decoder(*tokenizer);
    std::string streamed;
    for (const TokenId id : ids) {
      std::string out;
      decoder.push(id, out);
      ASSERT_TRUE(is_valid_utf8(out));
      streamed += out;
    }
    decoder.finish(streamed);
    ASSERT_EQ(streamed, tokenizer->decode(ids)) << ::testing::PrintToString(ids);
  }
}

// Decoding one character of n bytes from n single-byte tokens: nothing before the last.
TEST(StreamDecoder, EmitsOnlyCompleteCharacters) {
  const auto tokenizer = test_tokenizer();
  ASSERT_NE(tokenizer, nullptr);
  const auto vocabulary = test_vocabulary();
  ASSERT_TRUE(vocabulary);
  for (const std::string character : {"a", "é", "界", "𠮷"}) {
    StreamDecoder decoder(*tokenizer);
    std::string out;
    for (std::size_t i = 0; i < character.size(); ++i) {
      EXPECT_EQ(out, "");
      EXPECT_EQ(decoder.pending(), i > 0);
      decoder.push(vocabulary->byte_rank(static_cast<unsigned char>(character[i])), out);
    }
    EXPECT_EQ(out, character);
    EXPECT_FALSE(decoder.pending());
  }
}

TEST(StreamDecoder, ReplacesAtOnceWhatCannotBecomeValid) {
  const auto tokenizer = test_tokenizer();
  const auto vocabulary = test_vocabulary();
  ASSERT_TRUE(tokenizer != nullptr && vocabulary);
  StreamDecoder decoder(*tokenizer);
  std::string out;
  decoder.push(vocabulary->byte_rank(0xFF), out);
  EXPECT_EQ(out, kReplacementCharacter);
  decoder.push(vocabulary->byte_rank(0xE4), out);
  EXPECT_EQ(out, kReplacementCharacter);
  decoder.push(vocabulary->byte_rank('a'), out);
  EXPECT_EQ(out,
            "\xEF\xBF\xBD\xEF\xBF\xBD"
            "a");
  decoder.push(vocabulary->byte_rank(0xE4), out);
  decoder.finish(out);
  EXPECT_EQ(out,
            "\xEF\xBF\xBD\xEF\xBF\xBD"
            "a\xEF\xBF\xBD");
}

// A prompt may end inside a character; the answer's decoder has not seen it, so the rest of that
// character is not text of the answer and the prompt's bytes do not come back.
TEST(StreamDecoder, StartsFreshAfterAPromptThatEndsInsideACharacter) {
  const auto tokenizer = test_tokenizer();
  const auto vocabulary = test_vocabulary();
  ASSERT_TRUE(tokenizer != nullptr && vocabulary);
  StreamDecoder decoder(*tokenizer);
  std::string out;
  decoder.push(vocabulary->byte_rank(0xA0), out);  // the last byte of a character
  decoder.push(vocabulary->byte_rank('b'), out);
  EXPECT_EQ(out,
            "\xEF\xBF\xBD"
            "b");
}

}  // namespace
}  // namespace daybreak::tokenizer
