// SPDX-License-Identifier: Apache-2.0
// However the ids of an answer are cut, the stream put together is the one-shot message.

#include <gtest/gtest.h>

#include <random>

#include "chat/anthropic_content.h"
#include "chat/anthropic_json.h"
#include "chat/anthropic_request.h"
#include "chat/anthropic_test_client.h"
#include "chat/output_shapes.h"
#include "chat/render.h"

namespace daybreak::chat {
namespace {

using anthropic::Json;
using shapes::Outcome;
using shapes::Shape;

constexpr TokenUsage kUsage{.prompt_tokens = 10, .completion_tokens = 5, .cached_tokens = 4};

std::vector<BlockStep> steps_of(const Outcome& outcome, bool show_thinking) {
  BlockSplitter splitter(show_thinking);
  std::vector<BlockStep> steps;
  for (const OutputEvent& event : outcome.events) {
    splitter.add(event, "toolu_" + std::to_string(event.index), steps);
  }
  splitter.finish(steps);
  return steps;
}

std::string one_shot(const Outcome& outcome, bool show_thinking) {
  std::vector<ContentBlock> blocks;
  for (const BlockStep& step : steps_of(outcome, show_thinking)) {
    append_step(blocks, step);
  }
  return anthropic_message_json({"msg_1", "nano"}, blocks, {outcome.finish_reason, ""}, kUsage);
}

std::string streamed(const Outcome& outcome, bool show_thinking) {
  std::string text;
  append_message_start(text, {"msg_1", "nano"}, kUsage);
  append_ping(text);
  for (const BlockStep& step : steps_of(outcome, show_thinking)) {
    append_block_event(text, step);
  }
  append_message_end(text, {outcome.finish_reason, ""}, kUsage);
  anthropic::StreamReader reader;
  for (const anthropic::Event& event : anthropic::split_events(text)) {
    reader.read(event);
  }
  EXPECT_TRUE(reader.whole()) << text;
  return reader.message.dump();
}

std::vector<std::size_t> random_cuts(std::mt19937& random, std::size_t ids) {
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 0; cut < ids;) {
    cuts.push_back(1 + random() % 7);
    cut += cuts.back();
  }
  return cuts;
}

TEST(AnthropicContent, StreamOfAnyCutIsTheOneShotMessage) {
  const auto tokenizer = shapes::load_tokenizer();
  std::mt19937 random(5);
  std::size_t compared = 0;
  for (const Shape& shape : shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    const auto ids = shapes::encode(*tokenizer, shape.text);
    const Outcome whole = shapes::parse(*tokenizer, ids, shape.options, shape.stop);
    for (const bool show_thinking : {true, false}) {
      const std::string expected = Json::parse(one_shot(whole, show_thinking)).dump();
      for (int round = 0; round < 8; ++round) {
        const Outcome cut = shapes::parse(*tokenizer, ids, shape.options, shape.stop,
                                          random_cuts(random, ids.size()));
        EXPECT_EQ(streamed(cut, show_thinking), expected);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 80U * 16U);
}

TEST(AnthropicContent, BlocksHoldWhatTheTableSays) {
  const auto tokenizer = shapes::load_tokenizer();
  for (const Shape& shape : shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    const Outcome outcome = shapes::parse(*tokenizer, shapes::encode(*tokenizer, shape.text),
                                          shape.options, shape.stop);
    const std::string body = one_shot(outcome, true);
    std::string thinking;
    std::string text;
    std::size_t calls = 0;
    const Json message = Json::parse(body);
    for (const Json& block : message["content"]) {
      if (block["type"] == "thinking") {
        thinking += block["thinking"].get<std::string>();
      } else if (block["type"] == "text") {
        text += block["text"].get<std::string>();
      } else {
        const AssistantToolCall& call = shape.message.tool_calls.at(calls++);
        EXPECT_EQ(block["name"], call.name);
        const bool object = Json::parse(call.arguments, nullptr, false).is_object();
        EXPECT_TRUE(object || block["input"] == Json({{"INVALID_JSON", call.arguments}})) << body;
        EXPECT_TRUE(!object || body.find("\"input\":" + call.arguments) != std::string::npos);
      }
    }
    EXPECT_EQ(thinking, shape.message.reasoning_content);
    EXPECT_EQ(text, shape.message.content);
    EXPECT_EQ(calls, shape.message.tool_calls.size());
  }
}

// JSON without regard to its white space, any other text as it is.
std::string comparable(const std::string& arguments) {
  const Json json = Json::parse(arguments, nullptr, false);
  return json.is_discarded() ? arguments : json.dump();
}

// The next turn: our own message goes back, results to every call, last call first.
TEST(AnthropicContent, EveryReplyIsAcceptedInTheNextRequest) {
  const auto tokenizer = shapes::load_tokenizer();
  for (const Shape& shape : shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    const Outcome outcome = shapes::parse(*tokenizer, shapes::encode(*tokenizer, shape.text),
                                          shape.options, shape.stop);
    const Json reply = Json::parse(one_shot(outcome, true));
    Json next = {{"role", "user"}, {"content", Json::array()}};
    for (std::size_t i = outcome.message.tool_calls.size(); i-- > 0;) {
      next["content"].push_back({{"type", "tool_result"},
                                 {"tool_use_id", "toolu_" + std::to_string(i)},
                                 {"content", "done"}});
    }
    next["content"].push_back({{"type", "text"}, {"text", "go on"}});
    const Json body = {{"model", "nano"},
                       {"max_tokens", 5},
                       {"messages",
                        {{{"role", "user"}, {"content", "hi"}},
                         {{"role", "assistant"}, {"content", reply["content"]}},
                         next}}};
    const std::string text = body.dump();
    const auto request = parse_anthropic_request(text, AnthropicCall::kMessages);
    ASSERT_TRUE(request) << request.error().message << text;
    const Message& echo = request->chat.messages.at(1);
    EXPECT_EQ(echo.reasoning, shape.message.reasoning_content);
    ASSERT_EQ(echo.tool_calls.size(), shape.message.tool_calls.size());
    for (std::size_t i = 0; i < echo.tool_calls.size(); ++i) {
      EXPECT_EQ(comparable(echo.tool_calls[i].arguments),
                comparable(shape.message.tool_calls[i].arguments));
    }
    const auto prompt = render_segments(request->chat);
    ASSERT_TRUE(prompt) << prompt.error().message;
    EXPECT_EQ(prompt->initial, Channel::kThink);
  }
}

}  // namespace
}  // namespace daybreak::chat
