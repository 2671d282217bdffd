// SPDX-License-Identifier: Apache-2.0
#include "api/text_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "chat/output_shapes.h"

namespace daybreak::api {
namespace {

class TextChoiceTest : public ::testing::Test {
 protected:
  TokenId token_of(std::string_view bytes) {
    for (TokenId id = 0; id < tokenizer_->vocab_size(); ++id) {
      if (tokenizer_->bytes_of(id) == bytes) {
        return id;
      }
    }
    ADD_FAILURE() << "no token of these bytes";
    return 0;
  }
  // The offsets of tokens with these bytes.
  std::vector<std::size_t> offsets(const std::vector<std::string>& pieces) {
    TextChoice choice(*tokenizer_,
                      {.stop = {}, .stop_ids = {}, .logprobs = 0, .prompt_logprobs = {}});
    std::vector<TextDelta> deltas;
    for (const std::string& piece : pieces) {
      const engine::GeneratedToken token{.id = token_of(piece), .top = {}};
      choice.push({&token, 1}, deltas);
    }
    choice.finish(engine::FinishReason::kLength, deltas);
    std::vector<std::size_t> out;
    for (const ScoredToken& token : choice.answer().logprobs) {
      out.push_back(token.offset);
    }
    return out;
  }

  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_ = chat::shapes::load_tokenizer();
};

TEST_F(TextChoiceTest, OffsetsCountTheCharactersThatBrokenBytesBecome) {
  using Offsets = std::vector<std::size_t>;
  // A character in two tokens: both are at its place.
  EXPECT_EQ(offsets({"a", "\xC3", "\xA9", "b"}), (Offsets{0, 1, 1, 2}));
  // One that is never completed becomes U+FFFD, before what follows it.
  EXPECT_EQ(offsets({"a", "\xC3", "b", "c"}), (Offsets{0, 1, 2, 3}));
  EXPECT_EQ(offsets({"\xC3", "\xC3", "a"}), (Offsets{0, 1, 2}));
  EXPECT_EQ(offsets({"\xE0", "\x80", "a"}), (Offsets{0, 1, 2}));
  EXPECT_EQ(offsets({"\xF0", "\x9F", "\x98", "\x80", "a"}), (Offsets{0, 0, 0, 0, 1}));
  // U+FFFD itself, in three tokens.
  EXPECT_EQ(offsets({"\xEF", "\xBF", "\xBD", "a"}), (Offsets{0, 0, 0, 1}));
}

TEST_F(TextChoiceTest, LogprobsThatAreNotKeptAreGivenAllTheSame) {
  for (const bool keeps : {false, true}) {
    TextChoice choice(*tokenizer_, {.stop = {},
                                    .stop_ids = {},
                                    .logprobs = 0,
                                    .keeps_logprobs = keeps,
                                    .prompt_logprobs = {}});
    std::vector<TextDelta> deltas;
    const engine::GeneratedToken token{.id = token_of("a"), .top = {}};
    choice.push({&token, 1}, deltas);
    choice.finish(engine::FinishReason::kLength, deltas);
    EXPECT_EQ(deltas.front().logprobs.size(), 1U);
    EXPECT_EQ(choice.answer().logprobs.size(), keeps ? 1U : 0U);
  }
}

}  // namespace
}  // namespace daybreak::api
