// SPDX-License-Identifier: Apache-2.0
// The ids beside the texts of a raw answer: however its tokens arrive, wherever it ends and
// whatever was held back, each id comes once, in order, and no text before its id.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "api/text_choice.h"
#include "base/rng.h"
#include "chat/output_shapes.h"

namespace daybreak::api {
namespace {

using Tokens = std::vector<engine::GeneratedToken>;

std::string text_of(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  tokenizer::StreamDecoder decoder(tokenizer);
  std::string out;
  for (const TokenId id : ids) {
    if (!tokenizer.skip_special(id)) {
      decoder.push_bytes(tokenizer.bytes_of(id), out);
    }
  }
  decoder.finish(out);
  return out;
}

struct Checker {
  const tokenizer::Tokenizer& tokenizer;
  std::size_t checked = 0;
  std::size_t held = 0;  // deltas whose ids are behind more text than they have

  // `cut`: where the tokens are divided; they arrive one by one if `singly`.
  void check(const Tokens& tokens, std::size_t cut, bool singly,
             const std::vector<std::string>& stop) {
    TextChoice choice(tokenizer,
                      {.stop = stop, .stop_ids = {}, .logprobs = 0, .prompt_logprobs = {}});
    std::vector<TextDelta> deltas;
    const auto push = [&](std::span<const engine::GeneratedToken> part) {
      for (std::size_t i = 0; singly && i < part.size(); ++i) {
        choice.push(part.subspan(i, 1), deltas);
      }
      if (!singly) {
        choice.push(part, deltas);
      }
    };
    push(std::span(tokens).first(cut));
    push(std::span(tokens).subspan(cut));
    choice.finish(engine::FinishReason::kLength, deltas);
    const std::vector<TokenId> consumed = first_ids(tokens, choice.completion_tokens());
    std::string text;
    std::vector<TokenId> ids;
    std::vector<TokenId> rated;
    for (const TextDelta& delta : deltas) {
      text += delta.text;
      ids.insert(ids.end(), delta.ids.begin(), delta.ids.end());
      for (const ScoredToken& token : delta.logprobs) {
        rated.push_back(token.id);
      }
      const std::string known = text_of(tokenizer, ids);
      ASSERT_TRUE(known.starts_with(text)) << "'" << text << "' before its ids: '" << known << "'";
      held += known.size() > text.size() ? 1 : 0;
    }
    ASSERT_EQ(ids, consumed);
    ASSERT_EQ(rated, consumed);
    ASSERT_EQ(choice.answer().ids, consumed);
    ASSERT_EQ(choice.answer().text, text);
    const std::string all = text_of(tokenizer, consumed);
    ASSERT_TRUE(choice.finish_reason() == "stop" ? all.starts_with(text) : all == text) << text;
    ++checked;
  }
  static std::vector<TokenId> first_ids(const Tokens& tokens, std::size_t count) {
    std::vector<TokenId> out;
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(tokens[i].id);
    }
    return out;
  }
};

TEST(TextChoiceIds, AreWithTheirTextWhereverAnAnswerIsCut) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  Checker checker{*tokenizer};
  Rng rng(3);
  const auto vocab = static_cast<std::uint32_t>(tokenizer->vocab_size());
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    // Single bytes, words and special tokens: characters cut anywhere, and broken ones.
    Tokens tokens;
    for (std::uint32_t i = rng.below(3) == 0 ? 1 : 12; i > 0; --i) {
      const std::uint32_t any = rng.below(rng.below(2) == 0 ? 256 : vocab);
      tokens.push_back({.id = any, .top = {}});
    }
    const std::string text = text_of(*tokenizer, Checker::first_ids(tokens, tokens.size()));
    std::vector<std::vector<std::string>> stops = {{}, {"\xEF\xBF\xBD"}, {"e", " t", "!"}};
    for (std::size_t at = 0; at + 2 <= text.size(); ++at) {
      stops.push_back({text.substr(at, 2)});             // is found
      stops.push_back({text.substr(at) + "and so on"});  // is held back until the end
    }
    for (const std::vector<std::string>& stop : stops) {
      for (std::size_t length = 0; length <= tokens.size(); ++length) {
        const Tokens answer(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(length));
        for (std::size_t cut = 0; cut <= length; ++cut) {
          checker.check(answer, cut, cut % 2 == 0, stop);
          if (::testing::Test::HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
  EXPECT_GT(checker.checked, 10'000U);
  EXPECT_GT(checker.held, 1'000U) << "nothing was held back";
}

}  // namespace
}  // namespace daybreak::api
