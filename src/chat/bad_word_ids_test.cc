// SPDX-License-Identifier: Apache-2.0
#include "chat/bad_word_ids.h"

#include <gtest/gtest.h>

#include "chat/output_shapes.h"

namespace daybreak::chat {
namespace {

std::vector<std::string> spelled(const std::vector<std::string>& words) {
  const auto tokenizer = shapes::load_tokenizer();
  std::vector<std::string> out;
  for (const auto& ids : bad_word_ids(words, *tokenizer)) {
    std::string text;
    for (const TokenId id : ids) {
      EXPECT_FALSE(tokenizer->is_special(id));
      text += tokenizer->bytes_of(id);
    }
    out.push_back(text);
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(BadWordIds, EachWordAtTheStartAndAfterASpace) {
  EXPECT_EQ(spelled({"hello", "x"}), (Texts{"hello", " hello", "x", " x"}));
}

TEST(BadWordIds, LeadingSpacesOfTheClientCountAsNeitherForm) {
  EXPECT_EQ(spelled({"  hello"}), (Texts{"hello", " hello"}));
  EXPECT_EQ(spelled({"a b "}), (Texts{"a b ", " a b "}));
}

TEST(BadWordIds, RepeatsAreLeftOut) {
  EXPECT_EQ(spelled({"hello", " hello"}), (Texts{"hello", " hello"}));
  EXPECT_TRUE(spelled({}).empty());
}

TEST(BadWordIds, MarkersAreText) {
  EXPECT_EQ(spelled({"<|open|>"}), (Texts{"<|open|>", " <|open|>"}));
}

}  // namespace
}  // namespace daybreak::chat
