// SPDX-License-Identifier: Apache-2.0
#include "api/text_choice.h"

#include <algorithm>
#include <utility>

namespace daybreak::api {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// Of valid UTF-8.
std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

TextChoice::TextChoice(const tokenizer::Tokenizer& tokenizer, TextChoiceOptions options)
    : tokenizer_(tokenizer),
      options_(std::move(options)),
      decoder_(tokenizer),
      stops_(options_.stop) {}

void TextChoice::begin(std::span<const TokenId> prompt, std::vector<TextDelta>& deltas) {
  begun_ = true;
  if (!options_.echo) {
    return;
  }
  // With log-probabilities the rest comes as it is rated.
  const std::size_t known = options_.logprobs ? 1 : prompt.size();
  for (const TokenId id : prompt.first(std::min(known, prompt.size()))) {
    echo(id, std::nullopt, {});
  }
  deliver(deltas);
}

void TextChoice::rate(std::span<const engine::PromptLogprob> rated,
                      std::vector<TextDelta>& deltas) {
  for (const engine::PromptLogprob& one : rated) {
    if (options_.prompt_logprobs) {
      answer_.prompt_logprobs.push_back(one);
      std::vector<engine::TokenLogprob>& top = answer_.prompt_logprobs.back().top;
      top.resize(std::min(top.size(), *options_.prompt_logprobs));
    }
    if (options_.echo && options_.logprobs) {
      echo(one.id, one.logprob, one.top);
    }
  }
  deliver(deltas);
}

// The prompt is shown whole, special tokens too. A character that it begins and the answer ends is
// the answer's.
void TextChoice::echo(TokenId id, std::optional<float> logprob,
                      std::span<const engine::TokenLogprob> top) {
  const std::size_t offset = decode(id, next_.text);
  note({.id = id, .logprob = logprob, .top = {}, .offset = offset}, top);
}

void TextChoice::push(std::span<const engine::GeneratedToken> tokens,
                      std::vector<TextDelta>& deltas) {
  for (const engine::GeneratedToken& token : tokens) {
    if (finished()) {
      return;
    }
    push_one(token, deltas);
  }
}

void TextChoice::push_one(const engine::GeneratedToken& token, std::vector<TextDelta>& deltas) {
  next_.ids.push_back(token.id);
  answer_.ids.push_back(token.id);
  const bool ends = std::ranges::find(options_.stop_ids, token.id) != options_.stop_ids.end();
  const bool hidden = options_.skip_special_tokens && tokenizer_.skip_special(token.id);
  const bool shown = !ends && !hidden;
  std::string text;
  const std::size_t offset = shown ? decode(token.id, text) : code_points_;
  note({.id = token.id, .logprob = token.logprob, .top = {}, .offset = offset}, token.top);
  if (shown) {
    stops_.push(text, next_.text);
  }
  if (stops_.matched()) {
    return finish(engine::FinishReason::kStop, deltas);
  }
  deliver(deltas);
}

std::size_t TextChoice::decode(TokenId id, std::string& out) {
  const std::string_view bytes = tokenizer_.bytes_of(id);
  const std::size_t offset = code_points_ + (abandons_character(bytes) ? 1 : 0);
  const std::size_t before = out.size();
  decoder_.push_bytes(bytes, out);
  code_points_ += count_code_points(std::string_view(out).substr(before));
  return offset;
}

// Whether a character is held back that `bytes` do not go on with: it becomes one of its own.
bool TextChoice::abandons_character(std::string_view bytes) const {
  if (!decoder_.pending() || bytes.empty()) {
    return false;
  }
  tokenizer::StreamDecoder decoder = decoder_;
  std::string text;
  decoder.push_bytes(bytes.substr(0, 1), text);
  // One that goes on with it completes it or says nothing yet.
  const bool completes = !begins_character(bytes.front()) && count_code_points(text) == 1;
  return !text.empty() && !completes;
}

void TextChoice::note(ScoredToken token, std::span<const engine::TokenLogprob> top) {
  if (options_.logprobs) {
    next_.logprobs.push_back(std::move(token));
    const auto kept = top.first(std::min(top.size(), *options_.logprobs));
    next_.logprobs.back().top.assign(kept.begin(), kept.end());
  }
}

void TextChoice::finish(engine::FinishReason reason, std::vector<TextDelta>& deltas) {
  if (finished()) {
    return;
  }
  if (!stops_.matched()) {
    std::string tail;
    decoder_.finish(tail);
    stops_.push(tail, next_.text);
    stops_.flush(next_.text);
  }
  deliver(deltas);
  next_.finish_reason =
      reason == engine::FinishReason::kLength && !stops_.matched() ? "length" : "stop";
  deliver(deltas);
}

void TextChoice::deliver(std::vector<TextDelta>& deltas) {
  if (next_.text.empty() && next_.finish_reason.empty()) {
    return;
  }
  answer_.text += next_.text;
  if (options_.keeps_logprobs) {
    append(answer_.logprobs, next_.logprobs);
  }
  answer_.finish_reason = next_.finish_reason;
  deltas.push_back(std::exchange(next_, {}));
}

}  // namespace daybreak::api
