// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/completion_test_client.h"

namespace daybreak::api {
namespace {

using Ids = std::vector<TokenId>;

// Answers with the text, and then its end, unless max_tokens cuts it.
TestApi::ScriptFn ends(const std::string& text) { return TestApi::says(text + "<|end_of_msg|>"); }

Ids ids_of(const TestApi& api, const std::string& text,
           tokenizer::AllowSpecial allow = tokenizer::AllowSpecial::kYes) {
  Ids ids;
  api.tokenizer->encode(text, allow, tokenizer::Slicing::kOn, ids);
  return ids;
}

std::string text_of(const Json& reply, std::size_t choice = 0) {
  return reply["choices"][choice]["text"].get<std::string>();
}

TEST(Completion, OptionsThatForbidTokensReachTheEngine) {
  TestApi api(ends(" a time"));
  complete(api, completion_body(R"("bad_words":["then"],"allowed_token_ids":[1,2])"));
  const engine::SamplingParams sampling = api.engine.requests().back().sampling;
  EXPECT_EQ(sampling.bad_words, (std::vector<Ids>{ids_of(api, "then"), ids_of(api, " then")}));
  EXPECT_EQ(sampling.allowed_token_ids, (Ids{1, 2}));
}

TEST(Completion, RawTextInRawTextOut) {
  TestApi api(ends(" a time, <|open|>think<|sep|>there"));
  const Json reply = complete(api, completion_body());
  EXPECT_EQ(reply["object"], "text_completion");
  EXPECT_EQ(reply["model"], "nano");
  EXPECT_TRUE(reply["id"].get<std::string>().starts_with("cmpl-"));
  // Markers are special:false in the tokenizer's file: text, as for its original library.
  EXPECT_EQ(text_of(reply), " a time, <|open|>think<|sep|>there");
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "stop");
  EXPECT_TRUE(reply["choices"][0]["logprobs"].is_null());
  const engine::GenerateRequest asked = api.engine.requests().at(0);
  EXPECT_EQ(asked.prompt, ids_of(api, "Once upon"));
  EXPECT_EQ(asked.max_tokens, 16U);
  EXPECT_EQ(asked.sampling.top_p, 0.95F);
  EXPECT_FALSE(asked.sampling.logprobs.has_value());
  EXPECT_FALSE(asked.prompt_logprobs.has_value());
  EXPECT_EQ(reply["usage"]["prompt_tokens"], asked.prompt.size());
  EXPECT_EQ(reply["usage"]["total_tokens"].get<std::size_t>(),
            asked.prompt.size() + reply["usage"]["completion_tokens"].get<std::size_t>());
}

TEST(Completion, FieldsOfTheChatRouteMeanTheSame) {
  TestApi api(ends("x"));
  complete(api, completion_body(R"("max_tokens":5,"temperature":0.25,"top_p":0.5,"top_k":7,"seed":3,
      "min_p":0.1,"repetition_penalty":1.5,"presence_penalty":0.5,"frequency_penalty":-0.5,
      "logit_bias":{"4":-2},"min_tokens":2,"stop_token_ids":[9],"ignore_eos":true)"));
  const engine::GenerateRequest asked = api.engine.requests().at(0);
  EXPECT_EQ(asked.max_tokens, 5U);
  EXPECT_EQ(asked.min_tokens, 2U);
  EXPECT_EQ(asked.stop_ids, (Ids{9}));
  EXPECT_EQ(asked.sampling.temperature, 0.25F);
  EXPECT_EQ(asked.sampling.top_p, 0.5F);
  EXPECT_EQ(asked.sampling.top_k, 7);
  EXPECT_EQ(asked.sampling.seed, 3U);
  EXPECT_EQ(asked.sampling.repetition_penalty, 1.5F);
  EXPECT_EQ(asked.sampling.logit_bias.at(0), (std::pair<TokenId, float>(4, -2.0F)));
}

TEST(Completion, PromptsOfEveryKindAndTheirOrder) {
  // Says the prompt's first id and the choice, so that a mix-up shows.
  const auto tokenizer = chat::shapes::load_tokenizer();
  TestApi api([&](const engine::GenerateRequest& request) {
    engine::Script script;
    script.ids = chat::shapes::encode(*tokenizer, std::to_string(request.prompt.front()) + "/" +
                                                      std::to_string(request.sampling.choice));
    return script;
  });
  const std::string a = std::to_string(ids_of(api, "a").at(0));
  const std::string b = std::to_string(ids_of(api, "b").at(0));
  const auto texts = [&](const std::string& prompt, const std::string& more) {
    std::vector<std::string> out;
    const Json reply = complete(api, completion_body(more, prompt));
    for (std::size_t i = 0; i < reply["choices"].size(); ++i) {
      EXPECT_EQ(reply["choices"][i]["index"], i);
      out.push_back(text_of(reply, i));
    }
    return out;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts(R"("a")", ""), (Texts{a + "/0"}));
  EXPECT_EQ(texts(R"(["a","b"])", ""), (Texts{a + "/0", b + "/0"}));
  EXPECT_EQ(texts("[7,8]", ""), (Texts{"7/0"}));
  EXPECT_EQ(texts("[[7,8],[9]]", R"("n":2,"best_of":2)"), (Texts{"7/0", "7/1", "9/0", "9/1"}));
  const Json reply = complete(api, completion_body(R"("n":3)", "[[7,8],[9]]"));
  EXPECT_EQ(reply["usage"]["prompt_tokens"], 3);  // each prompt once
}

TEST(Completion, SpecialTokensInATextPromptAreTokensUnlessTheRequestSaysText) {
  TestApi api(ends("x"));
  const std::string prompt = R"("<|open|>a")";
  complete(api, completion_body("", prompt));
  complete(api, completion_body(R"("allow_special":false,"add_special_tokens":false)", prompt));
  const auto asked = api.engine.requests();
  EXPECT_EQ(asked.at(0).prompt, ids_of(api, "<|open|>a"));
  EXPECT_EQ(asked.at(1).prompt, ids_of(api, "<|open|>a", tokenizer::AllowSpecial::kNo));
  EXPECT_NE(asked.at(0).prompt, asked.at(1).prompt);
}

TEST(Completion, SpecialTokensOfAnAnswerAreHiddenOrShown) {
  TestApi api(TestApi::says("a[EOS]b<|end_of_msg|>c"));
  const std::string ignore = R"("ignore_eos":true)";
  EXPECT_EQ(text_of(complete(api, completion_body(ignore))), "abc");
  EXPECT_EQ(text_of(complete(api, completion_body(ignore + R"(,"skip_special_tokens":false)"))),
            "a[EOS]b<|end_of_msg|>c");
  // The one that ends the answer is never text.
  TestApi ended(ends("a"));
  EXPECT_EQ(text_of(complete(ended, completion_body(R"("skip_special_tokens":false)"))), "a");
}

TEST(Completion, StopStringsReachAcrossTokensButNotIntoTheEchoedPrompt) {
  TestApi api(ends(" one two three"));
  EXPECT_EQ(text_of(complete(api, completion_body(R"("stop":"e tw")"))), " on");
  EXPECT_EQ(text_of(complete(api, completion_body(R"("stop":["zz","three"])"))), " one two ");
  const Json reply = complete(api, completion_body(R"("stop":"upon","echo":true)"));
  EXPECT_EQ(text_of(reply), "Once upon one two three");
  EXPECT_EQ(text_of(complete(api, completion_body(R"("stop":"n one","echo":true)"))),
            "Once upon one two three");
}

TEST(Completion, LogprobsInTheLegacyShape) {
  TestApi api(ends("hé!"));
  const Json reply = complete(api, completion_body(R"("logprobs":1)"));
  const Json& logprobs = reply["choices"][0]["logprobs"];
  const Ids ids = ids_of(api, "hé!");
  ASSERT_EQ(logprobs["tokens"].size(), ids.size() + 1);  // and the stop token
  for (const char* key : {"token_logprobs", "top_logprobs", "text_offset"}) {
    EXPECT_EQ(logprobs[key].size(), ids.size() + 1) << key;
  }
  EXPECT_EQ(logprobs["token_logprobs"][0], -0.5);
  EXPECT_EQ(logprobs["text_offset"][0], 0);
  EXPECT_EQ(logprobs["text_offset"].back(), 3);  // characters, not bytes
  EXPECT_EQ(logprobs["tokens"].back(), "<|end_of_msg|>");
  for (std::size_t i = 0; i <= ids.size(); ++i) {
    EXPECT_EQ(logprobs["top_logprobs"][i],
              (Json{{logprobs["tokens"][i].get<std::string>(), -0.5}}));
  }
  EXPECT_EQ(api.engine.requests().at(0).sampling.logprobs, 1U);
  const Json named =
      complete(api, completion_body(R"("logprobs":0,"return_tokens_as_token_ids":true)"));
  EXPECT_EQ(named["choices"][0]["logprobs"]["tokens"][0], "token_id:" + std::to_string(ids[0]));
}

TEST(Completion, TokensThatAreNoTextAreNamedByTheirBytes) {
  TestApi api(ends("𠮷"));
  const Json reply = complete(api, completion_body(R"("logprobs":0)"));
  EXPECT_EQ(text_of(reply), "𠮷");
  const Json& logprobs = reply["choices"][0]["logprobs"];
  ASSERT_GE(logprobs["tokens"].size(), 3U);
  EXPECT_TRUE(logprobs["tokens"][0].get<std::string>().starts_with("bytes:\\xf0"));
  EXPECT_EQ(logprobs["text_offset"][1], 0);  // within the first character
}

TEST(Completion, EchoWithMaxTokensZeroScoresThePrompt) {
  TestApi api(ends("never said"));
  const Ids ids = ids_of(api, "Once upon a time");
  const Json reply = complete(
      api, completion_body(R"("echo":true,"max_tokens":0,"logprobs":1)", R"("Once upon a time")"));
  EXPECT_EQ(text_of(reply), "Once upon a time");
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(reply["usage"]["completion_tokens"], 0);
  const Json& logprobs = reply["choices"][0]["logprobs"];
  ASSERT_EQ(logprobs["token_logprobs"].size(), ids.size());
  EXPECT_TRUE(logprobs["token_logprobs"][0].is_null());
  EXPECT_TRUE(logprobs["top_logprobs"][0].is_null());
  std::string joined;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(logprobs["text_offset"][i], joined.size());
    joined += logprobs["tokens"][i].get<std::string>();
    if (i > 0) {
      EXPECT_EQ(logprobs["token_logprobs"][i], -0.5 * static_cast<double>(i));
    }
  }
  EXPECT_EQ(joined, "Once upon a time");
}

TEST(Completion, EchoGivesThePromptWholeAndJoinsACharacterItBegins) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  const Ids ids = chat::shapes::encode(*tokenizer, "𠮷");
  ASSERT_GE(ids.size(), 3U);
  TestApi api([&](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids.assign(ids.begin() + 2, ids.end());
    return script;
  });
  const std::string begun = Json{ids[0], ids[1]}.dump();
  EXPECT_EQ(text_of(complete(api, completion_body(R"("echo":true)", begun))), "𠮷");
  // Without echo the answer starts afresh: what cannot be a character is shown as such.
  const Ids rest(ids.begin() + 2, ids.end());
  EXPECT_EQ(text_of(complete(api, completion_body("", begun))), tokenizer->decode(rest));
  EXPECT_TRUE(tokenizer->decode(rest).starts_with("\xEF\xBF\xBD"));
  TestApi special(ends("x"));
  EXPECT_EQ(text_of(complete(special, completion_body(R"("echo":true)", R"("a[EOS]b")"))),
            "a[EOS]bx");
}

