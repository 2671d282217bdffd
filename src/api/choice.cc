// SPDX-License-Identifier: Apache-2.0
#include "api/choice.h"

#include <algorithm>
#include <utility>

namespace daybreak::api {

using chat::OutputEvent;
using chat::StopCause;
using Kind = OutputEvent::Kind;

Choice::Choice(const tokenizer::Tokenizer& tokenizer, const chat::MarkerIds& markers,
               ChoiceOptions options)
    : tokenizer_(tokenizer),
      markers_(markers),
      options_(std::move(options)),
      parser_(tokenizer, markers, options_.parser),
      stops_(options_.stop),
      make_call_id_(options_.random, options_.first_call_number) {}

void Choice::push(std::span<const engine::GeneratedToken> tokens, std::vector<Delta>& deltas) {
  for (const engine::GeneratedToken& token : tokens) {
    if (finished()) {
      return;
    }
    ++completion_tokens_;
    undelivered_ids_.push_back(token.id);
    std::vector<Delta> step;
    push_one(token, step);
    deliver(std::move(step), deltas);
  }
}

// Takes the deltas of one token, or of the end.
void Choice::deliver(std::vector<Delta> step, std::vector<Delta>& deltas) {
  share_ids(step);
  for (Delta& delta : step) {
    if (options_.ids_with_text) {
      keep(std::move(delta), deltas);
    } else {
      deltas.push_back(std::move(delta));
    }
  }
}

void Choice::keep(Delta delta, std::vector<Delta>& deltas) {
  const bool ends = !delta.finish_reason.empty();
  const bool shown = !ends && delta.event.kind != Kind::kToolCallEnd;
  Delta* const last = kept_.empty() ? nullptr : &kept_.front();
  if (shown && last != nullptr && delta.token_ids.empty() && !delta.event.text.empty() &&
      last->event.kind == delta.event.kind && last->event.index == delta.event.index) {
    last->event.text += delta.event.text;
    std::ranges::move(delta.logprobs, std::back_inserter(last->logprobs));
    return;
  }
  if (ends && last != nullptr) {
    const std::vector<TokenId> rest = std::exchange(delta.token_ids, {});
    last->token_ids.insert(last->token_ids.end(), rest.begin(), rest.end());
  }
  if (ends || shown) {
    std::ranges::move(std::exchange(kept_, {}), std::back_inserter(deltas));
  }
  if (ends || (!shown && kept_.empty())) {
    deltas.push_back(std::move(delta));
  } else {
    kept_.push_back(std::move(delta));
  }
}

void Choice::push_one(const engine::GeneratedToken& token, std::vector<Delta>& deltas) {
  if (!markers_.is_stop(token.id) &&
      std::ranges::find(options_.stop_token_ids, token.id) != options_.stop_token_ids.end()) {
    return;  // the request's own stop token is no text
  }
  if (parser_.done() && options_.ends_with_message && !markers_.is_stop(token.id)) {
    return finish_now(StopCause::kStopToken, deltas);
  }
  events_.clear();
  parser_.push(token.id, events_);
  if (options_.logprobs) {
    note_logprobs(token, events_);
  }
  for (OutputEvent& event : std::exchange(events_, {})) {
    emit(std::move(event), deltas);
    if (stops_.matched()) {
      return end(StopCause::kStopString, deltas);
    }
  }
}

// Decides whether a token is one of the content's. One that gives no event may hold the first bytes
// of a character (content), or be dropped text or markup (not content): the next event tells.
void Choice::note_logprobs(const engine::GeneratedToken& token,
                           std::span<const OutputEvent> events) {
  if (tokenizer_.is_special(token.id)) {
    in_header_ = token.id == markers_.open || token.id == markers_.close;
    undecided_.clear();
    return;
  }
  const bool content =
      std::ranges::any_of(events, [](const auto& e) { return e.kind == Kind::kContent; });
  if (!events.empty() && !content) {
    undecided_.clear();
    return;
  }
  if (in_header_) {
    return;
  }
  chat::TokenLogprobs entry{
      .bytes = std::string(tokenizer_.bytes_of(token.id)), .logprob = token.logprob, .top = {}};
  for (const engine::TokenLogprob& other : token.top) {
    entry.top.push_back({std::string(tokenizer_.bytes_of(other.id)), other.logprob});
  }
  undecided_.push_back(std::move(entry));
  if (content) {
    rated_tokens_ += undecided_.size();
    if (options_.keeps_logprobs) {
      logprobs_.insert(logprobs_.end(), undecided_.begin(), undecided_.end());
    }
    std::ranges::move(undecided_, std::back_inserter(undelivered_));
    undecided_.clear();
  }
}

void Choice::emit(OutputEvent event, std::vector<Delta>& deltas) {
  if (event.kind == Kind::kContent) {
    std::string certain;
    stops_.push(event.text, certain);
    return emit_content(std::move(certain), deltas);
  }
  // Content is interrupted: a stop string does not reach across a tool call.
  std::string held;
  stops_.flush(held);
  emit_content(std::move(held), deltas);
  message_.add(event);
  Delta delta{.event = std::move(event), .tool_call_id = {}, .logprobs = {}};
  if (delta.event.kind == Kind::kToolCallBegin) {
    delta.tool_call_id = make_call_id_.make(delta.event.name);
    tool_call_ids_.push_back(delta.tool_call_id);
  }
  add(std::move(delta), deltas);
}

void Choice::add(Delta delta, std::vector<Delta>& deltas) {
  const bool reasoning = delta.event.kind == Kind::kReasoning;
  if (thinking_ && !reasoning) {
    deltas.push_back({.event = {.kind = Kind::kReasoning, .text = {}, .name = {}},
                      .tool_call_id = {},
                      .logprobs = {}});
  }
  thinking_ = reasoning;
  deltas.push_back(std::move(delta));
}

// Gives the undelivered ids to the deltas of one step: to the first that clients see, except one to
// each that follows it.
void Choice::share_ids(std::span<Delta> deltas) {
  std::vector<Delta*> shown;
  for (Delta& delta : deltas) {
    if (delta.finish_reason.empty() && delta.event.kind != Kind::kToolCallEnd) {
      shown.push_back(&delta);
    }
  }
  if (shown.empty() && !deltas.empty() && !deltas.back().finish_reason.empty()) {
    shown.push_back(&deltas.back());
  }
  if (shown.empty() || undelivered_ids_.empty()) {
    return;
  }
  const std::vector<TokenId> ids = std::exchange(undelivered_ids_, {});
  const std::size_t others = std::min(shown.size() - 1, ids.size() - 1);
  const auto split = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() - others);
  shown[0]->token_ids.assign(ids.begin(), split);
  for (std::size_t i = 0; i < others; ++i) {
    shown[i + 1]->token_ids = {split[static_cast<std::ptrdiff_t>(i)]};
  }
}

