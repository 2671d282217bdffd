// SPDX-License-Identifier: Apache-2.0
#pragma once

// TextChoice: one raw text in the making. Token ids go in, deltas come out; the same deltas added
// up are the one-shot answer. No structure is looked for in the text.
//
//   ids -> UTF-8 text -> stop strings (not in an echoed prompt) -> deltas

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/stop_matcher.h"
#include "engine/generator.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::api {

// One token of the text with its log-probability.
struct ScoredToken {
  TokenId id = 0;
  std::optional<float> logprob;           // unset for the first id of a prompt
  std::vector<engine::TokenLogprob> top;  // as asked for
  std::size_t offset = 0;  // code points before its text, or before the character it goes on with
};

// One step of a choice; its end when `finish_reason` is set.
struct TextDelta {
  std::string text;
  std::vector<TokenId> ids;           // generated
  std::vector<ScoredToken> logprobs;  // of the tokens since the last delta
  std::string_view finish_reason = {};
};

struct TextChoiceOptions {
  std::vector<std::string> stop;
  std::vector<TokenId> stop_ids;  // whichever ends the answer is no text
  bool skip_special_tokens = true;
  bool echo = false;
  std::optional<std::size_t> logprobs;         // alternatives to keep of each token
  bool keeps_logprobs = true;                  // for answer(), beside giving them with the deltas
  std::optional<std::size_t> prompt_logprobs;  // the same of the prompt's, for prompt_logprobs()
};

// What begin(), push() and finish() say, added up.
struct TextAnswer {
  std::string text;
  std::vector<TokenId> ids;
  std::vector<ScoredToken> logprobs;                   // if they are kept
  std::vector<engine::PromptLogprob> prompt_logprobs;  // of all ids of the prompt but the first
  std::string_view finish_reason;
};

// Not thread-safe. The tokenizer must outlive it.
class TextChoice {
 public:
  TextChoice(const tokenizer::Tokenizer& tokenizer, TextChoiceOptions options);

  // Says what the prompt is, before anything else.
  void begin(std::span<const TokenId> prompt, std::vector<TextDelta>& deltas);
  // Consumes log-probabilities of the prompt, in order, before any token.
  void rate(std::span<const engine::PromptLogprob> rated, std::vector<TextDelta>& deltas);
  // Consumes generated tokens. Once finished() nothing more is consumed.
  void push(std::span<const engine::GeneratedToken> tokens, std::vector<TextDelta>& deltas);
  // Ends the answer: "length" or "stop". Does nothing once finished().
  void finish(engine::FinishReason reason, std::vector<TextDelta>& deltas);

  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] bool finished() const { return !answer_.finish_reason.empty(); }
  [[nodiscard]] std::string_view finish_reason() const { return answer_.finish_reason; }
  [[nodiscard]] std::size_t completion_tokens() const { return answer_.ids.size(); }
  // Generated tokens whose log-probabilities were or may yet be given.
  [[nodiscard]] std::size_t rated_tokens() const {
    return options_.logprobs ? completion_tokens() : 0;
  }
  [[nodiscard]] const TextAnswer& answer() const { return answer_; }

 private:
  void push_one(const engine::GeneratedToken& token, std::vector<TextDelta>& deltas);
  void echo(TokenId id, std::optional<float> logprob, std::span<const engine::TokenLogprob> top);
  // Appends the characters that `id` completes to `out`. Returns its ScoredToken::offset.
  std::size_t decode(TokenId id, std::string& out);
  [[nodiscard]] bool abandons_character(std::string_view bytes) const;
  void note(ScoredToken token, std::span<const engine::TokenLogprob> top);
  // Gives what has gathered in next_, if that is some text or the end.
  void deliver(std::vector<TextDelta>& deltas);

  const tokenizer::Tokenizer& tokenizer_;
  TextChoiceOptions options_;
  tokenizer::StreamDecoder decoder_;
  StopMatcher stops_;
  TextAnswer answer_;
  TextDelta next_;
  std::size_t code_points_ = 0;  // decoded so far
  bool begun_ = false;
};

}  // namespace daybreak::api
