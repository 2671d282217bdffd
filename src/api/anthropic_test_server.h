// SPDX-License-Identifier: Apache-2.0
#pragma once

// Anthropic requests to a TestApi, and their answers. Test code only.

#include <string>
#include <vector>

#include "api/api_test_server.h"
#include "chat/anthropic_test_client.h"

namespace daybreak::api {

// A request body with more fields appended, such as R"("stream":true)".
inline std::string anthropic_body(
    const std::string& more = "",
    const std::string& messages = R"([{"role":"user","content":"hi"}])") {
  return R"({"model":"nano","max_tokens":500,"messages":)" + messages +
         (more.empty() ? "" : "," + more) + "}";
}

inline constexpr const char* kAnthropicTools =
    R"("tools":[{"name":"f","input_schema":{"type":"object"}}])";

inline std::string post_message(TestApi& api, const std::string& body,
                                const std::string& path = "/v1/messages") {
  return api.post(body, path);
}

// Returns the events of a whole stream.
inline std::vector<chat::anthropic::Event> stream_events(TestApi& api, const std::string& body,
                                                         const std::string& path = "/v1/messages") {
  RawClient client(api.server->port());
  client.send(TestApi::request_text(body, path));
  std::string rest = testing::body_of(client.read_until("\r\n0\r\n\r\n"));
  std::string text;
  while (!rest.empty()) {  // the chunked coding
    const std::size_t size = std::strtoull(rest.c_str(), nullptr, 16);
    const std::size_t start = rest.find("\r\n") + 2;
    text += rest.substr(start, size);
    rest.erase(0, std::min(rest.size(), start + size + 2));
  }
  return chat::anthropic::split_events(text);
}

// Returns the message of a whole stream, put together.
inline Json streamed_message(TestApi& api, const std::string& body,
                             const std::string& path = "/v1/messages") {
  chat::anthropic::StreamReader reader;
  for (const chat::anthropic::Event& event : stream_events(api, body, path)) {
    reader.read(event);
  }
  EXPECT_TRUE(reader.whole()) << reader.error.dump();
  return reader.message;
}

// A message without what is random in it.
inline Json message_without_ids(Json message) {
  message["id"] = "";
  for (Json& block : message["content"]) {
    if (block.contains("id")) {
      block["id"] = "";
    }
  }
  return message;
}

}  // namespace daybreak::api
