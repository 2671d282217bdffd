// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_turns.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "chat/anthropic_blocks.h"
#include "chat/anthropic_server_tools.h"
#include "chat/required_field.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();  // the body is bounded

// What a tool result that reports a failure begins with.
constexpr std::string_view kErrorPrefix = "Error: ";

// Claude Code opens its system prompt with a block for Anthropic's accounts, different in every
// request. The model has no use for it, and it would keep the prompt out of the prefix cache.
constexpr std::string_view kBillingHead = "x-anthropic-billing-header:";

ContentPart text_part(std::string_view text) {
  return {.text = std::string(text), .url = {}, .size = {}};
}

// Returns the blocks of a message, none for a string, which is appended to `parts` instead.
Result<std::vector<Field>> blocks_of(const Field& owner, std::string_view key,
                                     const ChatLimits& limits, std::vector<ContentPart>& parts) {
  static constexpr std::string_view kExpected = "a string or an array of content blocks";
  DAYBREAK_TRY(const Field content, required_field(owner, key, kExpected));
  if (content.is(JsonNode::Kind::kString)) {
    if (!content.node().text.empty()) {
      parts.push_back(text_part(content.node().text));
    }
    return std::vector<Field>();
  }
  return content.is(JsonNode::Kind::kArray) ? content.array(limits.max_parts)
                                            : content.expected(kExpected);
}

void append_part(std::vector<ContentPart>& parts, ContentPart part) {
  if (part.kind == ContentPart::Kind::kImage || !part.text.empty()) {
    parts.push_back(std::move(part));
  }
}

// Reads message by message; a turn is what one role says in a row.
class TurnReader {
 public:
  explicit TurnReader(const ChatLimits& limits) : limits_(limits) {}

  Status system(const Field& owner, std::string_view key) {
    end_turn();
    Message message;
    message.role = Role::kSystem;
    DAYBREAK_TRY(const auto blocks, blocks_of(owner, key, limits_, message.content));
    for (const Field& block : blocks) {
      DAYBREAK_TRY(const std::string_view type, block_type(block));
      if (type != "text") {
        return block.find("type")->expected("\"text\"");
      }
      DAYBREAK_TRY(ContentPart part, read_text_block(block));
      if (!part.text.starts_with(kBillingHead)) {
        append_part(message.content, std::move(part));
      }
    }
    if (!message.content.empty() || key == "content") {
      out_.messages.push_back(std::move(message));
    }
    return ok();
  }

  Status message(const Field& item) {
    DAYBREAK_CHECK_OK(item.object());
    static constexpr std::string_view kExpected = "\"user\", \"assistant\" or \"system\"";
    DAYBREAK_TRY(const Field role, required_field(item, "role", kExpected));
    if (role.node().text == "user") {
      return user(item);
    }
    if (role.node().text == "assistant") {
      return assistant(item);
    }
    return role.node().text == "system" ? system(item, "content") : role.expected(kExpected);
  }

  // Ends the conversation; `last` is its last message. One of the assistant is to be continued.
  Result<AnthropicTurns> finish(const Field& last) {
    if (assistant_) {
      if (!calls_.empty()) {
        return last.wrong("a message with tool_use blocks cannot be continued");
      }
      assistant_->partial = true;
    }
    end_turn();
    return std::move(out_);
  }

 private:
  void end_turn() {
    std::ranges::move(results_, std::back_inserter(out_.messages));
    std::ranges::move(said_, std::back_inserter(out_.messages));
    results_.clear();
    said_.clear();
    if (assistant_ && !ends_with_result()) {
      out_.messages.push_back(std::move(*assistant_));
    }
    assistant_.reset();
  }

  // Whether the turn of the assistant ends, so far, with the result of a server's tool.
  bool ends_with_result() const {
    return split_ && assistant_->content.empty() && assistant_->reasoning.empty() &&
           assistant_->tool_calls.empty();
  }

  Status user(const Field& item) {
    if (assistant_) {
      end_turn();
    }
    Message message;
    const std::size_t before = results_.size();
    DAYBREAK_TRY(const auto blocks, blocks_of(item, "content", limits_, message.content));
    for (const Field& block : blocks) {
      DAYBREAK_TRY(const std::string_view type, block_type(block));
      if (type == "tool_result") {
        DAYBREAK_CHECK_OK(tool_result(block));
        continue;
      }
      DAYBREAK_TRY(ContentPart part, user_part(block, type));
      append_part(message.content, std::move(part));
    }
    if (!message.content.empty() || results_.size() == before) {
      said_.push_back(std::move(message));
    }
    return ok();
  }

  Result<ContentPart> user_part(const Field& block, std::string_view type) {
    if (type == "text") {
      return read_text_block(block);
    }
    if (type == "image") {
      note_image(block);
      return read_image_block(block);
    }
    return read_textual_block(block, type, limits_);
  }

