// SPDX-License-Identifier: Apache-2.0
// The Responses API, request by request: what answers contain, loops of tools, what is kept,
// errors.

#include <gtest/gtest.h>

#include "api/responses_test_reader.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

constexpr const char* kAnswer =
    "think<|close|>think<|sep|><|open|>response<|sep|>hello you<|close|>response<|sep|>"
    "<|close|>message<|sep|><|end_of_msg|>";
constexpr const char* kCall =
    "plan<|close|>think<|sep|><|open|>response<|sep|>text<|close|>response<|sep|>"
    "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>"
    "<|open|>argument key=\"a\" type=\"string\"<|sep|>x<|close|>argument<|sep|><|close|>call<|sep|>"
    "<|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>";

std::string prompt_text(const TestApi& api, std::size_t request) {
  std::string text;
  const engine::GenerateRequest asked = api.engine.requests().at(request);
  for (const TokenId id : asked.prompt) {
    text += api.tokenizer->bytes_of(id);
  }
  return text;
}

Json error_of(TestApi& api, const std::string& body, int status) {
  const std::string reply = api.post(body, kResponsesPath);
  EXPECT_EQ(status_of(reply), status) << reply;
  return Json::parse(body_of(reply))["error"];
}

TEST(Responses, PlainResponseHasEveryPart) {
  TestApi api(TestApi::says(kAnswer));
  const Json json = post_response(api, responses_body(R"("metadata":{"k":"v"},"user":"u")"));
  EXPECT_TRUE(json["id"].get<std::string>().starts_with("resp_"));
  EXPECT_EQ(json["object"], "response");
  EXPECT_EQ(json["status"], "completed");
  EXPECT_GT(json["created_at"].get<std::int64_t>(), 1'600'000'000);
  EXPECT_EQ(json["model"], "nano");
  EXPECT_EQ(json["metadata"], Json({{"k", "v"}}));
  EXPECT_EQ(json["user"], "u");
  EXPECT_EQ(json["tool_choice"], "auto");
  EXPECT_EQ(json["tools"], Json::array());
  EXPECT_EQ(json["text"]["format"]["type"], "text");
  EXPECT_EQ(json["store"], true);
  for (const char* null : {"error", "incomplete_details", "instructions", "max_output_tokens",
                           "previous_response_id"}) {
    EXPECT_TRUE(json.contains(null) && json[null].is_null()) << null;
  }
  ASSERT_EQ(json["output"].size(), 2U);
  EXPECT_EQ(json["output"][0]["type"], "reasoning");
  EXPECT_EQ(json["output"][0]["summary"], Json::array());
  EXPECT_EQ(json["output"][0]["content"][0]["text"], "think");
  EXPECT_FALSE(json["output"][0].contains("encrypted_content"));
  EXPECT_EQ(json["output"][1]["role"], "assistant");
  EXPECT_EQ(json["output"][1]["content"][0]["text"], "hello you");
  EXPECT_EQ(json["output"][1]["content"][0]["annotations"], Json::array());
}

TEST(Responses, UsageIsThatOfTheChatRoute) {
  TestApi api(TestApi::says(kAnswer));
  const Json usage = post_response(api, responses_body())["usage"];
  const Json chat = Json::parse(body_of(api.post(chat_body())))["usage"];
  EXPECT_EQ(usage["input_tokens"], chat["prompt_tokens"]);
  EXPECT_EQ(usage["output_tokens"], chat["completion_tokens"]);
  EXPECT_EQ(usage["total_tokens"], chat["total_tokens"]);
  EXPECT_EQ(usage["output_tokens_details"], chat["completion_tokens_details"]);
  EXPECT_EQ(usage["input_tokens_details"], chat["prompt_tokens_details"]);
  EXPECT_EQ(api.engine.requests()[0].prompt, api.engine.requests()[1].prompt);
}

TEST(Responses, MarkersNeverLeakAndTheAnswerComesOnce) {
  // The closing of the thinking lacks its separator: a known way to lose an answer.
  TestApi api(
      TestApi::says("plan<|close|>think<|open|>response<|sep|>answer<|close|>response<|sep|>"
                    "<|close|>message<|sep|><|end_of_msg|>"));
  const ResponsesReader reader(post_responses_stream(api, responses_body(R"("stream":true)")));
  ASSERT_EQ(reader.response["output"].size(), 2U);
  EXPECT_EQ(reader.response["output"][0]["content"][0]["text"], "plan");
  EXPECT_EQ(reader.response["output"][1]["content"][0]["text"], "answer");
  EXPECT_EQ(reader.response.dump().find("<|"), std::string::npos);
}

TEST(Responses, ToolLoopByHistoryAndByPreviousResponseIsOnePrompt) {
  TestApi api(TestApi::says(kCall));
  const std::string ask = R"({"model":"nano","instructions":"I","input":"go",)";
  const Json first = post_response(api, ask + kFlatTool + "}");
  ASSERT_EQ(first["output"].size(), 3U);
  const Json call = first["output"][2];
  EXPECT_EQ(call["type"], "function_call");
  EXPECT_EQ(call["name"], "f");
  EXPECT_EQ(call["arguments"], R"({"a":"x"})");
  EXPECT_TRUE(call["call_id"].get<std::string>().starts_with("call_"));
  EXPECT_TRUE(call["id"].get<std::string>().starts_with("fc_"));
  const Json result = {
      {"type", "function_call_output"}, {"call_id", call["call_id"]}, {"output", "42"}};
  Json by_history = Json::parse(ask + kFlatTool + "}");
  by_history["input"] = Json::array({{{"role", "user"}, {"content", "go"}}});
  Json by_reference = by_history;
  for (const Json& item : first["output"]) {
    by_history["input"].push_back(item);
    by_reference["input"].push_back({{"type", "item_reference"}, {"id", item["id"]}});
  }
  by_history["input"].push_back(result);
  by_reference["input"].push_back(result);
  Json by_previous = Json::parse(ask + kFlatTool + "}");
  by_previous["previous_response_id"] = first["id"];
  by_previous["input"] = Json::array({result});
  for (const Json& body : {by_history, by_reference, by_previous}) {
    post_response(api, body.dump());
  }
  const std::string prompt = prompt_text(api, 1);
  EXPECT_NE(prompt.find("plan"), std::string::npos);
  EXPECT_NE(prompt.find("42"), std::string::npos);
  EXPECT_EQ(prompt_text(api, 2), prompt);
  EXPECT_EQ(prompt_text(api, 3), prompt);
}

// A client that keeps nothing but what include asks for: the reasoning comes back in its seal.
TEST(Responses, SealedReasoningIsTheReasoningOfTheNextPrompt) {
  TestApi api(TestApi::says(kAnswer));
  const Json first = post_response(
      api, responses_body(R"("store":false,"include":["reasoning.encrypted_content"])"));
  EXPECT_EQ(first["store"], false);
  Json bare = first["output"][0];
  bare.erase("content");
  for (const Json& reasoning : {first["output"][0], bare}) {
    const Json input = Json::array({{{"role", "user"}, {"content", "hi"}},
                                    reasoning,
                                    first["output"][1],
                                    {{"role", "user"}, {"content", "more"}}});
    post_response(api, Json({{"input", input}}).dump());
  }
  EXPECT_EQ(prompt_text(api, 1), prompt_text(api, 2));
  EXPECT_NE(prompt_text(api, 2).find("think<|sep|>think<|close|>"), std::string::npos)
      << prompt_text(api, 2);
  EXPECT_EQ(error_of(api, R"({"input":"q","previous_response_id":)" + first["id"].dump() + "}",
                     404)["param"],
            "previous_response_id");
}

TEST(Responses, ACallCutByTheLengthLimitIsIncompleteAndNeverDone) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  const auto whole = chat::shapes::encode(*tokenizer, kCall);
  const auto close = chat::shapes::encode(*tokenizer, "<|close|>").at(0);
  std::size_t inside = 0;  // tokens up to the value of the argument
  for (std::size_t i = 0, seen = 0; i < whole.size(); ++i) {
    if (whole[i] == close && ++seen == 3) {
      inside = i;
    }
  }
  TestApi api(TestApi::says(kCall));
  const std::string fields =
      kFlatTool + (R"(,"max_output_tokens":)" + std::to_string(inside)) + R"(,"stream":)";
  const Json one_shot = post_response(api, responses_body(fields + "false"));
  EXPECT_EQ(one_shot["status"], "incomplete");
  EXPECT_EQ(one_shot["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(one_shot["max_output_tokens"], inside);
  EXPECT_EQ(one_shot["output"].back()["type"], "function_call");
  EXPECT_EQ(one_shot["output"].back()["status"], "incomplete");
  EXPECT_EQ(one_shot["output"][0]["status"], "completed");
  EXPECT_FALSE(nlohmann::json::accept(one_shot["output"].back()["arguments"].get<std::string>()));
  // The reader checks that no arguments.done comes.
  const ResponsesReader reader(post_responses_stream(api, responses_body(fields + "true")));
  EXPECT_EQ(reader.last, "response.incomplete");
  EXPECT_EQ(response_without_ids(reader.response), response_without_ids(one_shot));
}

TEST(Responses, TextFormatHoldsDecoding) {
  TestApi api(TestApi::says(kAnswer));
  const std::string schema = R"({"type":"object","properties":{"a":{"type":"integer"}}})";
  const std::string body = responses_body(
      R"("text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":)" + schema +
      "}}");
  const Json json = post_response(api, body);
  EXPECT_EQ(json["text"]["format"]["name"], "n");
  EXPECT_TRUE(api.engine.requests().at(0).constraint != nullptr);
  EXPECT_NE(prompt_text(api, 0).find(R"("type":"integer")"), std::string::npos);
  const Json error =
      error_of(api,
               responses_body(R"("text":{"format":{"type":"json_schema","name":"n","schema":)"
                              R"({"type":"string","pattern":"("}}})"),
               400);
  EXPECT_EQ(error["param"].get<std::string>().substr(0, 18), "text.format.schema") << error;
}

TEST(Responses, ErrorsOfToolSchemasNameTheToolAsWritten) {
  TestApi api(TestApi::says(kAnswer));
  const Json error = error_of(
      api,
      responses_body(R"("tools":[{"type":"function","name":"g"},{"type":"function","name":"f",)"
                     R"("parameters":{"type":"object","properties":{"a":{"pattern":"("}}}}])"),
      400);
  EXPECT_TRUE(error["message"].get<std::string>().starts_with("tools[1].parameters")) << error;
}

TEST(Responses, ErrorsBeforeTheStreamAreStatuses) {
  TestApi api([](const engine::GenerateRequest&) {
    engine::Script script;
    script.error = Error{Errc::kIo, "it broke"};
    return script;
  });
  for (const char* stream : {"false", "true"}) {
    const Json error = error_of(api, responses_body(R"("stream":)" + std::string(stream)), 500);
    EXPECT_EQ(error["message"], "it broke");
  }
  EXPECT_EQ(error_of(api, R"({"model":"other","input":"q"})", 404)["type"],
            "resource_not_found_error");
  EXPECT_EQ(error_of(api, R"({"input":"q","background":true})", 400)["param"], "background");
  EXPECT_EQ(error_of(api,
                     R"({"input":[{"role":"user","content":[{"type":"input_image",)"
                     R"("image_url":"data:x"}]}]})",
                     400)["message"]
                .get<std::string>()
                .substr(0, 19),
            "input[0].content[0]");
}

TEST(Responses, AnErrorInsideTheStreamEndsItAsFailed) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  TestApi api([&](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = chat::shapes::encode(*tokenizer, "some thought");
    script.error = Error{Errc::kIo, "it broke"};
    script.delay_per_token = std::chrono::milliseconds(20);
    return script;
  });
  const ResponsesReader reader(post_responses_stream(api, responses_body(R"("stream":true)")));
  EXPECT_EQ(reader.last, "response.failed");
  EXPECT_EQ(reader.response["status"], "failed");
  EXPECT_EQ(reader.response["error"]["code"], "server_error");
  EXPECT_EQ(reader.response["error"]["message"], "it broke");
  EXPECT_EQ(reader.response["output"][0]["status"], "incomplete");
  EXPECT_EQ(reader.error["message"], "it broke");
  EXPECT_EQ(reader.error["error"]["type"], "server_error");
  const std::string id = reader.response["id"];
  EXPECT_EQ(status_of(api.get("/v1/responses/" + id)), 404);  // nothing of it is kept
}

TEST(Responses, ChainsGoOnAndInstructionsDoNot) {
  TestApi api(TestApi::says(kAnswer));
  std::string previous;
  for (int turn = 0; turn < 3; ++turn) {
    Json body = {{"input", "turn " + std::to_string(turn)},
                 {"instructions", "I" + std::to_string(turn)},
                 {"stream", turn == 1}};
    if (turn > 0) {
      body["previous_response_id"] = previous;
    }
    const Json json = turn == 1 ? ResponsesReader(post_responses_stream(api, body.dump())).response
                                : post_response(api, body.dump());
    previous = json["id"];
  }
  const std::string prompt = prompt_text(api, 2);
  for (const char* part : {"I2", "turn 0", "turn 1", "turn 2", "hello you"}) {
    EXPECT_NE(prompt.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(prompt.find("I0"), std::string::npos);
  EXPECT_EQ(prompt.find("I1"), std::string::npos);
  EXPECT_LT(prompt.find("turn 0"), prompt.find("turn 1"));
}

TEST(Responses, KeptResponsesCanBeReadListedAndDeleted) {
  TestApi api(TestApi::says(kAnswer));
  const Json made = post_response(
      api, R"({"input":[{"role":"user","content":"a"},{"role":"user","content":"b"}]})");
  const std::string path = "/v1/responses/" + made["id"].get<std::string>();
  EXPECT_EQ(Json::parse(body_of(api.get(path))), made);
  const Json items = Json::parse(body_of(api.get(path + "/input_items")));
  EXPECT_EQ(items["object"], "list");
  ASSERT_EQ(items["data"].size(), 2U);
  EXPECT_EQ(items["data"][0]["content"][0]["text"], "b");  // the last first
  EXPECT_EQ(items["has_more"], false);
  EXPECT_EQ(items["first_id"], items["data"][0]["id"]);
  const Json page = Json::parse(body_of(api.get(path + "/input_items?order=asc&limit=1")));
  EXPECT_EQ(page["data"][0]["content"][0]["text"], "a");
  EXPECT_EQ(page["has_more"], true);
  const Json next = Json::parse(body_of(
      api.get(path + "/input_items?order=asc&after=" + page["last_id"].get<std::string>())));
  EXPECT_EQ(next["data"][0]["content"][0]["text"], "b");
  for (const char* bad : {"limit=0", "limit=101", "order=up", "after=x", "page=2"}) {
    EXPECT_EQ(status_of(api.get(path + "/input_items?" + bad)), 400) << bad;
  }
  RawClient client(api.server->port());
  client.send("DELETE " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string deleted = client.read_response();
  EXPECT_EQ(status_of(deleted), 200);
  EXPECT_EQ(Json::parse(body_of(deleted))["deleted"], true);
  EXPECT_EQ(status_of(api.get(path)), 404);
  EXPECT_EQ(status_of(api.get(path + "/input_items")), 404);
}

TEST(Responses, InputTokensAreThoseTheRequestIsBilledFor) {
  TestApi api(TestApi::says(kAnswer));
  const Json first = post_response(api, responses_body());
  const std::string path = std::string(kResponsesPath) + "/input_tokens";
  const std::string previous = R"("previous_response_id":)" + first["id"].dump();
  const std::size_t generated = api.engine.requests().size();
  for (const std::string& more :
       {std::string(), std::string(kFlatTool), std::string(R"("instructions":"Be short.")"),
        std::string(R"("reasoning":{"effort":"none"})"), previous,
        std::string(
            R"("text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}})")}) {
    SCOPED_TRACE(more);
    const std::size_t before = api.engine.requests().size();
    const Json count = Json::parse(body_of(api.post(responses_body(more), path)));
    EXPECT_EQ(api.engine.requests().size(), before) << "counting generates nothing";
    const Json response = post_response(api, responses_body(more));
    EXPECT_EQ(count, (Json{{"object", "response.input_tokens"},
                           {"input_tokens", response["usage"]["input_tokens"]}}));
  }
  EXPECT_GT(api.engine.requests().size(), generated);
  const std::string bad = api.post(R"({"input":[{"type":"mcp_call"}]})", path);
  EXPECT_EQ(status_of(bad), 400);
  EXPECT_EQ(Json::parse(body_of(bad))["error"]["param"], "input[0].type");
  EXPECT_EQ(status_of(api.post(R"({"model":"gpt","input":"x"})", path)), 404);
  TestApi small(TestApi::says(kAnswer), {.engine = {.context_tokens = 20}});
  EXPECT_EQ(status_of(small.post(responses_body(), path)), 200) << "whether or not it fits";
}

TEST(Responses, WhatIsNotSupportedSaysWhy) {
  TestApi api(TestApi::says(kAnswer));
  const Json first = post_response(api, responses_body());
  const std::string base = std::string(kResponsesPath) + "/";
  const std::string id = first["id"];
  for (const auto& [path, says] : std::vector<std::pair<std::string, std::string>>{
           {id + "/cancel", "none is made in the background"},
           {"compact", "nothing is ever dropped or summarised"}}) {
    const std::string reply = api.post("{}", base + path);
    EXPECT_EQ(status_of(reply), 400) << reply;
    const Json error = Json::parse(body_of(reply))["error"];
    EXPECT_EQ(error["code"], "unsupported");
    EXPECT_EQ(error["type"], "invalid_request_error");
    EXPECT_NE(error["message"].get<std::string>().find(says), std::string::npos) << error;
  }
  EXPECT_EQ(status_of(api.post("{}", base + "resp_x/cancel")), 404);
  EXPECT_EQ(status_of(api.get(base + id)), 200) << "still kept";
}

TEST(Responses, AnEvictedResponseIsNotFoundAndSaysWhy) {
  TestApi api(TestApi::says(kAnswer), {.responses = {.max_responses = 1}});
  const Json first = post_response(api, responses_body());
  post_response(api, responses_body());
  const Json error =
      error_of(api, responses_body(R"("previous_response_id":)" + first["id"].dump()), 404);
  EXPECT_NE(error["message"].get<std::string>().find("fewer when others need the room"),
            std::string::npos);
  EXPECT_TRUE(error["message"].get<std::string>().starts_with("previous_response_id: no response"));
}

TEST(Responses, StoreFalseTooLargeAndSwitchedOffKeepNothingAndSaySo) {
  TestApi api(TestApi::says(kAnswer), {.responses = {.max_bytes = 4'000}});
  const std::string large = std::string(4'000, 'x');
  const Json unkept = post_response(api, R"({"input":")" + large + "\"}");
  EXPECT_EQ(unkept["store"], false);
  const ResponsesReader stream(
      post_responses_stream(api, R"({"stream":true,"input":")" + large + "\"}"));
  EXPECT_EQ(stream.response["store"], false);
  EXPECT_EQ(post_response(api, responses_body(R"("store":false)"))["store"], false);
  TestApi off(TestApi::says(kAnswer), {.responses = {.max_bytes = 0}});
  EXPECT_EQ(post_response(off, responses_body())["store"], false);
  EXPECT_EQ(error_of(off, responses_body(R"("store":true)"), 400)["param"], "store");
  EXPECT_NE(error_of(off, responses_body(R"("previous_response_id":"resp_x")"), 404)["message"]
                .get<std::string>()
                .find("response_store_mb is 0"),
            std::string::npos);
}

TEST(Responses, IgnoredFieldsAreReported) {
  TestApi api(TestApi::says(kAnswer));
  const std::string reply = api.post(
      responses_body(R"("service_tier":"priority","text":{"verbosity":"low"})"), kResponsesPath);
  EXPECT_NE(reply.find("x-daybreak-ignored-fields: service_tier, text.verbosity\r\n"),
            std::string::npos)
      << reply;
}

}  // namespace
}  // namespace daybreak::api
