// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace: the reader ends with a conversation or an error, and what it gives keeps
// the bounds. The first byte of the input chooses the format.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "loadgen/agent_trace.h"
#include "loadgen/azure_trace.h"
#include "loadgen/mooncake_trace.h"

namespace {

using namespace daybreak::loadgen;  // NOLINT: a fuzz target of one module

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void check(const Turn& turn) {
  require(turn.input_tokens >= 1 && turn.input_tokens <= kMaxTraceTokens);
  require(turn.output_tokens <= kMaxTraceTokens && turn.blocks.size() <= kMaxTraceBlocks);
  require(turn.think_seconds >= 0 && turn.think_seconds <= kMaxTraceSeconds);
}

void check(const Conversation& conversation) {
  require(!conversation.turns.empty() && conversation.block_tokens > 0);
  std::size_t blocks = 0;
  for (const Turn& turn : conversation.turns) {
    check(turn);
    require(turn.at_seconds >= 0 && turn.at_seconds <= kMaxTraceSeconds);
    require(turn.kept_blocks <= blocks);
    blocks = turn.kept_blocks + turn.blocks.size();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'm':
      if (const auto parsed = parse_mooncake_line(text, "f")) {
        check(*parsed);
      }
      break;
    case 'z':
      if (const auto parsed = parse_azure_line(text, "f")) {
        check(*parsed);
      }
      break;
    default:
      if (const auto parsed = parse_agent_trace(text, "f")) {
        check(*parsed);
      }
  }
  return 0;
}