  // Reads a result of any kind; `wanted` says whose id it must have.
  Result<Message> result(const Field& block, std::string_view type, std::string_view wanted) {
    Message message;
    message.role = Role::kTool;
    DAYBREAK_TRY(const Field id, required_field(block, "tool_use_id", wanted));
    DAYBREAK_TRY(message.tool_call_id, id.string(limits_.max_id_bytes));
    if (calls_.erase(message.tool_call_id) == 0) {
      return id.expected(wanted);
    }
    bool failed = false;
    if (const auto is_error = block.find("is_error")) {
      DAYBREAK_TRY(failed, is_error->boolean());
    }
    if (failed) {
      message.content.push_back(text_part(kErrorPrefix));
    }
    DAYBREAK_TRY(std::vector<ContentPart> parts, is_server_result(type)
                                                     ? read_server_result(block, type, limits_)
                                                     : read_result_content(block, limits_));
    for (ContentPart& part : parts) {
      if (part.kind == ContentPart::Kind::kImage) {
        note_image(*block.find("content"));
      }
      message.content.push_back(std::move(part));
    }
    return message;
  }

  Status tool_result(const Field& block) {
    DAYBREAK_TRY(Message message,
                 result(block, "tool_result",
                        "the id of a tool_use block of the assistant message before, each answered "
                        "once"));
    results_.push_back(std::move(message));
    return ok();
  }

  // What the assistant says after the result of a server's tool is a message of its own, as after
  // any other result.
  Status server_result(const Field& block, std::string_view type) {
    DAYBREAK_TRY(Message message,
                 result(block, type,
                        "the id of a server_tool_use or mcp_tool_use block before, each answered "
                        "once"));
    if (!ends_with_result()) {
      out_.messages.push_back(std::move(*assistant_));
      assistant_.emplace().role = Role::kAssistant;
      split_ = true;
    }
    out_.messages.push_back(std::move(message));
    return ok();
  }

  Status assistant(const Field& item) {
    if (!assistant_) {
      end_turn();
      assistant_.emplace().role = Role::kAssistant;
      split_ = false;
      calls_.clear();
    }
    DAYBREAK_TRY(const auto blocks, blocks_of(item, "content", limits_, assistant_->content));
    for (const Field& block : blocks) {
      DAYBREAK_CHECK_OK(assistant_block(block));
    }
    return ok();
  }

  Status assistant_block(const Field& block) {
    DAYBREAK_TRY(const std::string_view type, block_type(block));
    Message& message = *assistant_;
    if (type == "text") {
      DAYBREAK_TRY(ContentPart part, read_text_block(block));
      append_part(message.content, std::move(part));
      return ok();
    }
    if (type == "thinking") {
      if (const auto thinking = block.find("thinking")) {
        DAYBREAK_TRY(const std::string text, thinking->string(kAnySize));
        message.reasoning += text;
      }
      return ok();
    }
    if (type == "redacted_thinking") {
      return ok();  // only who wrote it can read it
    }
    if (is_server_result(type)) {
      return server_result(block, type);
    }
    if (type != "tool_use" && !is_server_call(type)) {
      return block.find("type")->expected(
          "\"text\", \"thinking\", \"redacted_thinking\", \"tool_use\", \"server_tool_use\", "
          "\"mcp_tool_use\" or the result of a server's tool");
    }
    return call(block);
  }

  Status call(const Field& block) {
    Message& message = *assistant_;
    DAYBREAK_TRY(ToolCall call, read_tool_use(block, limits_));
    if (!calls_.insert(call.id).second) {
      return Error{Errc::kInvalidArgument, block.path_of("id") + ": given to more than one call"};
    }
    if (message.tool_calls.size() == limits_.max_tool_calls) {
      return block.wrong("expected at most " + std::to_string(limits_.max_tool_calls) +
                         " tool_use blocks in one turn");
    }
    message.tool_calls.push_back(std::move(call));
    return ok();
  }

  void note_image(const Field& where) {
    if (out_.first_image.empty()) {
      out_.first_image = where.path();
    }
  }

  const ChatLimits& limits_;
  AnthropicTurns out_;
  // The turn in the making: of the assistant, or of the user.
  std::optional<Message> assistant_;
  bool split_ = false;  // the assistant's turn: a part of it, and a result, are in out_ already
  std::vector<Message> results_;
  std::vector<Message> said_;
  std::set<std::string, std::less<>> calls_;  // of the last assistant turn, not answered yet
};

}  // namespace

Result<AnthropicTurns> read_anthropic_turns(const Field& root, const ChatLimits& limits) {
  DAYBREAK_TRY(const Field field, required_field(root, "messages", "an array"));
  DAYBREAK_TRY(const auto items, field.array(limits.max_messages));
  if (items.empty()) {
    return field.wrong("expected at least one message");
  }
  TurnReader reader(limits);
  if (root.find("system")) {
    DAYBREAK_CHECK_OK(reader.system(root, "system"));
  }
  for (const Field& item : items) {
    DAYBREAK_CHECK_OK(reader.message(item));
  }
  return reader.finish(items.back());
}

}  // namespace daybreak::chat
