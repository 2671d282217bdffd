// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Responses API as a client calls it. Test code only.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/api_test_server.h"

namespace daybreak::api {

inline constexpr const char* kResponsesPath = "/v1/responses";

inline constexpr const char* kFlatTool =
    R"("tools":[{"type":"function","name":"f","parameters":{"type":"object"}}])";

inline std::string responses_body(const std::string& more = "") {
  return R"({"model":"nano","input":"hi")" + (more.empty() ? "" : "," + more) + "}";
}

struct ResponsesEvent {
  std::string type;
  Json data;
};

// Undoes the chunked coding and splits events; checks that each is an event and a data line.
inline std::vector<ResponsesEvent> responses_events(const std::string& response) {
  std::string rest = testing::body_of(response);
  std::string text;
  while (!rest.empty()) {
    const std::size_t size = std::strtoull(rest.c_str(), nullptr, 16);
    const std::size_t start = rest.find("\r\n") + 2;
    text += rest.substr(start, size);
    rest.erase(0, std::min(rest.size(), start + size + 2));
  }
  std::vector<ResponsesEvent> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\n\n", at);
    const std::size_t line = text.find('\n', at);
    EXPECT_EQ(text.substr(at, 7), "event: ") << text;
    EXPECT_EQ(text.substr(line + 1, 6), "data: ") << text;
    out.push_back(
        {text.substr(at + 7, line - at - 7), Json::parse(text.substr(line + 7, end - line - 7))});
    at = end == std::string::npos ? text.size() : end + 2;
  }
  return out;
}

inline std::vector<ResponsesEvent> post_responses_stream(TestApi& api, const std::string& body) {
  RawClient client(api.server->port());
  client.send(TestApi::request_text(body, kResponsesPath));
  return responses_events(client.read_until("\r\n0\r\n\r\n"));
}

inline Json post_response(TestApi& api, const std::string& body) {
  const std::string reply = api.post(body, kResponsesPath);
  EXPECT_EQ(testing::status_of(reply), 200) << reply;
  return Json::parse(testing::body_of(reply));
}

// Returns the response without what differs between two answers to the same request: ids, and the
// second in which they were made.
inline Json response_without_ids(Json response) {
  response.erase("id");
  response.erase("created_at");
  for (Json& item : response["output"]) {
    item.erase("id");
    item.erase("call_id");
  }
  return response;
}

}  // namespace daybreak::api
