// SPDX-License-Identifier: Apache-2.0
// Conversations on `daybreak serve` with the bundled model: a turn goes on from the one before it,
// also on a server that was started again in between.

#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/serve_child.h"
#include "testing/raw_client.h"
#include "testing/temporary_directory.h"

namespace daybreak::cli {
namespace {

using Json = nlohmann::ordered_json;

class SlotServer {
 public:
  explicit SlotServer(std::vector<std::string> more) : child_(serve(std::move(more))) {
    port_ = port_of(child_.read_line());
  }
  Json post(const std::string& path, const Json& body) const {
    const std::string text = body.dump();
    testing::RawClient client(port_);
    client.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                std::to_string(text.size()) + "\r\n\r\n" + text);
    const std::string reply = client.read_response();
    EXPECT_EQ(testing::status_of(reply), 200) << reply;
    return Json::parse(testing::body_of(reply));
  }
  void stop() {
    child_.signal(SIGTERM);
    EXPECT_EQ(child_.wait(), 0);
  }

 private:
  Child child_;
  std::uint16_t port_ = 0;
};

Json chat(const Json& messages) {
  return {{"model", "nano"}, {"messages", messages}, {"temperature", 0}, {"max_tokens", 200}};
}

// The conversation after an answer, as a client sends it back, and one question more.
Json next_turn(Json messages, const Json& reply, const char* question) {
  const Json& message = reply["choices"][0]["message"];
  Json back = {{"role", "assistant"}, {"content", message["content"]}};
  if (message.contains("reasoning_content")) {
    back["reasoning_content"] = message["reasoning_content"];
  }
  messages.push_back(std::move(back));
  messages.push_back({{"role", "user"}, {"content", question}});
  return messages;
}

int cached(const Json& reply) { return reply["usage"]["prompt_tokens_details"]["cached_tokens"]; }

TEST(ServeSlotsClient, ATurnGoesOnFromTheLastOneAlsoAfterARestart) {
  const testing::TemporaryDirectory dir;
  const std::string name = dir.path().string();
  const Json first = {{{"role", "user"}, {"content", "Hello"}}};
  Json second;
  Json answer;
  {
    SlotServer server({"--slot-save-path", name});
    const Json reply = server.post("/v1/chat/completions", chat(first));
    EXPECT_EQ(cached(reply), 0);
    EXPECT_EQ(reply["choices"][0]["finish_reason"], "stop");
    const Json saved = server.post("/slots/0?action=save", {{"filename", "turn"}});
    second = next_turn(first, reply, "And now?");
    answer = server.post("/v1/chat/completions", chat(second));
    // All but the end of the message, which was never fed, and what is new. usage counts three
    // prompt tokens less than there are.
    EXPECT_EQ(cached(answer), saved["n_saved"]) << answer;
    server.stop();
  }
  {
    SlotServer server({"--slot-save-path", name});
    server.post("/slots/5?action=restore", {{"filename", "turn"}});
    const Json again = server.post("/v1/chat/completions", chat(second));
    EXPECT_EQ(again["choices"], answer["choices"]);
    EXPECT_EQ(again["usage"], answer["usage"]);
    EXPECT_EQ(server.post("/reset_prefix_cache", Json::object())["dropped"], 1);
    const Json computed = server.post("/v1/chat/completions", chat(second));
    EXPECT_EQ(computed["choices"], answer["choices"]);
    EXPECT_EQ(cached(computed), 0);
    server.stop();
  }
  {
    SlotServer server({"--prefix-reuse", "off"});
    const Json plain = server.post("/v1/chat/completions", chat(second));
    EXPECT_EQ(plain["choices"], answer["choices"]);
    server.stop();
  }
}

}  // namespace
}  // namespace daybreak::cli
