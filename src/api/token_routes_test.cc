// SPDX-License-Identifier: Apache-2.0
#include "api/token_routes.h"

#include <gtest/gtest.h>

#include "api/completion_test_client.h"

namespace daybreak::api {
namespace {

using Ids = std::vector<TokenId>;

Json post(TestApi& api, const std::string& path, const std::string& body, int status = 200) {
  const std::string reply = api.post(body, path);
  EXPECT_EQ(testing::status_of(reply), status) << body << reply;
  return Json::parse(testing::body_of(reply));
}

TEST(TokenRoutes, ATextBecomesTheIdsThatACompletionWouldSee) {
  TestApi api(TestApi::says("x"), {.engine = {.context_tokens = 1000}});
  for (const char* allow : {"true", "false"}) {
    const std::string fields = std::string(R"("prompt":"<|open|>hé","allow_special":)") + allow;
    const Json reply = post(api, "/tokenize", "{" + fields + R"(,"return_token_strs":true})");
    post(api, kCompletions, "{" + fields + "}");
    const Ids ids = api.engine.requests().back().prompt;
    EXPECT_EQ(reply["tokens"].get<Ids>(), ids);
    EXPECT_EQ(reply["count"], ids.size());
    EXPECT_EQ(reply["max_model_len"], 1000);
    EXPECT_EQ(reply["token_strs"].size(), ids.size());
  }
  EXPECT_TRUE(post(api, "/tokenize", R"({"prompt":"a"})")["token_strs"].is_null());
  EXPECT_EQ(post(api, "/tokenize", R"({"prompt":""})")["count"], 0);
}

TEST(TokenRoutes, AConversationBecomesThePromptOfTheChatRoute) {
  TestApi api(TestApi::says("x"));
  for (const std::string& body : {chat_body(kTools), chat_body(R"("reasoning_effort":"low")"),
                                  chat_body(R"("add_generation_prompt":false)"),
                                  chat_body(R"("chat_template_kwargs":{"thinking":false})")}) {
    const Json chat = post(api, "/v1/chat/completions", body);
    EXPECT_EQ(post(api, "/tokenize", body)["tokens"].get<Ids>(),
              api.engine.requests().back().prompt)
        << body;
    const Json count = post(api, "/v1/tokenizers/estimate-token-count", body);
    EXPECT_EQ(count["data"]["total_tokens"], chat["usage"]["prompt_tokens"]) << body;
  }
}

TEST(TokenRoutes, IdsBecomeTheirText) {
  TestApi api(TestApi::says("x"));
  for (const char* text : {"", "hello", "<|open|>think<|sep|>[EOS]", "𠮷 héllo"}) {
    const Json ids = post(api, "/tokenize", Json{{"prompt", text}}.dump())["tokens"];
    EXPECT_EQ(post(api, "/detokenize", Json{{"tokens", ids}, {"model", "nano"}}.dump())["prompt"],
              text);
  }
}

TEST(TokenRoutes, WhatChangesNothingIsNamed) {
  TestApi api(TestApi::says("x"));
  const auto ignored = [&](const char* path, const std::string& body) {
    const std::string reply = api.post(body, path);
    EXPECT_EQ(testing::status_of(reply), 200) << reply;
    const std::string name = "\r\nx-daybreak-ignored-fields: ";
    const std::size_t at = reply.find(name);
    return at == reply.npos
               ? ""
               : reply.substr(at + name.size(), reply.find("\r\n", at + 2) - at - name.size());
  };
  EXPECT_EQ(ignored("/tokenize", R"({"prompt":"a","return_token_strings":true,"other":null})"),
            "return_token_strings");
  EXPECT_EQ(ignored("/tokenize", R"({"prompt":"a","model":"nano","add_special_tokens":true})"), "");
  EXPECT_EQ(ignored("/tokenize", chat_body(R"("temperature":0.5,"reasoning_effort":"low")")),
            "temperature");
  EXPECT_EQ(ignored("/detokenize", R"({"tokens":[1],"skip_special_tokens":true})"),
            "skip_special_tokens");
  EXPECT_EQ(ignored("/v1/tokenizers/estimate-token-count", chat_body(R"("temprature":0.5)")),
            "temprature");
  const std::string message = R"({"messages":[{"role":"user","content":"h","foo":1}],"zzz":1})";
  EXPECT_EQ(ignored("/tokenize", message), "zzz, messages[].foo");
  EXPECT_EQ(ignored("/v1/tokenizers/estimate-token-count", message), "zzz, messages[].foo");
}

TEST(TokenRoutes, WhatIsWrongIsNamed) {
  TestApi api(TestApi::says("x"));
  struct Bad {
    const char* path;
    const char* body;
    const char* param;
  };
  for (const Bad& bad : {
           Bad{"/tokenize", "{}", "prompt"},
           Bad{"/tokenize", R"({"prompt":1})", "prompt"},
           Bad{"/tokenize", R"({"prompt":["a"]})", "prompt"},
           Bad{"/tokenize", R"({"prompt":"a","messages":[]})", "prompt"},
           Bad{"/tokenize", R"({"messages":[]})", "messages"},
           Bad{"/tokenize", R"({"prompt":"a","allow_special":1})", "allow_special"},
           Bad{"/tokenize", R"({"prompt":"a","add_special_tokens":1})", "add_special_tokens"},
           Bad{"/tokenize", R"({"prompt":"a","return_token_strs":1})", "return_token_strs"},
           Bad{"/detokenize", "{}", "tokens"},
           Bad{"/detokenize", R"({"tokens":"a"})", "tokens"},
           Bad{"/detokenize", R"({"tokens":[1,99999999]})", "tokens[1]"},
           Bad{"/v1/tokenizers/estimate-token-count", "{}", "messages"},
       }) {
    EXPECT_EQ(post(api, bad.path, bad.body, 400)["error"]["param"], bad.param) << bad.body;
  }
  for (const char* path : {"/tokenize", "/detokenize", "/v1/tokenizers/estimate-token-count"}) {
    post(api, path, "[]", 400);
    post(api, path,
         R"({"model":"gpt-9","prompt":"a","tokens":[],"messages":)"
         R"([{"role":"user","content":"a"}]})",
         404);
  }
}

TEST(Invocations, TheBodySaysWhichRouteIsMeant) {
  TestApi api(TestApi::says("<|close|>think<|sep|><|open|>response<|sep|>hi"));
  EXPECT_EQ(post(api, "/invocations", chat_body())["object"], "chat.completion");
  EXPECT_EQ(post(api, "/invocations", completion_body())["object"], "text_completion");
  for (const std::string& body : {chat_body(R"("seed":1)"), completion_body(R"("seed":1)")}) {
    const bool chat = body.find("messages") != std::string::npos;
    Json direct = post(api, chat ? "/v1/chat/completions" : kCompletions, body);
    Json invoked = post(api, "/invocations", body);
    direct.erase("id");
    invoked.erase("id");
    direct.erase("created");
    invoked.erase("created");
    EXPECT_EQ(invoked, direct);
  }
  const auto events = api.post_stream(completion_body(R"("stream":true)"), "/invocations");
  EXPECT_EQ(events.back(), "[DONE]");
  EXPECT_EQ(post(api, "/invocations", "{}", 400)["error"]["param"], "messages");
  EXPECT_EQ(post(api, "/invocations", R"({"messages":[],"prompt":"a"})", 400)["error"]["param"],
            "prompt");
  post(api, "/invocations", "[", 400);
}

}  // namespace
}  // namespace daybreak::api
