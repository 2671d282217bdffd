// SPDX-License-Identifier: Apache-2.0
// Streams, plain replies, leaving clients, scrapes and a shutdown at once: for the race detector.

#include <gtest/gtest.h>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

TEST(ApiThreads, EverythingAtOnce) {
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  const auto tokenizer = chat::shapes::load_tokenizer();
  {
    TestApi api(
        [&](const engine::GenerateRequest&) {
          engine::Script script;
          script.ids = chat::shapes::encode(
              *tokenizer, "a<|close|>think<|sep|><|open|>response<|sep|>hello<|end_of_msg|>");
          script.delay_per_token = std::chrono::milliseconds(1);
          return script;
        },
        {.engine = {.max_sequences = 16, .max_queue = 1000}});
    for (int c = 0; c < 6; ++c) {
      clients.emplace_back([&, c] {
        for (int i = 0; i < 6; ++i) {
          if ((i + c) % 3 == 0) {
            const auto events = api.post_stream(chat_body(R"("stream":true,"n":2)"));
            good += !events.empty() && events.back() == "[DONE]" ? 1 : 0;
          } else if ((i + c) % 3 == 1) {
            good += testing::status_of(api.post(chat_body())) == 200 ? 1 : 0;
          } else {
            RawClient leaves(api.server->port());
            leaves.send(
                TestApi::request_text(chat_body(R"("stream":true)"), "/v1/chat/completions"));
            leaves.read_until("data", std::chrono::milliseconds(i * 5));
          }
          (void)api.get("/metrics");
        }
      });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    RawClient last(api.server->port());
    last.send(TestApi::request_text(chat_body(), "/v1/chat/completions"));
  }
  EXPECT_EQ(good, 24);
}

}  // namespace
}  // namespace daybreak::api
