// SPDX-License-Identifier: Apache-2.0
// A stream of completions, put together by its client, is the one-shot reply.

#include <gtest/gtest.h>

#include <cstdio>

#include "api/completion_test_client.h"
#include "base/rng.h"

namespace daybreak::api {
namespace {

void expect_same(TestApi& api, const std::string& more, const std::string& prompt) {
  const std::string whole = api.post(completion_body(more, prompt), kCompletions);
  ASSERT_EQ(testing::status_of(whole), 200) << whole;
  const auto one_shot = completion_choices(testing::body_of(whole));
  const auto events =
      api.post_stream(completion_body(more + R"(,"stream":true)", prompt), kCompletions);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back(), "[DONE]");
  const auto streamed = completion_choices(events);
  ASSERT_EQ(streamed.size(), one_shot.size());
  for (const auto& [index, choice] : one_shot) {
    EXPECT_EQ(streamed.at(index), choice) << streamed.at(index) << "\n" << choice;
  }
}

TEST(CompletionProperty, AStreamIsTheOneShotReply) {
  std::vector<TokenId> ids;
  TestApi api([&](const engine::GenerateRequest& request) {
    engine::Script script;
    script.ids = ids;
    script.finish = engine::FinishReason::kLength;
    if (request.sampling.choice > 0 && !script.ids.empty()) {
      script.ids.pop_back();
    }
    return script;
  });
  Rng rng(11);
  std::size_t compared = 0;
  for (int round = 0; round < 60; ++round) {
    // Any ids: characters cut anywhere, invalid bytes, special tokens.
    const auto vocab = static_cast<std::uint32_t>(api.tokenizer->vocab_size());
    const auto any = [&] {
      return rng.below(3) == 0 ? vocab - 1 - rng.below(256)
                               : rng.below(rng.below(2) == 0 ? 256 : vocab - 256);
    };
    ids.clear();
    for (std::uint32_t i = rng.below(14); i > 0; --i) {
      ids.push_back(any());
    }
    std::string prompt = "[" + std::to_string(any());
    for (std::uint32_t i = rng.below(6); i > 0; --i) {
      prompt += "," + std::to_string(any());
    }
    prompt += "]";
    SCOPED_TRACE(round);
    for (const char* more :
         {R"("n":1)", R"("n":2,"echo":true)", R"("logprobs":1,"echo":true)",
          R"("logprobs":0,"stop":["e"," t","!"],"skip_special_tokens":false)",
          R"("max_tokens":0,"echo":true,"logprobs":2)",
          R"("stop":["\ufffd\ufffd"],"echo":true,"return_token_ids":true,"max_tokens":6)"}) {
      SCOPED_TRACE(more);
      expect_same(api, more, round % 2 == 0 ? prompt : "[" + prompt + ",[0]]");
      ++compared;
    }
  }
  if (!::testing::Test::HasFailure()) {
    std::printf("PROOF completion_stream: %zu replies equal\n", compared);
  }
}

}  // namespace
}  // namespace daybreak::api
