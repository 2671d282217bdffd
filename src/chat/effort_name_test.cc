// SPDX-License-Identifier: Apache-2.0
// One meaning of an effort's name, whatever API it comes by.

#include "chat/effort_name.h"

#include <gtest/gtest.h>

#include <string>

#include "chat/anthropic_request.h"
#include "chat/chat_request.h"
#include "chat/responses_request.h"

namespace daybreak::chat {
namespace {

struct NamedEffort {
  std::string name;
  Effort effort;
};

const std::vector<NamedEffort>& named_efforts() {
  static const std::vector<NamedEffort> all = {{"minimal", Effort::kLow}, {"low", Effort::kLow},
                                               {"medium", Effort::kHigh}, {"high", Effort::kHigh},
                                               {"xhigh", Effort::kMax},   {"max", Effort::kMax}};
  return all;
}

Thinking thinking_of(const Result<ChatRequest>& request) {
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return request->thinking;
}

Result<ResponsesRequest> responses(const std::string& effort) {
  const ResponsesHistory history = {
      .conversation = [](std::string_view) { return Error{Errc::kNotFound, "none"}; },
      .item = [](std::string_view) { return Error{Errc::kNotFound, "none"}; }};
  return parse_responses_request(R"({"input":"hi","reasoning":{"effort":")" + effort + R"("}})",
                                 history, {});
}

TEST(EffortName, MeansTheSameInEveryApi) {
  const std::string messages = R"("messages":[{"role":"user","content":"hi"}])";
  for (const auto& [name, effort] : named_efforts()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(effort_named(name), effort);
    const std::string field = R"("reasoning_effort":")" + name + '"';
    for (const std::string& fields : {field, R"("chat_template_kwargs":{)" + field + "}"}) {
      const Thinking thinking =
          thinking_of(parse_chat_request("{" + messages + "," + fields + "}"));
      EXPECT_TRUE(thinking.enabled);
      EXPECT_EQ(thinking.effort, effort);
    }
    const auto response = responses(name);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_TRUE(response->chat.thinking.enabled);
    EXPECT_EQ(response->chat.thinking.effort, effort);
    const auto message =
        parse_anthropic_request(R"({"model":"m","max_tokens":9,"output_config":{"effort":")" +
                                    name + R"("},)" + messages + "}",
                                AnthropicCall::kMessages, {});
    ASSERT_TRUE(message) << message.error().message;
    EXPECT_EQ(message->chat.thinking.effort, effort);
  }
}

TEST(EffortName, NoneIsNoEffortAndOthersAreUnknown) {
  EXPECT_FALSE(
      thinking_of(parse_chat_request(
                      R"({"messages":[{"role":"user","content":"hi"}],"reasoning_effort":"none"})"))
          .enabled);
  EXPECT_FALSE(responses("none")->chat.thinking.enabled);
  for (const char* name : {"none", "", "LOW", "lowest"}) {
    EXPECT_EQ(effort_named(name), std::nullopt) << name;
  }
}

TEST(EffortName, TheSchemasListWhatIsKnown) {
  for (const auto& [name, effort] : named_efforts()) {
    for (const std::string_view text : {kEffortsExpected, kEffortNames, kEffortNamesOrNone}) {
      EXPECT_NE(text.find('"' + name + '"'), std::string_view::npos) << name;
    }
  }
}

}  // namespace
}  // namespace daybreak::chat
