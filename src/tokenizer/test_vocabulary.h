// SPDX-License-Identifier: Apache-2.0
#pragma once

// The small vocabulary of testdata/tokenizer. Test code only.

#include <gtest/gtest.h>

#include <memory>

#include "testing/paths.h"
#include "tokenizer/plain_encoder.h"
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

}  // namespace daybreak::tokenizer
