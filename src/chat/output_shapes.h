// SPDX-License-Identifier: Apache-2.0
#pragma once

// testdata/chat/output_shapes.jsonl and what a parse of it gives, for tests. Test code only.

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/json_tree.h"
#include "chat/message_builder.h"
#include "chat/output_parser.h"
#include "testing/paths.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::chat::shapes {

struct Shape {
  std::string name;
  OutputParserOptions options;
  std::string text;
  StopCause stop = StopCause::kStopToken;
  AssistantMessage message;
  std::string finish_reason;
};

inline std::shared_ptr<const tokenizer::Tokenizer> load_tokenizer() {
  auto loaded = tokenizer::Tokenizer::load(testing::source_path("testdata/tokenizer"));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return *loaded;
}

inline MarkerIds load_markers(const tokenizer::Tokenizer& tokenizer) {
  auto found = MarkerIds::from(tokenizer);
  EXPECT_TRUE(found) << found.error().message;
  return *found;
}

inline Channel channel_named(const std::string& name) {
  EXPECT_TRUE(name == "think" || name == "response" || name == "none") << name;
  return name == "think" ? Channel::kThink
                         : (name == "response" ? Channel::kResponse : Channel::kNone);
}

inline StopCause cause_named(const std::string& name) {
  EXPECT_TRUE(name == "token" || name == "string" || name == "length" || name == "cancelled");
  return name == "token"    ? StopCause::kStopToken
         : name == "string" ? StopCause::kStopString
         : name == "length" ? StopCause::kLength
                            : StopCause::kCancelled;
}

inline Shape read_shape(const std::string& line) {
  const auto row = parse_json_tree(line);
  EXPECT_TRUE(row) << row.error().message;
  Shape shape;
  shape.name = row->find("name")->text;
  shape.options.initial = channel_named(row->find("initial")->text);
  shape.options.tools_allowed = row->find("tools")->boolean;
  shape.text = row->find("text")->text;
  shape.stop = cause_named(row->find("stop")->text);
  shape.message.reasoning_content = row->find("reasoning")->text;
  shape.message.content = row->find("content")->text;
  for (const JsonNode& call : row->find("calls")->items) {
    shape.message.tool_calls.push_back(
        {call.find("name")->text, call.find("arguments")->text, call.find("complete")->boolean});
  }
  shape.finish_reason = row->find("finish")->text;
  return shape;
}

inline std::vector<Shape> load_shapes() {
  std::istringstream in(
      testing::read_file(testing::source_path("testdata/chat/output_shapes.jsonl")));
  std::vector<Shape> shapes;
  for (std::string line; std::getline(in, line);) {
    shapes.push_back(read_shape(line));
  }
  return shapes;
}

inline std::vector<TokenId> encode(const tokenizer::Tokenizer& tokenizer, const std::string& text) {
  std::vector<TokenId> ids;
  tokenizer.encode(text, tokenizer::AllowSpecial::kYes, tokenizer::Slicing::kOn, ids);
  return ids;
}

// What one parse gives.
struct Outcome {
  AssistantMessage message;
  std::string finish_reason;
  std::size_t reasoning_tokens = 0;
  OutputDrops drops;
  std::vector<OutputEvent> events;
};

// Parses `ids` cut into chunks of the given sizes; what is left goes in one piece.
inline Outcome parse(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids,
                     const OutputParserOptions& options, StopCause stop,
                     const std::vector<std::size_t>& chunks = {}) {
  OutputParser parser(tokenizer, load_markers(tokenizer), options);
  Outcome outcome;
  for (const std::size_t size : chunks) {
    const std::size_t n = std::min(size, ids.size());
    parser.push(ids.first(n), outcome.events);
    ids = ids.subspan(n);
  }
  parser.push(ids, outcome.events);
  parser.finish(stop, outcome.events);
  MessageBuilder builder;
  for (const OutputEvent& event : outcome.events) {
    builder.add(event);
  }
  outcome.message = builder.message();
  outcome.finish_reason = finish_reason(stop, parser.completed_calls());
  outcome.reasoning_tokens = parser.reasoning_tokens();
  outcome.drops = parser.drops();
  return outcome;
}

// A message on a few lines, so that a failure reads like the input.
inline std::string show(const AssistantMessage& message) {
  std::string out = "reasoning: " + message.reasoning_content + "\ncontent: " + message.content;
  for (const AssistantToolCall& call : message.tool_calls) {
    out += "\ncall: " + call.name + " " + call.arguments + (call.complete ? "" : " (open)");
  }
  return out;
}

}  // namespace daybreak::chat::shapes
