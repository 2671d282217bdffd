// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits generated ids into reasoning, content and tool calls.
//
// A marker is `open`|`close` HEADER `sep`; the outer two are special ids, so text that merely looks
// like a marker is text. Channels nest: message > think | response | tools > call > argument |
// json.
//
//            open think           close think             open response
//   kIdle -----------------> kThink ----------> kIdle ----------------------> kResponse
//     ^  text is content       | open response / open tools ends it             | close response
//     |                        +------------------> ...                         v
//   kDone <-- close message, end_of_msg (any state)       +-------------------- kEpilogue
//                                                         | open tools            ^ text dropped
//                                                         v                       | close tools
//                                                       kTools -------------------+
//                                               open call | ^ close call
//                                                         v |
//                       kValue  <-- open argument, open json --  kCall
//                               -- close argument, close json -->
//   A nameless or surplus call runs through the same states, but nothing of it is emitted.
//
// What is malformed is repaired, never shown: an outer marker closes all inner elements; a header
// without `sep` counts as complete when it names a known element; a header that names none is text.
// `close response` or `close message` in a think channel the prompt had opened means that the model
// answered in the wrong channel: the text so far is repeated as content.
// Dropped text is delivered as content in finish() if the reply would otherwise be empty.
//
// Invariant: how ids are cut into push() calls changes only how text is cut into events.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/token.h"
#include "chat/markers.h"
#include "chat/output_event.h"
#include "chat/render.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::chat {

struct OutputParserOptions {
  Channel initial = Channel::kThink;   // Prompt::initial
  bool tools_allowed = true;           // false: a tools channel is dropped
  std::size_t max_calls = 256;         // 1 for parallel_tool_calls:false; more are dropped
  std::size_t max_arguments = 1'024;   // of one call; more are dropped
  std::size_t max_name_bytes = 256;    // of a tool; a call with a longer name counts as nameless
  std::size_t max_header_ids = 4'096;  // a longer header is text
  std::size_t max_value_bytes = 1'048'576;   // a longer non-string value becomes a string
  std::size_t max_repeat_bytes = 8'388'608;  // of a think-answer; the rest is only reasoning
  std::size_t max_rescue_bytes = 65'536;     // of dropped text kept for an otherwise empty reply
};

// What a parse left out, for logs and metrics.
struct OutputDrops {
  std::size_t calls = 0;       // nameless, surplus or not allowed
  std::size_t arguments = 0;   // repeated keys (the first wins) or surplus
  std::size_t text_bytes = 0;  // outside every channel
  bool answer_cut = false;     // a repeated think-answer was longer than max_repeat_bytes
};

// Not thread-safe. `tokenizer` must outlive the parser. Memory is bounded by the options.
class OutputParser {
 public:
  OutputParser(const tokenizer::Tokenizer& tokenizer, const MarkerIds& markers,
               const OutputParserOptions& options);
  ~OutputParser();
  OutputParser(OutputParser&&) noexcept;
  OutputParser& operator=(OutputParser&&) noexcept;

  // Consumes ids, appends what they mean. Neighbouring text of one kind is joined within a call.
  void push(std::span<const TokenId> ids, std::vector<OutputEvent>& events);
  void push(TokenId id, std::vector<OutputEvent>& events) { push({&id, 1}, events); }

  // Ends the output: held-back text is delivered. A call still open is completed as well as
  // possible when the model stopped by itself, and left as it is on kLength and kCancelled: what
  // was cut off must not look whole. REQUIRES: called once; no push() afterwards.
  void finish(StopCause cause, std::vector<OutputEvent>& events);

  // True after `close message` or a stop id: further ids are dropped.
  [[nodiscard]] bool done() const;
  // Ids that were text of the think channel.
  [[nodiscard]] std::size_t reasoning_tokens() const;
  // Calls that ended with kToolCallEnd.
  [[nodiscard]] std::size_t completed_calls() const;
  [[nodiscard]] const OutputDrops& drops() const;

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace daybreak::chat
