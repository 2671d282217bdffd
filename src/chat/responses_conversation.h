// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the items of the Responses API to the messages of a chat. An answer is several items there
// and one message here: reasoning, text and calls that follow each other become one assistant
// message, and a new one begins with reasoning after text or calls, or with a second text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"
#include "chat/responses_item.h"

namespace daybreak::chat {

// Not thread-safe. `limits` and `ignored` must outlive it.
class ResponsesConversation {
 public:
  ResponsesConversation(const ChatLimits& limits, std::vector<std::string>& ignored)
      : limits_(limits), ignored_(ignored) {}

  void add_system(std::string text, std::string source);
  void add_user(std::string text, std::string source);
  // Adds one item; references have been resolved. Reasoning of another server, which cannot be
  // read, is left out and its path put into `ignored`.
  // Errors: kInvalidArgument "PATH: ...", also for items of tools this server does not have.
  Status add(const Field& item);

  // Ends the conversation. messages()[i] came from the field sources()[i].
  void finish() { close_assistant(); }
  [[nodiscard]] std::vector<Message>& messages() { return messages_; }
  [[nodiscard]] std::vector<std::string>& sources() { return sources_; }

 private:
  void push(Message message, std::string source);
  Message& assistant(const Field& item);
  void close_assistant();
  Status add_message(const Field& item);
  Status add_reasoning(const Field& item);
  Status add_call(const Field& item);
  Status add_output(const Field& item);

  const ChatLimits& limits_;
  std::vector<std::string>& ignored_;
  std::vector<Message> messages_;
  std::vector<std::string> sources_;
  Message open_;  // the assistant message in the making
  std::string open_source_;
  bool is_open_ = false;
};

// Returns the kind of an item: its "type", or what an item without one means. Errors:
// kInvalidArgument.
[[nodiscard]] Result<std::string> responses_item_type(const Field& item);

// Returns the item as it is kept and given back: a message gets its "type" and its text as parts.
// REQUIRES: ResponsesConversation::add() took it.
[[nodiscard]] ResponsesItem kept_item(const Field& item);

}  // namespace daybreak::chat
