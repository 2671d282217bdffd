// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/utf8.h"

namespace daybreak::chat {
namespace {

std::string message(const std::vector<ContentBlock>& blocks,
                    const AnthropicStop& stop = {"stop", ""}, const TokenUsage& usage = {}) {
  return anthropic_message_json({"msg_1", "m"}, blocks, stop, usage);
}

ContentBlock call(const std::string& arguments) {
  return {.kind = BlockKind::kToolUse, .text = arguments, .id = "t", .name = "f"};
}

std::string input_of(const std::string& arguments) {
  const std::string json = message({call(arguments)});
  const std::string head = R"("name":"f","input":)";
  const std::size_t at = json.find(head) + head.size();
  return json.substr(at, json.find("}],\"stop_reason\"") - at);
}

TEST(AnthropicJson, WholeMessage) {
  EXPECT_EQ(
      message(
          {{.kind = BlockKind::kThinking, .text = "a\n"},
           {.kind = BlockKind::kText, .text = "b\""},
           call(R"({"x": 1e2})")},
          {"tool_calls", ""},
          {.prompt_tokens = 10, .completion_tokens = 7, .cached_tokens = 4, .reasoning_tokens = 3}),
      R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[)"
      R"({"type":"thinking","thinking":"a\n","signature":"daybreak"},)"
      R"({"type":"text","text":"b\""},)"
      R"({"type":"tool_use","id":"t","name":"f","input":{"x": 1e2}}],)"
      R"("stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":6,)"
      R"("cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":7,)"
      R"("output_tokens_details":{"thinking_tokens":3}}})");
}

TEST(AnthropicJson, StopReasons) {
  EXPECT_EQ(anthropic_stop_reason({"stop", ""}), "end_turn");
  EXPECT_EQ(anthropic_stop_reason({"stop", "x"}), "stop_sequence");
  EXPECT_EQ(anthropic_stop_reason({"length", ""}), "max_tokens");
  EXPECT_EQ(anthropic_stop_reason({"tool_calls", "x"}), "tool_use");
  EXPECT_NE(message({}, {"stop", "a\"b"}).find(R"("stop_sequence","stop_sequence":"a\"b")"),
            std::string::npos);
  EXPECT_NE(message({}, {"tool_calls", "x"}).find(R"("stop_sequence":null)"), std::string::npos);
}

TEST(AnthropicJson, InputIsAnObjectWhateverTheModelWrote) {
  EXPECT_EQ(input_of("{}"), "{}");
  EXPECT_EQ(input_of(R"({"a":")"), R"({"INVALID_JSON":"{\"a\":\""})");
  EXPECT_EQ(input_of(""), R"({"INVALID_JSON":""})");
  EXPECT_EQ(input_of("[1]"), R"({"INVALID_JSON":"[1]"})");
  // The deepest value an argument can have.
  const std::string deep = R"({"a":)" + std::string(64, '[') + std::string(64, ']') + "}";
  EXPECT_EQ(input_of(deep), deep);
}

TEST(AnthropicJson, AnyBytesGiveUtf8) {
  const std::string json = message({{.kind = BlockKind::kText, .text = "\xff\xfe"}, call("\xff")});
  EXPECT_TRUE(is_valid_utf8(json));
  std::string events;
  append_block_event(events, {.what = BlockStep::What::kDelta,
                              .index = 3,
                              .block = {.kind = BlockKind::kToolUse, .text = "\xff"}});
  EXPECT_TRUE(is_valid_utf8(events));
  EXPECT_TRUE(is_valid_utf8(anthropic_error_json({Errc::kIo, "\xff"}, "r")));
}

TEST(AnthropicJson, EventsAreLinesOfTheirOwn) {
  std::string out;
  append_block_event(
      out, {.what = BlockStep::What::kStop, .index = 2, .block = {.kind = BlockKind::kThinking}});
  EXPECT_EQ(out,
            "event: content_block_delta\n"
            R"(data: {"type":"content_block_delta","index":2,"delta":{"type":"signature_delta",)"
            "\"signature\":\"daybreak\"}}\n\n"
            "event: content_block_stop\n"
            "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n");
}

TEST(AnthropicJson, ErrorTypes) {
  EXPECT_EQ(anthropic_error_json({Errc::kNotFound, "no"}, "req-1"),
            R"({"type":"error","error":{"type":"not_found_error","message":"no"},)"
            R"("request_id":"req-1"})");
  EXPECT_EQ(anthropic_error_type(Errc::kInvalidArgument), "invalid_request_error");
  EXPECT_EQ(anthropic_error_type(Errc::kUnauthenticated), "authentication_error");
  EXPECT_EQ(anthropic_error_type(Errc::kPermission), "permission_error");
  EXPECT_EQ(anthropic_error_type(Errc::kTooLarge), "request_too_large");
  EXPECT_EQ(anthropic_error_type(Errc::kResourceLimit), "rate_limit_error");
  EXPECT_EQ(anthropic_error_type(Errc::kIo), "api_error");
  EXPECT_EQ(anthropic_error_type(Errc::kUnavailable), "overloaded_error");
  EXPECT_EQ(anthropic_error_type(Errc::kDeadline), "timeout_error");
}

}  // namespace
}  // namespace daybreak::chat
