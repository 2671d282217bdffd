// SPDX-License-Identifier: Apache-2.0
// The token ids behind the deltas of an answer, put together, are the ids that were generated, for
// every shape of output; every delta a client sees has some; the reasoning has a visible end.

#include <gtest/gtest.h>

#include <cstdio>

#include "api/choice.h"
#include "api/random.h"
#include "chat/output_shapes.h"

namespace daybreak::api {
namespace {

using chat::shapes::Shape;
using Kind = chat::OutputEvent::Kind;

struct Answer {
  std::vector<Delta> deltas;
  std::vector<TokenId> consumed;
};

Answer answer_of(const tokenizer::Tokenizer& tokenizer, const Shape& shape,
                 const std::vector<std::string>& stop, bool logprobs, std::size_t step,
                 bool ids_with_text = false) {
  ChoiceOptions options;
  options.parser = shape.options;
  options.stop = stop;
  options.logprobs = logprobs;
  options.ids_with_text = ids_with_text;
  options.random = random_bits;
  Choice choice(tokenizer, chat::shapes::load_markers(tokenizer), options);
  Answer out;
  std::vector<engine::GeneratedToken> tokens;
  for (const TokenId id : chat::shapes::encode(tokenizer, shape.text)) {
    tokens.push_back({.id = id, .top = {}});
  }
  for (std::size_t i = 0; i < tokens.size(); i += step) {
    choice.push(std::span(tokens).subspan(i, std::min(step, tokens.size() - i)), out.deltas);
  }
  choice.finish(shape.stop, out.deltas);
  for (std::size_t i = 0; i < choice.completion_tokens(); ++i) {
    out.consumed.push_back(tokens[i].id);
  }
  return out;
}

TEST(ChoiceIds, OfAllDeltasAreTheConsumedIdsAndNoneIsShownWithout) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  std::size_t shown = 0;
  for (const Shape& shape : chat::shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    for (const std::vector<std::string>& stop : {std::vector<std::string>{}, {"e", "l l"}, {" "}}) {
      for (const bool logprobs : {false, true}) {
        for (const std::size_t step : {1U, 3U, 1'000U}) {
          const Answer answer = answer_of(*tokenizer, shape, stop, logprobs, step);
          std::vector<TokenId> ids;
          for (const Delta& delta : answer.deltas) {
            ids.insert(ids.end(), delta.token_ids.begin(), delta.token_ids.end());
            if (delta.finish_reason.empty() && delta.event.kind != Kind::kToolCallEnd) {
              EXPECT_FALSE(delta.token_ids.empty())
                  << "kind " << static_cast<int>(delta.event.kind) << " '" << delta.event.text
                  << "' step " << step;
              ++shown;
            }
          }
          EXPECT_EQ(ids, answer.consumed);
        }
      }
    }
  }
  EXPECT_GT(shown, 1'000U);
}

// What all deltas say, however it is cut.
std::string joined(const std::vector<Delta>& deltas) {
  std::string out;
  for (const Delta& delta : deltas) {
    out += delta.event.text + delta.event.name + std::string(delta.finish_reason);
  }
  return out;
}

TEST(ChoiceIds, WithTextAreAllIdsAndEveryTextHasSome) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  std::size_t checked = 0;
  for (const Shape& shape : chat::shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    for (const std::vector<std::string>& stop :
         {std::vector<std::string>{}, {"e", "l l"}, {" "}, {"n\nx", "llo\x01", "t?"}}) {
      for (const std::size_t step : {1U, 3U, 1'000U}) {
        const Answer answer = answer_of(*tokenizer, shape, stop, true, step, true);
        EXPECT_EQ(joined(answer.deltas),
                  joined(answer_of(*tokenizer, shape, stop, true, step).deltas));
        std::vector<TokenId> ids;
        for (const Delta& delta : answer.deltas) {
          if (delta.finish_reason.empty()) {
            ids.insert(ids.end(), delta.token_ids.begin(), delta.token_ids.end());
            EXPECT_TRUE(!delta.token_ids.empty() || delta.event.kind == Kind::kToolCallEnd);
          }
        }
        if (answer.deltas.size() > 1) {  // else no delta that clients see could have them
          EXPECT_EQ(ids, answer.consumed);
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 100U);
}

TEST(ChoiceIds, ReasoningEndsWithAnEmptyDeltaWhenSomethingFollows) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  std::size_t ends = 0;
  for (const Shape& shape : chat::shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    bool thinking = false;
    bool ended = false;
    for (const Delta& delta : answer_of(*tokenizer, shape, {}, false, 1).deltas) {
      const bool reasoning = delta.event.kind == Kind::kReasoning;
      if (reasoning && delta.event.text.empty()) {
        EXPECT_TRUE(thinking) << "an end without a beginning";
        thinking = false;
        ++ends;
        ended = true;
        continue;
      }
      EXPECT_FALSE(ended && reasoning) << "an end amid the reasoning";
      ended = false;
      if (reasoning) {
        thinking = true;
      } else if (delta.finish_reason.empty()) {
        EXPECT_FALSE(thinking) << "no end before '" << delta.event.text << "'";
      }
    }
  }
  EXPECT_GT(ends, 10U);
}

}  // namespace
}  // namespace daybreak::api