void Choice::emit_content(std::string text, std::vector<Delta>& deltas) {
  if (text.empty()) {
    return;
  }
  Delta delta{.event = {.kind = Kind::kContent, .text = std::move(text), .name = {}},
              .tool_call_id = {},
              .logprobs = std::exchange(undelivered_, {})};
  message_.add(delta.event);
  add(std::move(delta), deltas);
}

void Choice::finish(StopCause cause, std::vector<Delta>& deltas) {
  if (finished()) {
    return;
  }
  std::vector<Delta> step;
  finish_now(cause, step);
  deliver(std::move(step), deltas);
}

void Choice::finish_now(StopCause cause, std::vector<Delta>& deltas) {
  if (cause == StopCause::kLength && parser_.done() && options_.ends_with_message) {
    cause = StopCause::kStopToken;  // only the stop token was cut off
  }
  events_.clear();
  parser_.finish(cause, events_);
  for (OutputEvent& event : std::exchange(events_, {})) {
    emit(std::move(event), deltas);
    if (stops_.matched()) {
      return end(StopCause::kStopString, deltas);
    }
  }
  std::string held;
  stops_.flush(held);
  emit_content(std::move(held), deltas);
  end(cause, deltas);
}

void Choice::end(StopCause cause, std::vector<Delta>& deltas) {
  if (!undelivered_.empty()) {  // the text of these tokens was part of a stop string
    add({.event = {.kind = Kind::kContent, .text = {}, .name = {}},
         .tool_call_id = {},
         .logprobs = std::exchange(undelivered_, {})},
        deltas);
  }
  finish_reason_ = chat::finish_reason(cause, parser_.completed_calls());
  deltas.push_back({.event = {},
                    .tool_call_id = {},
                    .logprobs = {},
                    .finish_reason = finish_reason_,
                    .stop_string = stops_.match()});
}

chat::CompletionChoice Choice::completion(std::size_t index) const {
  chat::CompletionChoice choice;
  choice.index = index;
  choice.message = message_.message();
  choice.tool_call_ids = tool_call_ids_;
  choice.finish_reason = finish_reason_;
  if (options_.logprobs && options_.keeps_logprobs) {
    choice.logprobs = logprobs_;
  }
  return choice;
}

}  // namespace daybreak::api
