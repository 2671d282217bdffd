// SPDX-License-Identifier: Apache-2.0
#pragma once

// The small vocabulary of testdata/tokenizer and the plainest possible encoder over it. Test code
// only.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testing/paths.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace daybreak::tokenizer {

// Returns the tokenizer of testdata/tokenizer, or fails the test and returns null.
inline std::shared_ptr<const Tokenizer> test_tokenizer() {
  auto loaded = Tokenizer::load(daybreak::testing::source_path("testdata/tokenizer"));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? *std::move(loaded) : nullptr;
}

// Returns the vocabulary of testdata/tokenizer.
inline Result<Vocabulary> test_vocabulary() {
  return Vocabulary::parse(daybreak::testing::read_file(
      daybreak::testing::source_path("testdata/tokenizer/tiktoken.model")));
}

// The definition of merging: strings of bytes, all pairs tried every time.
inline std::vector<TokenId> plain_merge(const Vocabulary& vocabulary, std::string_view piece) {
  std::vector<std::string> parts;
  for (const char byte : piece) {
    parts.emplace_back(1, byte);
  }
  for (;;) {
    TokenId best = Vocabulary::kNone;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const TokenId joined = vocabulary.find(parts[i] + parts[i + 1]);
      if (joined < best) {
        best = joined;
        at = i;
      }
    }
    if (best == Vocabulary::kNone) {
      break;
    }
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<TokenId> ids;
  for (const std::string& part : parts) {
    ids.push_back(vocabulary.find(part));
  }
  return ids;
}

}  // namespace daybreak::tokenizer