TEST(Completion, PromptLogprobsInTheShapeOfVllm) {
  TestApi api(ends("x"));
  const Ids ids = ids_of(api, "Once upon");
  const Json reply = complete(api, completion_body(R"("prompt_logprobs":2,"n":2)"));
  for (const Json& choice : reply["choices"]) {
    const Json& rated = choice["prompt_logprobs"];
    ASSERT_EQ(rated.size(), ids.size());
    EXPECT_TRUE(rated[0].is_null());
    for (std::size_t i = 1; i < ids.size(); ++i) {
      const Json& entry = rated[i][std::to_string(ids[i])];
      EXPECT_EQ(entry["rank"], i);
      EXPECT_EQ(entry["logprob"], -0.5 * static_cast<double>(i));
      EXPECT_EQ(entry["decoded_token"], std::string(api.tokenizer->bytes_of(ids[i])));
    }
    EXPECT_TRUE(choice["logprobs"].is_null());
    EXPECT_EQ(choice["text"], "x");
  }
  EXPECT_EQ(api.engine.requests().at(0).prompt_logprobs, 2U);
}

TEST(Completion, TokenIdsOnRequest) {
  TestApi api(ends("ab"));
  const Json reply = complete(api, completion_body(R"("return_token_ids":true)", "[5,6]"));
  EXPECT_EQ(reply["choices"][0]["prompt_token_ids"], (Json{5, 6}));
  EXPECT_EQ(reply["choices"][0]["token_ids"].get<Ids>(), ids_of(api, "ab<|end_of_msg|>"));
}

