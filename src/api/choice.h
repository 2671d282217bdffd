// SPDX-License-Identifier: Apache-2.0
#pragma once

// Choice: one answer in the making. Token ids go in, deltas come out; the same deltas added up are
// the one-shot message, so the two forms of a reply cannot differ.
//
//   ids -> OutputParser -> events -> stop strings (content only) -> deltas -> MessageBuilder

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/stop_matcher.h"
#include "chat/markers.h"
#include "chat/message_builder.h"
#include "chat/output_event.h"
#include "chat/output_parser.h"
#include "chat/response_json.h"
#include "chat/tool_call_id.h"
#include "engine/generator.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::api {

// One step of an answer: an event, or its end when `finish_reason` is set. A kReasoning event
// without text marks the end of the reasoning: it comes when the first other event does.
struct Delta {
  chat::OutputEvent event;
  std::string tool_call_id;                   // kToolCallBegin
  std::vector<chat::TokenLogprobs> logprobs;  // kContent: of the tokens behind it
  std::string_view finish_reason = {};
  std::string stop_string = {};  // at the end: the one that was found, if that ended the answer
  // The ids consumed since the delta before, markup included: over all deltas of an answer every
  // consumed id in order. What follows the last event is in the end. A kToolCallEnd has none, and
  // neither has an event for which none is left: one id can be behind several of them. See also
  // ChoiceOptions::ids_with_text.
  std::vector<TokenId> token_ids = {};
};

struct ChoiceOptions {
  chat::OutputParserOptions parser;
  std::vector<std::string> stop;        // on content only, never on reasoning or arguments
  std::vector<TokenId> stop_token_ids;  // the request's own: they end the answer, unseen
  bool logprobs = false;                // of content tokens
  bool keeps_logprobs = true;           // for completion(), beside giving them with the deltas
  // A token after the closed message ends the answer, since no more of it can be shown. The stop
  // token that should follow is thus still counted.
  bool ends_with_message = true;
  // Keeps each delta that clients see until the next one: then one without ids of its own, whose
  // text is the rest of a token, is joined to it, and so are the ids after the last one.
  bool ids_with_text = false;
  chat::RandomBits random;  // for tool call ids
  // Number of the first call where the ids are the vendor's: chat::ToolCallIds.
  std::optional<std::uint64_t> first_call_number = {};
};

// Not thread-safe. The tokenizer must outlive it.
class Choice {
 public:
  Choice(const tokenizer::Tokenizer& tokenizer, const chat::MarkerIds& markers,
         ChoiceOptions options);

  // Consumes generated tokens. Once finished() nothing more is consumed.
  void push(std::span<const engine::GeneratedToken> tokens, std::vector<Delta>& deltas);
  // Ends the answer. Does nothing once finished().
  void finish(chat::StopCause cause, std::vector<Delta>& deltas);

  // The last delta has been given: by finish(), a stop string, or a token after the message.
  [[nodiscard]] bool finished() const { return !finish_reason_.empty(); }
  [[nodiscard]] std::string_view finish_reason() const { return finish_reason_; }
  [[nodiscard]] std::size_t completion_tokens() const { return completion_tokens_; }
  [[nodiscard]] std::size_t reasoning_tokens() const { return parser_.reasoning_tokens(); }
  // Tokens whose log-probabilities were or may yet be given: those of the content.
  [[nodiscard]] std::size_t rated_tokens() const { return rated_tokens_ + undecided_.size(); }
  [[nodiscard]] const chat::OutputDrops& drops() const { return parser_.drops(); }
  // The whole answer so far; without log-probabilities unless they are kept.
  [[nodiscard]] chat::CompletionChoice completion(std::size_t index) const;

 private:
  void push_one(const engine::GeneratedToken& token, std::vector<Delta>& deltas);
  void finish_now(chat::StopCause cause, std::vector<Delta>& deltas);
  void add(Delta delta, std::vector<Delta>& deltas);
  void share_ids(std::span<Delta> deltas);
  void deliver(std::vector<Delta> step, std::vector<Delta>& deltas);
  void keep(Delta delta, std::vector<Delta>& deltas);
  void note_logprobs(const engine::GeneratedToken& token,
                     std::span<const chat::OutputEvent> events);
  void emit(chat::OutputEvent event, std::vector<Delta>& deltas);
  void emit_content(std::string text, std::vector<Delta>& deltas);
  void end(chat::StopCause cause, std::vector<Delta>& deltas);

  const tokenizer::Tokenizer& tokenizer_;
  chat::MarkerIds markers_;
  ChoiceOptions options_;
  chat::OutputParser parser_;
  StopMatcher stops_;
  chat::MessageBuilder message_;
  chat::ToolCallIds make_call_id_;
  std::vector<std::string> tool_call_ids_;
  std::vector<TokenId> undelivered_ids_;          // consumed since the last delta
  std::vector<chat::TokenLogprobs> logprobs_;     // of all content tokens
  std::vector<chat::TokenLogprobs> undelivered_;  // content tokens whose text is held back
  std::vector<chat::TokenLogprobs> undecided_;    // no event yet: content, or dropped text
  std::vector<Delta> kept_;  // with ids_with_text: a delta that clients see, and ends of calls
  std::vector<chat::OutputEvent> events_;
  std::size_t completion_tokens_ = 0;
  std::size_t rated_tokens_ = 0;  // without the undecided
  std::string_view finish_reason_;
  bool in_header_ = false;  // between an opening marker and its end
  bool thinking_ = false;   // the last event was reasoning
};

}  // namespace daybreak::api
