// SPDX-License-Identifier: Apache-2.0
// A Responses stream, put together by its client, is the one-shot response: for every shape of
// output.

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "api/responses_answer.h"
#include "api/responses_test_reader.h"

namespace daybreak::api {
namespace {

using chat::shapes::Shape;

// The request that makes a reply start in the channel of the shape.
std::string request_for(const Shape& shape, const std::string& more) {
  std::string fields = shape.options.tools_allowed ? kFlatTool : R"("tools":[])";
  if (shape.options.initial == chat::Channel::kResponse) {
    fields += R"(,"reasoning":{"effort":"none"})";
  }
  return responses_body(fields + more);
}

std::string joined(const Json& output, const char* type) {
  std::string out;
  for (const Json& item : output) {
    if (item["type"] == type) {
      out += item["content"][0]["text"].get<std::string>();
    }
  }
  return out;
}

void expect_message(const Json& output, const chat::AssistantMessage& message) {
  EXPECT_EQ(joined(output, "reasoning"), message.reasoning_content);
  EXPECT_EQ(joined(output, "message"), message.content);
  std::size_t calls = 0;
  for (const Json& item : output) {
    if (item["type"] == "function_call") {
      ASSERT_LT(calls, message.tool_calls.size());
      EXPECT_EQ(item["name"], message.tool_calls[calls].name);
      EXPECT_EQ(item["arguments"], message.tool_calls[calls].arguments);
      EXPECT_EQ(item["status"], message.tool_calls[calls].complete ? "completed" : "incomplete");
      ++calls;
    }
  }
  EXPECT_EQ(calls, message.tool_calls.size());
}

// Every shape through the server, whole and streamed; without stop strings also against the table
// of the shapes, which was written by hand.
TEST(ResponsesProperty, StreamIsTheOneShotResponseForEveryShape) {
  std::vector<TokenId> ids;
  engine::FinishReason finish = engine::FinishReason::kStop;
  TestApi api([&](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = ids;
    script.finish = finish;
    return script;
  });
  std::size_t compared = 0;
  for (const Shape& shape : chat::shapes::load_shapes()) {
    if (shape.options.initial == chat::Channel::kNone) {
      continue;  // no request of this route starts there
    }
    SCOPED_TRACE(shape.name);
    ids = chat::shapes::encode(*api.tokenizer, shape.text);
    const bool cut = shape.stop == chat::StopCause::kLength;
    finish = cut ? engine::FinishReason::kLength : engine::FinishReason::kStop;
    for (const char* more : {"", R"(,"include":["message.output_text.logprobs"],"top_logprobs":2)",
                             R"(,"include":["reasoning.encrypted_content"],"store":false)",
                             R"(,"stop":["e","l l"],"top_logprobs":1)"}) {
      SCOPED_TRACE(more);
      const Json whole = post_response(api, request_for(shape, more));
      const ResponsesReader stream(
          post_responses_stream(api, request_for(shape, more + std::string(R"(,"stream":true)"))));
      EXPECT_EQ(response_without_ids(stream.response), response_without_ids(whole));
      EXPECT_EQ(stream.response["output"], stream.output);
      EXPECT_EQ(stream.last, "response." + whole["status"].get<std::string>());
      const bool by_token = shape.stop == chat::StopCause::kStopToken || cut;
      if (std::string(more).empty() && by_token) {
        expect_message(whole["output"], shape.message);
        EXPECT_EQ(whole["status"], shape.finish_reason == "length" ? "incomplete" : "completed");
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 60U * 4);
  if (!::testing::Test::HasFailure()) {
    std::printf("PROOF responses_stream_equals_oneshot: %zu responses\n", compared);
  }
}

// The same without a server, the ids cut into batches at random: the events may be cut differently,
// what they add up to may not.
TEST(ResponsesProperty, CutsOfTheStreamChangeNothing) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  const chat::MarkerIds markers = chat::shapes::load_markers(*tokenizer);
  std::mt19937_64 random(7);
  const std::function<std::uint64_t()> bits = [&random] { return random(); };
  chat::ResponsesRequest request;
  request.sealed_reasoning = true;
  for (const Shape& shape : chat::shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    const auto ids = chat::shapes::encode(*tokenizer, shape.text);
    std::vector<engine::GeneratedToken> tokens;
    for (const TokenId id : ids) {
      tokens.push_back({.id = id, .logprob = -0.5F, .top = {}});
    }
    Json first;
    for (int round = 0; round < 8; ++round) {
      ResponsesAnswer answer({.id = "resp_x", .created = 1, .model = "m"}, request,
                             ResponsesAnswer::Events::kOn, bits);
      Choice choice(*tokenizer, markers,
                    {.parser = shape.options,
                     .stop = {},
                     .stop_token_ids = {},
                     .logprobs = true,
                     .random = bits});
      std::string frames;
      std::string reason;
      const auto consume = [&](std::vector<Delta> deltas) {
        for (const Delta& delta : deltas) {
          if (delta.finish_reason.empty()) {
            answer.add(delta);
          } else {
            reason = delta.finish_reason;
          }
        }
        frames += answer.take_events();
      };
      answer.begin();
      for (std::size_t at = 0; at < tokens.size();) {
        const std::size_t size = std::min(tokens.size() - at, 1 + (random() % 9));
        std::vector<Delta> deltas;
        choice.push(std::span(tokens).subspan(at, size), deltas);
        consume(std::move(deltas));
        at += size;
      }
      std::vector<Delta> deltas;
      choice.finish(shape.stop, deltas);
      consume(std::move(deltas));
      answer.end(reason, {});
      answer.announce_end();
      frames += answer.take_events();
      char size[32];
      std::snprintf(size, sizeof size, "%zx", frames.size());
      const ResponsesReader reader(
          responses_events("HTTP/1.1 200 OK\r\n\r\n" + std::string(size) + "\r\n" + frames));
      EXPECT_EQ(reader.output, reader.response["output"]);
      EXPECT_EQ(reader.response, Json::parse(answer.json()));
      const Json same = response_without_ids(reader.response);
      if (round == 0) {
        first = same;
      }
      EXPECT_EQ(same, first);
      expect_message(reader.output, shape.message);
    }
  }
}

}  // namespace
}  // namespace daybreak::api
