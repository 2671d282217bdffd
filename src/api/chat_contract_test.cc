// SPDX-License-Identifier: Apache-2.0
// The vendor contract, and the frames of a stream as the vendor specifies them, through the server.

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

constexpr const char* kCalls =
    "why<|close|>think<|sep|><|open|>response<|sep|>both<|close|>response<|sep|><|open|>tools<|sep|"
    ">"
    "<|open|>call tool=\"f\" index=\"1\"<|sep|><|open|>argument key=\"a\" type=\"string\"<|sep|>x"
    "<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool=\"f\" index=\"2\"<|sep|>"
    "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>";

std::string after_calls(const std::string& ids, const std::string& more) {
  return R"({"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":")" +
         ids + R"(","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":")" +
         ids + R"(","content":"ok"}],)" + kTools + more + "}";
}

TEST(ChatContract, VendorRefusesWithParamAndTheKnownText) {
  TestApi api(TestApi::says(kCalls), {.chat_limits = {.contract = chat::Contract::kVendor}});
  const std::string reply = api.post(chat_body(R"("temperature":0.3)"));
  EXPECT_EQ(testing::status_of(reply), 400);
  const Json error = Json::parse(testing::body_of(reply))["error"];
  EXPECT_EQ(error["param"], "temperature");
  EXPECT_NE(error["message"].get<std::string>().find("is allowed for this model"),
            std::string::npos);
  EXPECT_EQ(testing::status_of(api.post(chat_body(R"("temperature":0.6)"))), 200);
}

// The model behind every route is the same, and with it the values it is served with.
TEST(ChatContract, TheVendorsValuesHoldOnEveryRouteThatGenerates) {
  struct Route {
    const char* path;
    const char* head;
    const char* stop;
  };
  TestApi vendor(TestApi::says("x"), {.chat_limits = {.contract = chat::Contract::kVendor}});
  TestApi open(TestApi::says("x"));
  for (const Route& route :
       {Route{"/v1/completions", R"({"prompt":"a")", "stop"},
        Route{"/v1/responses", R"({"input":"a")", ""},
        Route{"/v1/messages",
              R"({"model":"nano","max_tokens":9,"messages":[{"role":"user","content":"a"}])",
              "stop_sequences"},
        Route{"/invocations", R"({"prompt":"a")", "stop"}}) {
    const std::string head = route.head;
    std::vector<std::string> wrong = {R"("temperature":0.3)", R"("top_p":0.8)"};
    if (*route.stop != 0) {
      wrong.push_back("\"" + std::string(route.stop) + R"(":["1","2","3","4","5","6"])");
    }
    for (const std::string& field : wrong) {
      const std::string body = head + "," + field + "}";
      EXPECT_EQ(testing::status_of(vendor.post(body, route.path)), 400) << route.path << field;
      EXPECT_EQ(testing::status_of(open.post(body, route.path)), 200) << route.path << field;
    }
    EXPECT_EQ(
        testing::status_of(vendor.post(head + R"(,"temperature":0.6,"top_p":0.95})", route.path)),
        200)
        << route.path;
  }
  for (const auto& [path, body] :
       {std::pair{"/v1/responses",
                  R"({"input":"a","tools":[{"type":"function","name":"mcp.get"}]})"},
        {"/v1/messages",
         R"({"model":"nano","max_tokens":9,"messages":[{"role":"user","content":"a"}],)"
         R"("tools":[{"name":"mcp.get","input_schema":{"type":"object"}}]})"}}) {
    EXPECT_EQ(testing::status_of(vendor.post(body, path)), 400) << path;
    EXPECT_EQ(testing::status_of(open.post(body, path)), 200) << path;
  }
}

TEST(ChatContract, VendorCallIdsGoOnFromTheHistoryStreamedAndNot) {
  TestApi api(TestApi::says(kCalls), {.chat_limits = {.contract = chat::Contract::kVendor}});
  const std::vector<std::string> expected = {"f_8", "f_9"};
  const std::string whole = api.post(after_calls("f_7", ""));
  EXPECT_EQ(from_completion(testing::body_of(whole)).at(0).call_ids, expected);
  const auto events = api.post_stream(after_calls("f_7", R"(,"stream":true)"));
  EXPECT_EQ(from_events(events).at(0).call_ids, expected);
}

TEST(ChatContract, UsageHeadersAreTheFinalUsageStreamedAndNot) {
  TestApi api([](const engine::GenerateRequest& request) {
    engine::Script script = TestApi::says(kCalls)(request);
    script.cached_tokens = 5;
    return script;
  });
  const std::string whole = api.post(chat_body(kTools));
  const Json usage = Json::parse(testing::body_of(whole))["usage"];
  EXPECT_EQ(usage["prompt_tokens_details"]["cached_tokens"], 5);
  testing::RawClient client(api.server->port());
  client.send(TestApi::request_text(chat_body(kTools + std::string(R"(,"stream":true)")),
                                    "/v1/chat/completions"));
  const std::string streamed = client.read_until("\r\n0\r\n\r\n");
  for (const std::string& reply : {whole, streamed}) {
    EXPECT_NE(reply.find("X-Msh-Usage-Prompt-Tokens: " + usage["prompt_tokens"].dump() + "\r\n"),
              std::string::npos)
        << reply;
    EXPECT_NE(reply.find("X-Msh-Usage-Cached-Tokens: 5\r\n"), std::string::npos) << reply;
  }
}