TEST(Completion, AnAnswerThatMustLookLikeSomethingIsBareText) {
  TestApi api(ends("yes"));
  complete(api,
           completion_body(R"("structured_outputs":{"choice":["yes","no"]},"ignore_eos":true)"));
  const engine::GenerateRequest asked = api.engine.requests().at(0);
  ASSERT_TRUE(asked.constraint);
  EXPECT_EQ(asked.stop_ids.front(), api.service ? ids_of(api, "<|end_of_msg|>").at(0) : 0);
  const auto constraint = asked.constraint();
  for (const TokenId id : ids_of(api, "no")) {
    EXPECT_TRUE(constraint->accept(id));
  }
  // Nothing but the end may follow, no marker in between.
  const auto mask = constraint->mask();
  const auto allowed = [&](TokenId id) { return (mask[id / 32] >> (id % 32) & 1U) != 0; };
  EXPECT_TRUE(allowed(ids_of(api, "<|end_of_msg|>").at(0)));
  EXPECT_FALSE(allowed(ids_of(api, "<|close|>").at(0)));
  EXPECT_FALSE(allowed(ids_of(api, "!").at(0)));
  for (const char* form :
       {R"("guided_regex":"[0-9]+")", R"("guided_json":{"type":"integer"})",
        R"("response_format":{"type":"json_object"})", R"("guided_grammar":"root ::= \"a\"")"}) {
    complete(api, completion_body(form));
    EXPECT_TRUE(api.engine.requests().back().constraint) << form;
  }
}

TEST(Completion, AStreamSaysItsUsageWhenAsked) {
  TestApi api(ends("ab"));
  auto events = api.post_stream(completion_body(R"("stream":true)"), kCompletions);
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events.back(), "[DONE]");
  EXPECT_FALSE(Json::parse(events[events.size() - 2])["choices"].empty());
  events = api.post_stream(
      completion_body(R"("stream":true,"stream_options":{"include_usage":true})"), kCompletions);
  const Json last = Json::parse(events[events.size() - 2]);
  EXPECT_TRUE(last["choices"].empty());
  EXPECT_GT(last["usage"]["completion_tokens"], 0);
}

}  // namespace
}  // namespace daybreak::api
