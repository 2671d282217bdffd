// SPDX-License-Identifier: Apache-2.0
// A stream of Anthropic events, put together by its client, is the one-shot message: for every
// shape of output, over HTTP.

#include <gtest/gtest.h>

#include "api/anthropic_test_server.h"

namespace daybreak::api {
namespace {

using chat::shapes::Shape;

TEST(AnthropicProperty, StreamIsTheOneShotMessageForEveryShape) {
  engine::Script script;
  TestApi api([&](const engine::GenerateRequest&) { return script; });
  std::size_t compared = 0;
  for (const Shape& shape : chat::shapes::load_shapes()) {
    if (shape.options.initial == chat::Channel::kNone) {
      continue;  // no Anthropic request leaves no channel open
    }
    SCOPED_TRACE(shape.name);
    script.ids = chat::shapes::encode(*api.tokenizer, shape.text);
    script.finish = shape.stop == chat::StopCause::kLength ? engine::FinishReason::kLength
                                                           : engine::FinishReason::kStop;
    std::string fields = shape.options.tools_allowed ? kAnthropicTools : R"("tools":[])";
    if (shape.options.initial == chat::Channel::kResponse) {
      fields += R"(,"thinking":{"type":"disabled"})";
    }
    for (const char* more : {"", R"(,"stop_sequences":["e","l l"])", R"(,"stop_sequences":[" "])",
                             R"(,"output_config":{"effort":"low"},"top_k":3)"}) {
      SCOPED_TRACE(more);
      const std::string whole = post_message(api, anthropic_body(fields + more));
      ASSERT_EQ(testing::status_of(whole), 200) << whole;
      const Json streamed =
          streamed_message(api, anthropic_body(fields + more + R"(,"stream":true)"));
      EXPECT_EQ(message_without_ids(streamed).dump(),
                message_without_ids(Json::parse(testing::body_of(whole))).dump());
      ++compared;
    }
  }
  EXPECT_GE(compared, 300U);
}

}  // namespace
}  // namespace daybreak::api
