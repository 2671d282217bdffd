// SPDX-License-Identifier: Apache-2.0
#pragma once

// Output events as the content blocks of an Anthropic message. A stream sends each step on, a
// one-shot message adds them up (append_step): there is no other path from events to blocks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/output_event.h"

namespace daybreak::chat {

enum class BlockKind : std::uint8_t { kThinking, kText, kToolUse };

struct ContentBlock {
  BlockKind kind = BlockKind::kText;
  std::string text = {};  // of a tool_use: its arguments' JSON, cut short where the answer was
  std::string id = {};    // kToolUse
  std::string name = {};  // kToolUse
};

// One block is open at a time: kStart, any number of kDelta, kStop.
struct BlockStep {
  enum class What : std::uint8_t { kStart, kDelta, kStop };
  What what = What::kStart;
  std::size_t index = 0;  // of the block: dense, from 0
  ContentBlock block;     // its kind; kStart: id and name; kDelta: text
};

// Not thread-safe. Keeps nothing but the open block's kind.
class BlockSplitter {
 public:
  // `show_thinking` false leaves thinking blocks empty.
  explicit BlockSplitter(bool show_thinking) : show_thinking_(show_thinking) {}

  // Appends the steps of one event. `id` is used by kToolCallBegin only.
  // REQUIRES: events in the order OutputParser gave them.
  void add(const OutputEvent& event, std::string_view id, std::vector<BlockStep>& steps);
  // Ends the block that is open, if one is.
  void finish(std::vector<BlockStep>& steps);

 private:
  void open(ContentBlock block, std::vector<BlockStep>& steps);
  void add_text(BlockKind kind, const std::string& text, std::vector<BlockStep>& steps);

  bool show_thinking_;
  std::optional<BlockKind> open_;
  std::size_t begun_ = 0;
};

// REQUIRES: steps in the order BlockSplitter gave them.
void append_step(std::vector<ContentBlock>& blocks, const BlockStep& step);

}  // namespace daybreak::chat
