// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"
#include "chat/message_builder.h"
#include "chat/output_parser.h"
#include "chat/render.h"

namespace daybreak::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoMessages = R"({"messages":[]})";

chat::Message message(chat::Role role, std::string text) {
  chat::Message m;
  m.role = role;
  m.content.push_back(
      {.kind = chat::ContentPart::Kind::kText, .text = std::move(text), .url = {}, .size = {}});
  return m;
}

const char* role_name(chat::Role role) {
  switch (role) {
    case chat::Role::kSystem:
      return "system";
    case chat::Role::kUser:
      return "user";
    case chat::Role::kAssistant:
      return "assistant";
    case chat::Role::kTool:
      return "tool";
  }
  return "tool";
}

chat::StopCause stop_cause(engine::FinishReason reason) {
  switch (reason) {
    case engine::FinishReason::kStop:
      return chat::StopCause::kStopToken;
    case engine::FinishReason::kLength:
      return chat::StopCause::kLength;
    case engine::FinishReason::kCancelled:
    case engine::FinishReason::kError:
      return chat::StopCause::kCancelled;
  }
  return chat::StopCause::kCancelled;
}

}  // namespace

ChatSession::ChatSession(const tokenizer::Tokenizer& tokenizer, const chat::MarkerIds& markers,
                         engine::StepModel& model, ChatSettings settings)
    : tokenizer_(&tokenizer),
      markers_(markers),
      model_(&model),
      settings_(std::move(settings)),
      session_(model) {
  reset();
}

void ChatSession::reset() {
  session_.reset();
  request_.messages.clear();
  if (!settings_.system.empty()) {
    request_.messages.push_back(message(chat::Role::kSystem, repair_utf8(settings_.system)));
  }
}

Result<Turn> ChatSession::ask(const std::string& text, const TurnCallbacks& callbacks) {
  request_.messages.push_back(message(chat::Role::kUser, repair_utf8(text)));
  Result<Turn> turn = answer(callbacks);
  if (!turn || !turn->answered) {
    request_.messages.pop_back();
  }
  return turn;
}

Result<Turn> ChatSession::answer(const TurnCallbacks& callbacks) {
  request_.thinking = settings_.thinking;
  DAYBREAK_TRY(chat::Prompt prompt, chat::render(request_, *tokenizer_));
  const std::size_t context = model_->context_tokens();
  engine::GenerateRequest request;
  request.sampling = settings_.sampling;
  request.stop_ids = markers_.stop_ids();
  const std::size_t room = context - std::min(context, prompt.ids.size());
  request.max_tokens = std::max<std::size_t>(1, std::min(settings_.max_tokens, room));
  request.prompt = std::move(prompt.ids);

  chat::OutputParserOptions options;
  options.initial = prompt.initial;
  options.tools_allowed = false;
  chat::OutputParser parser(*tokenizer_, markers_, options);
  chat::MessageBuilder builder;
  std::vector<chat::OutputEvent> events;
  const auto deliver = [&] {
    for (const chat::OutputEvent& event : events) {
      builder.add(event);
      callbacks.on_event(event);
    }
    events.clear();
  };
  engine::SessionCallbacks session;
  session.on_prompt = [&](std::size_t done, std::size_t total) {
    callbacks.on_prompt(done, total);
    return !callbacks.interrupted();
  };
  session.on_token = [&](const engine::GeneratedToken& token) {
    parser.push(token.id, events);
    deliver();
    return !callbacks.interrupted();
  };
  DAYBREAK_TRY(const engine::SessionAnswer result, session_.generate(request, session));
  parser.finish(stop_cause(result.finish), events);
  deliver();
  const bool answered = result.usage.completion_tokens > 0;
  if (answered) {
    chat::Message reply = message(chat::Role::kAssistant, builder.message().content);
    reply.reasoning = builder.message().reasoning_content;
    request_.messages.push_back(std::move(reply));
  }
  return Turn{.finish = result.finish, .usage = result.usage, .answered = answered};
}

bool ChatSession::ignores_system() const {
  if (settings_.system.empty()) {
    return false;
  }
  if (request_.messages.empty() || request_.messages.front().role != chat::Role::kSystem) {
    return true;
  }
  std::string text;
  for (const chat::ContentPart& part : request_.messages.front().content) {
    text += part.text;
  }
  return text != repair_utf8(settings_.system);
}

engine::SavedSequence ChatSession::save() const {
  Json messages = Json::array();
  for (const chat::Message& m : request_.messages) {
    Json entry = {{"role", role_name(m.role)}};
    if (!m.reasoning.empty()) {
      entry["reasoning_content"] = m.reasoning;
    }
    std::string text;
    for (const chat::ContentPart& part : m.content) {
      text += part.text;
    }
    entry["content"] = std::move(text);
    messages.push_back(std::move(entry));
  }
  return {.text = Json{{"messages", std::move(messages)}}.dump(),
          .ids = std::vector<TokenId>(session_.processed().begin(), session_.processed().end()),
          .state = session_.save()};
}

Result<bool> ChatSession::restore(const engine::SavedSequence& saved) {
  std::vector<chat::Message> messages;
  if (saved.text != kNoMessages) {
    auto parsed = chat::parse_chat_request(saved.text);
    if (!parsed) {
      return Error{Errc::kCorrupt, "saved conversation: " + parsed.error().message};
    }
    messages = std::move(parsed->messages);
  }
  request_.messages = std::move(messages);
  return session_.restore(saved.state, saved.ids).has_value();
}

}  // namespace daybreak::cli
