// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns a conversation into the exact prompt K3 was trained on: XML-like elements whose angle
// brackets are special tokens. The order is: declared tools, thinking effort, messages, tool
// choice, response format, then the opened assistant message the model continues.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "chat/chat_request.h"
#include "chat/segment.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::chat {

// The channel the prompt leaves open, where the output parser must start.
enum class Channel : std::uint8_t { kNone, kThink, kResponse };

// How the arguments of earlier calls are spelled: parsed and printed again as the released encoder
// does (1e2 becomes 100.0), or value by value with the client's own bytes.
enum class ArgumentSpelling : std::uint8_t { kReprinted, kLiteral };

struct RenderOptions {
  ArgumentSpelling arguments = ArgumentSpelling::kReprinted;
};

struct Prompt {
  std::vector<Segment> segments;
  std::vector<TokenId> ids;
  Channel initial = Channel::kNone;
  std::size_t stub_segments = 0;  // at the end: those that open the channel
  // Their ids (3 for K3); usage.prompt_tokens does not count them. 0 in
  // partial mode and without a generation prompt.
  std::size_t stub_ids = 0;

  [[nodiscard]] std::size_t billed_tokens() const { return ids.size() - stub_ids; }
};

// Returns the prompt's segments without ids; `initial` and everything but ids and stub_ids is set.
// Errors: kInvalidArgument for a tool result that answers no call and names no tool; kUnsupported
// for an image whose size is not known.
Result<Prompt> render_segments(const ChatRequest& request, const RenderOptions& options = {});

// The same with ids: each segment encoded on its own. Thread-safe.
Result<Prompt> render(const ChatRequest& request, const tokenizer::Tokenizer& tokenizer,
                      const RenderOptions& options = {});

// Returns the segments joined, for people and goldens. Never tokenize this text.
std::string join_text(const std::vector<Segment>& segments);

}  // namespace daybreak::chat
