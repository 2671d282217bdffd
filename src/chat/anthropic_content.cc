// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_content.h"

#include <utility>

namespace daybreak::chat {

void BlockSplitter::add(const OutputEvent& event, std::string_view id,
                        std::vector<BlockStep>& steps) {
  switch (event.kind) {
    case OutputEvent::Kind::kReasoning:
      return add_text(BlockKind::kThinking, event.text, steps);
    case OutputEvent::Kind::kContent:
      return add_text(BlockKind::kText, event.text, steps);
    case OutputEvent::Kind::kToolCallBegin:
      return open(
          {.kind = BlockKind::kToolUse, .text = {}, .id = std::string(id), .name = event.name},
          steps);
    case OutputEvent::Kind::kToolArguments:
      return add_text(BlockKind::kToolUse, event.text, steps);
    case OutputEvent::Kind::kToolCallEnd:
      return finish(steps);
  }
  __builtin_unreachable();
}

void BlockSplitter::finish(std::vector<BlockStep>& steps) {
  if (open_) {
    steps.push_back({.what = BlockStep::What::kStop,
                     .index = begun_ - 1,
                     .block = {.kind = *std::exchange(open_, std::nullopt)}});
  }
}

void BlockSplitter::open(ContentBlock block, std::vector<BlockStep>& steps) {
  finish(steps);
  open_ = block.kind;
  steps.push_back({.what = BlockStep::What::kStart, .index = begun_++, .block = std::move(block)});
}

void BlockSplitter::add_text(BlockKind kind, const std::string& text,
                             std::vector<BlockStep>& steps) {
  if (text.empty()) {
    return;
  }
  if (open_ != kind) {
    open({.kind = kind}, steps);
  }
  if (kind != BlockKind::kThinking || show_thinking_) {
    steps.push_back({.what = BlockStep::What::kDelta,
                     .index = begun_ - 1,
                     .block = {.kind = kind, .text = text}});
  }
}

void append_step(std::vector<ContentBlock>& blocks, const BlockStep& step) {
  if (step.what == BlockStep::What::kStart) {
    blocks.push_back(step.block);
  } else if (step.what == BlockStep::What::kDelta) {
    blocks.at(step.index).text += step.block.text;
  }
}

}  // namespace daybreak::chat
