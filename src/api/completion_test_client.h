// SPDX-License-Identifier: Apache-2.0
#pragma once

// Completions as a client puts them together, from either form. Test code only.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "api/api_test_client.h"
#include "api/api_test_server.h"

namespace daybreak::api {

inline constexpr const char* kCompletions = "/v1/completions";

// A request body with more fields appended.
inline std::string completion_body(const std::string& more = "",
                                   const std::string& prompt = R"("Once upon")") {
  return R"({"model":"nano","prompt":)" + prompt + (more.empty() ? "" : "," + more) + "}";
}

// The choices by index, without what the two forms of a reply have apart.
inline std::map<std::size_t, Json> completion_choices(const std::string& body) {
  std::map<std::size_t, Json> out;
  const Json reply = Json::parse(body);
  for (const Json& choice : reply["choices"]) {
    out[choice["index"].get<std::size_t>()] = choice;
  }
  return out;
}

inline void append_items(Json& to, const Json& more) {
  for (const Json& item : more) {
    to.push_back(item);
  }
}

inline std::map<std::size_t, Json> completion_choices(const std::vector<std::string>& events) {
  std::map<std::size_t, Json> out;
  for (const std::string& event : events) {
    if (event == "[DONE]") {
      continue;
    }
    const Json chunk = Json::parse(event);
    EXPECT_EQ(chunk.value("object", ""), "text_completion") << event;
    for (const Json& delta : chunk["choices"]) {
      const auto [found, first] = out.try_emplace(delta["index"].get<std::size_t>(), delta);
      Json& choice = found->second;
      if (first) {
        continue;
      }
      EXPECT_TRUE(choice["finish_reason"].is_null()) << "a delta after the end: " << event;
      EXPECT_FALSE(delta.contains("prompt_token_ids")) << event;
      choice["text"] = choice["text"].get<std::string>() + delta["text"].get<std::string>();
      choice["finish_reason"] = delta["finish_reason"];
      if (delta.contains("token_ids")) {
        append_items(choice["token_ids"], delta["token_ids"]);
      }
      if (delta["logprobs"].is_object()) {
        for (const char* key : {"tokens", "token_logprobs", "top_logprobs", "text_offset"}) {
          append_items(choice["logprobs"][key], delta["logprobs"][key]);
        }
      }
    }
  }
  return out;
}

inline Json complete(TestApi& api, const std::string& body) {
  const std::string reply = api.post(body, kCompletions);
  EXPECT_EQ(testing::status_of(reply), 200) << reply;
  return Json::parse(testing::body_of(reply));
}

}  // namespace daybreak::api
