// SPDX-License-Identifier: Apache-2.0
// A stream, put together by its client, is the one-shot reply: for every shape of output.

#include <gtest/gtest.h>

#include <cstdio>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

using chat::shapes::Shape;

// The request that makes a reply start in the channel of the shape.
std::string request_for(const Shape& shape, const std::string& more) {
  std::string fields = shape.options.tools_allowed ? kTools : R"("tools":[])";
  if (shape.options.initial == chat::Channel::kResponse) {
    fields += R"(,"reasoning_effort":"none")";
  } else if (shape.options.initial == chat::Channel::kNone) {
    fields += R"(,"add_generation_prompt":false)";
  }
  return chat_body(fields + more);
}

void expect_same(TestApi& api, const Shape& shape, const std::string& more) {
  const std::string whole = api.post(request_for(shape, more));
  ASSERT_EQ(testing::status_of(whole), 200) << whole;
  const auto one_shot = from_completion(testing::body_of(whole));
  const auto events = api.post_stream(request_for(shape, more + R"(,"stream":true)"));
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back(), "[DONE]");
  const auto streamed = from_events(events);
  ASSERT_EQ(streamed.size(), one_shot.size());
  for (const auto& [index, choice] : one_shot) {
    EXPECT_EQ(streamed.at(index).show(), choice.show());
  }
}

TEST(ChatProperty, StreamIsTheOneShotReplyForEveryShape) {
  std::vector<TokenId> ids;
  engine::FinishReason finish = engine::FinishReason::kStop;
  TestApi api([&](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = ids;
    script.finish = finish;
    return script;
  });
  const std::vector<Shape> shapes = chat::shapes::load_shapes();
  ASSERT_GE(shapes.size(), 80U);
  std::size_t compared = 0;
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.name);
    ids = chat::shapes::encode(*api.tokenizer, shape.text);
    finish = shape.stop == chat::StopCause::kLength ? engine::FinishReason::kLength
                                                    : engine::FinishReason::kStop;
    for (const char* more : {"", R"(,"n":3)", R"(,"logprobs":true)", R"(,"stop":["e","l l"])",
                             R"(,"stop":[" "],"logprobs":true,"n":2)"}) {
      SCOPED_TRACE(more);
      expect_same(api, shape, more);
      ++compared;
    }
  }
  EXPECT_EQ(compared, shapes.size() * 5);
  if (!::testing::Test::HasFailure()) {
    std::printf("PROOF stream_equals_oneshot: %zu replies, %zu shapes x 5 forms\n", compared,
                shapes.size());
  }
}

// The shapes' expected messages come from a table written by hand, so this ties the wire to it.
TEST(ChatProperty, ReplyIsTheMessageOfTheTable) {
  std::vector<TokenId> ids;
  TestApi api([&](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = ids;
    return script;
  });
  std::size_t compared = 0;
  for (const Shape& shape : chat::shapes::load_shapes()) {
    ids = chat::shapes::encode(*api.tokenizer, shape.text);
    if (shape.stop != chat::StopCause::kStopToken || ids.empty()) {
      continue;
    }
    SCOPED_TRACE(shape.name);
    const std::string reply = api.post(request_for(shape, ""));
    ASSERT_EQ(testing::status_of(reply), 200) << reply;
    const ClientChoice choice = from_completion(testing::body_of(reply)).at(0);
    EXPECT_EQ(choice.reasoning, shape.message.reasoning_content);
    EXPECT_EQ(choice.content, shape.message.content);
    EXPECT_EQ(choice.finish_reason, shape.finish_reason);
    ASSERT_EQ(choice.calls.size(), shape.message.tool_calls.size());
    for (std::size_t i = 0; i < choice.calls.size(); ++i) {
      EXPECT_EQ(choice.calls[i].first, shape.message.tool_calls[i].name);
      EXPECT_EQ(choice.calls[i].second, shape.message.tool_calls[i].arguments);
    }
    ++compared;
  }
  EXPECT_GE(compared, 50U);
}

}  // namespace
}  // namespace daybreak::api
