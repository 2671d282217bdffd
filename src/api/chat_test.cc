// SPDX-License-Identifier: Apache-2.0
// What a chat reply contains, request by request.

#include <gtest/gtest.h>

#include <set>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

using testing::body_of;
using testing::status_of;

constexpr const char* kAnswer =
    "think<|close|>think<|sep|><|open|>response<|sep|>hello you<|close|>response<|sep|>"
    "<|close|>message<|sep|><|end_of_msg|>";
constexpr const char* kTwoCalls =
    "<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|>"
    "<|open|>call tool=\"f\" index=\"1\"<|sep|><|open|>argument key=\"a\" type=\"string\"<|sep|>x"
    "<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool=\"f\" index=\"2\"<|sep|>"
    "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>";

TEST(Chat, PlainReplyHasEveryPart) {
  TestApi api(TestApi::says(kAnswer));
  const std::string reply = api.post(chat_body());
  ASSERT_EQ(status_of(reply), 200) << reply;
  const Json json = Json::parse(body_of(reply));
  EXPECT_EQ(json["object"], "chat.completion");
  EXPECT_EQ(json["model"], "nano");
  EXPECT_TRUE(json["id"].get<std::string>().starts_with("chatcmpl-"));
  EXPECT_GT(json["created"].get<std::int64_t>(), 1'600'000'000);
  const ClientChoice choice = from_completion(body_of(reply)).at(0);
  EXPECT_EQ(choice.reasoning, "think");
  EXPECT_EQ(choice.content, "hello you");
  EXPECT_EQ(choice.finish_reason, "stop");
}

TEST(Chat, UsageCountsThePromptWithoutItsStubAndEverySampledId) {
  TestApi api(TestApi::says(kAnswer));
  const Json usage = Json::parse(body_of(api.post(chat_body())))["usage"];
  const engine::GenerateRequest request = api.engine.requests().at(0);
  const auto prompt = chat::shapes::encode(*api.tokenizer, "<|open|>think<|sep|>");
  const auto answer = chat::shapes::encode(*api.tokenizer, kAnswer);
  EXPECT_EQ(usage["prompt_tokens"], request.prompt.size() - prompt.size());
  EXPECT_EQ(usage["completion_tokens"], answer.size());
  EXPECT_EQ(usage["total_tokens"], request.prompt.size() - prompt.size() + answer.size());
  EXPECT_EQ(usage["completion_tokens_details"]["reasoning_tokens"],
            chat::shapes::encode(*api.tokenizer, "think").size());
  EXPECT_EQ(usage["prompt_tokens_details"]["cached_tokens"], 0);
}

TEST(Chat, PartialPromptHasNothingSubtracted) {
  TestApi api(TestApi::says("end<|close|>response<|sep|><|end_of_msg|>"));
  const std::string reply =
      api.post(R"({"model":"nano","messages":[{"role":"user","content":"hi"},)"
               R"({"role":"assistant","partial":true,"content":"The "}]})");
  ASSERT_EQ(status_of(reply), 200) << reply;
  const Json json = Json::parse(body_of(reply));
  EXPECT_EQ(json["usage"]["prompt_tokens"], api.engine.requests().at(0).prompt.size());
  EXPECT_EQ(json["choices"][0]["message"]["content"], "end");
}

TEST(Chat, StreamCarriesUsageInTheLastChoiceAndInAFinalChunk) {
  TestApi api(TestApi::says(kAnswer));
  const auto events = api.post_stream(chat_body(R"("stream":true)"));
  ASSERT_GE(events.size(), 4U);
  EXPECT_EQ(events.back(), "[DONE]");
  const Json final_chunk = Json::parse(events[events.size() - 2]);
  EXPECT_EQ(final_chunk["choices"], Json::array());
  const Json last = Json::parse(events[events.size() - 3]);
  EXPECT_EQ(last["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(last["choices"][0]["usage"], final_chunk["usage"]);
  EXPECT_EQ(final_chunk["usage"], Json::parse(body_of(api.post(chat_body())))["usage"]);
}

TEST(Chat, EveryChoiceEndsWithTheUsageSoFarAndTheLastWithAllOfIt) {
  TestApi api(TestApi::says(kAnswer));
  const auto events = api.post_stream(chat_body(R"("stream":true,"n":3)"));
  std::vector<std::size_t> completion;
  Json last;
  for (const std::string& event : events) {
    if (event == "[DONE]") {
      continue;
    }
    const Json chunk = Json::parse(event);
    if (chunk["choices"].empty()) {
      EXPECT_EQ(chunk["usage"], last);
    } else if (!chunk["choices"][0]["finish_reason"].is_null()) {
      last = chunk["choices"][0]["usage"];
      completion.push_back(last["completion_tokens"].get<std::size_t>());
      EXPECT_TRUE(last["completion_tokens_details"]["reasoning_tokens"].is_number());
      EXPECT_TRUE(last["prompt_tokens_details"]["cached_tokens"].is_number());
    }
  }
  ASSERT_EQ(completion.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(completion));
  EXPECT_EQ(completion.back(), 3 * chat::shapes::encode(*api.tokenizer, kAnswer).size());
}

TEST(Chat, FinalUsageChunkCanBeSwitchedOff) {
  TestApi api(TestApi::says(kAnswer));
  const auto events =
      api.post_stream(chat_body(R"("stream":true,"stream_options":{"include_usage":false})"));
  const Json last = Json::parse(events[events.size() - 2]);
  EXPECT_EQ(last["choices"][0]["finish_reason"], "stop");
  EXPECT_TRUE(last["choices"][0].contains("usage"));
}

TEST(Chat, SeveralChoicesAreOneSubmissionEachAndOneUsage) {
  TestApi api(TestApi::says(kAnswer));
  const Json json = Json::parse(body_of(api.post(chat_body(R"("n":3,"seed":7)"))));
  ASSERT_EQ(json["choices"].size(), 3U);
  const auto requests = api.engine.requests();
  ASSERT_EQ(requests.size(), 3U);
  std::set<std::uint32_t> choices;
  for (const auto& request : requests) {
    EXPECT_EQ(request.sampling.seed, 7U);
    choices.insert(request.sampling.choice);
  }
  EXPECT_EQ(choices, (std::set<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(json["usage"]["completion_tokens"],
            3 * chat::shapes::encode(*api.tokenizer, kAnswer).size());
}

TEST(Chat, ToolCallsHaveDistinctIdsAndTheirFinishReason) {
  TestApi api(TestApi::says(kTwoCalls));
  const auto choice = from_completion(body_of(api.post(chat_body(kTools)))).at(0);
  ASSERT_EQ(choice.calls.size(), 2U);
  EXPECT_EQ(choice.calls[0], (std::pair<std::string, std::string>{"f", R"({"a":"x"})"}));
  EXPECT_EQ(choice.calls[1].second, "{}");
  EXPECT_EQ(choice.finish_reason, "tool_calls");
  EXPECT_NE(choice.call_ids[0], choice.call_ids[1]);
  for (const std::string& id : choice.call_ids) {
    EXPECT_TRUE(id.starts_with("call_")) << id;
  }
  const auto streamed =
      from_events(api.post_stream(chat_body(std::string(kTools) + R"(,"stream":true)"))).at(0);
  EXPECT_EQ(streamed.calls, choice.calls);
}

TEST(Chat, ParallelCallsCanBeSwitchedOff) {
  TestApi api(TestApi::says(kTwoCalls));
  const auto choice =
      from_completion(
          body_of(api.post(chat_body(std::string(kTools) + R"(,"parallel_tool_calls":false)"))))
          .at(0);
  EXPECT_EQ(choice.calls.size(), 1U);
}

TEST(Chat, StopStringEndsContentAndTheEnginesWork) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  TestApi api([&](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = chat::shapes::encode(
        *tokenizer, "o y<|close|>think<|sep|><|open|>response<|sep|>hello you and more");
    script.hang = true;  // only being told can end it
    return script;
  });
  for (const char* stream : {"", R"(,"stream":true)"}) {
    const std::string body = chat_body(R"("stop":["o y"])" + std::string(stream));
    const auto choice = *stream == '\0' ? from_completion(body_of(api.post(body))).at(0)
                                        : from_events(api.post_stream(body)).at(0);
    EXPECT_EQ(choice.reasoning, "o y");  // not searched
    EXPECT_EQ(choice.content, "hell");
    EXPECT_EQ(choice.finish_reason, "stop");
  }
  EXPECT_TRUE(eventually([&] { return api.engine.stats().finished_stop == 2; }));
}

TEST(Chat, StopTokenIdsEndTheAnswerUnseen) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  const TokenId stop = chat::shapes::encode(*tokenizer, "x").at(0);
  TestApi api(TestApi::says("<|close|>think<|sep|><|open|>response<|sep|>hellox"));
  const Json json = Json::parse(
      body_of(api.post(chat_body(R"("stop_token_ids":[)" + std::to_string(stop) + "]"))));
  EXPECT_EQ(json["choices"][0]["message"]["content"], "hello");
  const auto ids = api.engine.requests().at(0).stop_ids;
  EXPECT_NE(std::ranges::find(ids, stop), ids.end());
  EXPECT_NE(std::ranges::find(ids, *api.tokenizer->special("<|end_of_msg|>")), ids.end());
}

TEST(Chat, IgnoreEosRemovesTheModelsOwnStops) {
  TestApi api(TestApi::says(kAnswer));
  api.post(chat_body(R"("ignore_eos":true,"max_tokens":20)"));
  EXPECT_TRUE(api.engine.requests().at(0).stop_ids.empty());
  EXPECT_EQ(api.engine.requests().at(0).max_tokens, 20U);
}

TEST(Chat, LengthIsReportedAsSuch) {
  TestApi api(TestApi::says(kAnswer));
  const auto choice = from_completion(body_of(api.post(chat_body(R"("max_tokens":2)")))).at(0);
  EXPECT_EQ(choice.finish_reason, "length");
  EXPECT_EQ(choice.content, "");
  EXPECT_NE(choice.reasoning, "");
}

TEST(Chat, LogprobsCoverExactlyTheContentTokens) {
  TestApi api(TestApi::says(kAnswer));
  const auto choice =
      from_completion(body_of(api.post(chat_body(R"("logprobs":true,"top_logprobs":2)")))).at(0);
  std::string text;
  for (const Json& entry : choice.logprobs) {
    text += entry["token"].get<std::string>();
    EXPECT_EQ(entry["logprob"], -0.5);
  }
  EXPECT_EQ(text, "hello you");
  EXPECT_EQ(api.engine.requests().at(0).sampling.logprobs, 2U);
}

TEST(Chat, SamplingParametersReachTheEngine) {
  TestApi api(TestApi::says(kAnswer));
  api.post(chat_body(
      R"("temperature":0.5,"top_p":0.25,"top_k":7,"min_p":0.125,"typical_p":0.75,"seed":9,)"
      R"("repetition_penalty":1.5,"presence_penalty":0.5,"frequency_penalty":-0.5,)"
      R"("logit_bias":{"3":2},"min_tokens":1,"max_completion_tokens":30,"max_tokens":40)"));
  const auto request = api.engine.requests().at(0);
  EXPECT_EQ(request.sampling.temperature, 0.5F);
  EXPECT_EQ(request.sampling.top_p, 0.25F);
  EXPECT_EQ(request.sampling.top_k, 7);
  EXPECT_EQ(request.sampling.min_p, 0.125F);
  EXPECT_EQ(request.sampling.typical_p, 0.75F);
  EXPECT_EQ(request.sampling.repetition_penalty, 1.5F);
  EXPECT_EQ(request.sampling.presence_penalty, 0.5F);
  EXPECT_EQ(request.sampling.frequency_penalty, -0.5F);
  EXPECT_EQ(request.sampling.logit_bias, (std::vector<std::pair<TokenId, float>>{{3, 2.0F}}));
  EXPECT_EQ(request.sampling.seed, 9U);
  EXPECT_EQ(request.min_tokens, 1U);
  EXPECT_EQ(request.max_tokens, 30U);
}

TEST(Chat, AllowedIdsAndBadWordsReachTheEngine) {
  TestApi api(TestApi::says(kAnswer));
  api.post(chat_body(R"("allowed_token_ids":[5,6],"bad_words":["hello"])"));
  const auto request = api.engine.requests().at(0);
  EXPECT_EQ(request.sampling.allowed_token_ids, (std::vector<TokenId>{5, 6}));
  EXPECT_EQ(request.sampling.bad_words,
            (std::vector<std::vector<TokenId>>{chat::shapes::encode(*api.tokenizer, "hello"),
                                               chat::shapes::encode(*api.tokenizer, " hello")}));
}

TEST(Chat, RefusedFieldIsABadRequestThatNamesIt) {
  TestApi api(TestApi::says(kAnswer));
  const std::string reply = api.post(chat_body(R"("echo":true)"));
  EXPECT_EQ(testing::status_of(reply), 400);
  const Json error = Json::parse(testing::body_of(reply))["error"];
  EXPECT_EQ(error["param"], "echo");
  EXPECT_EQ(error["type"], "invalid_request_error");
}

TEST(Chat, DefaultsAreTheServersAndSeedsDiffer) {
  TestApi api(TestApi::says(kAnswer));
  api.post(chat_body());
  api.post(chat_body());
  const auto requests = api.engine.requests();
  EXPECT_EQ(requests[0].sampling.temperature, 1.0F);
  EXPECT_EQ(requests[0].sampling.top_p, 0.95F);
  EXPECT_EQ(requests[0].max_tokens, 131'072U);
  EXPECT_NE(requests[0].sampling.seed, requests[1].sampling.seed);
}

TEST(Chat, DefaultAnswerIsWhatTheContextLeaves) {
  TestApi api(TestApi::says(kAnswer), {.engine = {.context_tokens = 9000}});
  api.post(chat_body());
  const engine::GenerateRequest request = api.engine.requests()[0];
  EXPECT_EQ(request.max_tokens, 9000 - request.prompt.size());
}

TEST(Chat, UnknownFieldsAreNamedInAHeader) {
  TestApi api(TestApi::says(kAnswer));
  EXPECT_NE(api.post(chat_body(R"("wibble":1,"wobble":2)"))
                .find("x-daybreak-ignored-fields: wibble, wobble\r\n"),
            std::string::npos);
}

TEST(Chat, AliasIsAcceptedAndTheFirstNameReported) {
  TestApi api(TestApi::says(kAnswer));
  const std::string reply =
      api.post(R"({"model":"kimi-k3","messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(Json::parse(body_of(reply))["model"], "nano");
}

TEST(Chat, AccessLogHasNumbersAndNoContent) {
  TestApi api(TestApi::says(kAnswer));
  api.post(R"({"model":"nano","messages":[{"role":"user","content":"canary-prompt"}]})");
  ASSERT_TRUE(eventually([&] { return !api.logged().empty(); }));
  const std::string line = api.logged();
  for (const char* part : {"request id=req-", "route=/v1/chat/completions", "status=200",
                           "prompt_tokens=", "completion_tokens=", "ttft_ms=", "total_ms="}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
  }
  EXPECT_EQ(line.find("canary"), std::string::npos);
  EXPECT_EQ(line.find("hello"), std::string::npos);
  EXPECT_EQ(api.metrics.text().find("canary"), std::string::npos);
}

}  // namespace
}  // namespace daybreak::api