TEST(ChatContract, OpenCallIdsAreRandom) {
  TestApi api(TestApi::says(kCalls));
  const std::string whole = api.post(after_calls("f_7", ""));
  const auto choices = from_completion(testing::body_of(whole));
  ASSERT_EQ(choices.at(0).call_ids.size(), 2U);
  for (const std::string& id : choices.at(0).call_ids) {
    EXPECT_TRUE(id.starts_with("call_")) << id;
  }
}

TEST(ChatContract, EveryIncrementCarriesItsTokenIdsWhenAskedFor) {
  TestApi api(TestApi::says(kCalls));
  std::vector<TokenId> ids;
  std::size_t increments = 0;
  for (const std::string& event : api.post_stream(after_calls(
           "x", R"(,"stream":true,"stream_options":{"include_internal_content":true})"))) {
    if (event == "[DONE]") {
      continue;
    }
    const Json chunk = Json::parse(event);
    for (const Json& choice : chunk["choices"]) {
      const Json& delta = choice["delta"];
      const bool increment = !delta.empty() && !delta.contains("role");
      EXPECT_EQ(delta.contains("internal_content"), increment) << event;
      if (increment) {
        ++increments;
        const auto some = delta["internal_content"]["token_ids"].get<std::vector<TokenId>>();
        EXPECT_FALSE(some.empty()) << event;
        ids.insert(ids.end(), some.begin(), some.end());
      }
    }
  }
  const auto all = chat::shapes::encode(*api.tokenizer, kCalls);
  EXPECT_GE(increments, 5U);
  EXPECT_EQ(ids, all) << "those that close the message are in the last one";
}

TEST(ChatContract, TokenIdsAreSentOnlyWhenAskedFor) {
  TestApi api(TestApi::says(kCalls));
  for (const std::string& event : api.post_stream(after_calls("x", R"(,"stream":true)"))) {
    EXPECT_EQ(event.find("internal_content"), std::string::npos);
  }
}

// One pass over a stream with everything in it.
TEST(ChatContract, FramesFollowTheVendorsStreamSpecification) {
  TestApi api(TestApi::says(kCalls));
  std::set<std::string> heads;
  std::vector<std::string> kinds;
  for (const std::string& event : api.post_stream(after_calls("x", R"(,"stream":true)"))) {
    if (event == "[DONE]") {
      kinds.emplace_back("done");
      continue;
    }
    const Json chunk = Json::parse(event);
    EXPECT_TRUE(
        std::regex_match(chunk["id"].get<std::string>(), std::regex("chatcmpl-[0-9a-f]{24}")));
    EXPECT_TRUE(chunk["created"].is_number_integer());
    heads.insert(chunk["id"].get<std::string>() + chunk["created"].dump() + chunk["model"].dump());
    if (chunk["choices"].empty()) {
      EXPECT_EQ(chunk["usage"]["completion_tokens_details"]["reasoning_tokens"], 3);
      EXPECT_EQ(chunk["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
      kinds.emplace_back("usage");
      continue;
    }
    const Json& choice = chunk["choices"][0];
    const Json& delta = choice["delta"];
    if (choice["finish_reason"].is_string()) {
      EXPECT_TRUE(delta.empty());
      EXPECT_EQ(choice["usage"]["cached_tokens"], 0);
      kinds.push_back(choice["finish_reason"]);
    } else if (delta.contains("tool_calls")) {
      const Json& call = delta["tool_calls"][0];
      const bool begins = call.contains("id");
      EXPECT_EQ(call.size(), begins ? 4U : 2U) << event;
      EXPECT_TRUE(call["function"].contains("arguments"));
      if (begins) {
        EXPECT_EQ(call["type"], "function");
        EXPECT_EQ(call["function"]["arguments"], "");
        kinds.push_back("call " + call["function"]["name"].get<std::string>());
      }
    } else {
      EXPECT_EQ(delta.contains("role"), kinds.empty()) << event;
      for (const char* key : {"role", "reasoning_content", "content"}) {
        if (delta.contains(key)) {
          const std::string text = delta[key];
          const std::string head = std::string(key) + "=";
          if (!text.empty() && !kinds.empty() && kinds.back().starts_with(head)) {
            kinds.back() += text;
          } else {
            kinds.push_back(head + text);
          }
          break;
        }
      }
    }
  }
  EXPECT_EQ(heads.size(), 1U) << "id, created and model are constant";
  const std::vector<std::string> expected = {"role=assistant",
                                             "reasoning_content=why",
                                             "reasoning_content=",
                                             "content=both",
                                             "call f",
                                             "call f",
                                             "tool_calls",
                                             "usage",
                                             "done"};
  EXPECT_EQ(kinds, expected);
}

}  // namespace
}  // namespace daybreak::api
