// SPDX-License-Identifier: Apache-2.0
#pragma once

// ChatSession: a conversation and the model state that belongs to it. Each turn renders the whole
// conversation; what the state has already processed of it is not computed again.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/markers.h"
#include "chat/output_event.h"
#include "engine/sequence_file.h"
#include "engine/session.h"
#include "engine/step_model.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {

// What `daybreak chat --session` keeps. Its text is JSON {"messages":[...]} in the form of the chat
// API.
inline constexpr engine::SequenceFileKind kSessionFile{"DAYBREAK-CHAT-1\n", "session",
                                                       "daybreak chat"};

struct ChatSettings {
  std::string system;  // empty: none
  chat::Thinking thinking;
  engine::SamplingParams sampling;
  std::size_t max_tokens = 0;  // of one answer; cut to what the context leaves
};

// What a turn tells while it runs.
struct TurnCallbacks {
  std::function<void(const chat::OutputEvent&)> on_event;
  std::function<void(std::size_t done, std::size_t total)> on_prompt;
  std::function<bool()> interrupted;  // asked after each token and between parts of the prompt
};

struct Turn {
  engine::FinishReason finish = engine::FinishReason::kStop;
  engine::Usage usage;
  bool answered = false;  // false: interrupted before the first token; the message is taken back
};

// Not thread-safe.
class ChatSession {
 public:
  // `tokenizer` and `model` must outlive the session.
  ChatSession(const tokenizer::Tokenizer& tokenizer, const chat::MarkerIds& markers,
              engine::StepModel& model, ChatSettings settings);

  // Adds the user's message and the model's answer to the conversation. On an error neither is
  // added. Errors: kTooLarge (the conversation fills the context), those of render and
  // Session::generate.
  Result<Turn> ask(const std::string& text, const TurnCallbacks& callbacks);

  // Forgets the conversation, except the system message.
  void reset();
  void set_thinking(chat::Thinking thinking) { settings_.thinking = thinking; }
  [[nodiscard]] std::size_t messages() const { return request_.messages.size(); }

  // Returns whether the settings name a system message that the conversation does not begin with,
  // as after restore().
  [[nodiscard]] bool ignores_system() const;

  [[nodiscard]] engine::SavedSequence save() const;

  // Takes a saved conversation over and, if it fits this model, its state. Returns whether it did:
  // without the state the next turn computes the conversation again.
  // Errors: kCorrupt if the conversation is not one; nothing changes then.
  Result<bool> restore(const engine::SavedSequence& saved);

 private:
  Result<Turn> answer(const TurnCallbacks& callbacks);

  const tokenizer::Tokenizer* tokenizer_;
  chat::MarkerIds markers_;
  engine::StepModel* model_;
  ChatSettings settings_;
  chat::ChatRequest request_;
  engine::Session session_;
};

}  // namespace daybreak::cli
