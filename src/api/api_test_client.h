// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chat replies as a client puts them together, from either form. Test code only.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::api {

using Json = nlohmann::ordered_json;

// A request body with more fields appended, such as R"("n":2)".
inline std::string chat_body(const std::string& more = "") {
  return R"({"model":"nano","messages":[{"role":"user","content":"hi"}])" +
         (more.empty() ? "" : "," + more) + "}";
}

inline constexpr const char* kTools =
    R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}])";

// A choice as a client has put it together, comparable between the two forms of a reply.
struct ClientChoice {
  std::string reasoning;
  std::string content;
  std::vector<std::pair<std::string, std::string>> calls;  // name, arguments
  std::vector<std::string> call_ids;
  std::string finish_reason;
  Json logprobs = Json::array();

  std::string show() const {
    std::string out = "reasoning: " + reasoning + "\ncontent: " + content;
    for (const auto& [name, arguments] : calls) {
      out += "\ncall: " + name + " " + arguments;
    }
    return out + "\nfinish: " + finish_reason + "\nlogprobs: " + logprobs.dump();
  }
};

inline std::string text_or_empty(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

inline std::map<std::size_t, ClientChoice> from_completion(const std::string& body) {
  std::map<std::size_t, ClientChoice> out;
  const Json completion = Json::parse(body);
  for (const Json& from : completion["choices"]) {
    ClientChoice& to = out[from["index"].get<std::size_t>()];
    to.reasoning = text_or_empty(from["message"], "reasoning_content");
    to.content = text_or_empty(from["message"], "content");
    to.finish_reason = from["finish_reason"].get<std::string>();
    if (from["message"].contains("tool_calls")) {
      for (const Json& call : from["message"]["tool_calls"]) {
        to.calls.emplace_back(call["function"]["name"], call["function"]["arguments"]);
        to.call_ids.push_back(call["id"]);
      }
    }
    if (from.contains("logprobs") && from["logprobs"].is_object()) {
      to.logprobs = from["logprobs"]["content"];
    }
  }
  return out;
}

inline void add_delta(ClientChoice& to, const Json& delta) {
  to.reasoning += text_or_empty(delta, "reasoning_content");
  to.content += text_or_empty(delta, "content");
  if (!delta.contains("tool_calls")) {
    return;
  }
  for (const Json& call : delta["tool_calls"]) {
    const auto index = call["index"].get<std::size_t>();
    if (call.contains("id")) {
      EXPECT_EQ(index, to.calls.size());
      to.calls.emplace_back(call["function"]["name"], call["function"]["arguments"]);
      to.call_ids.push_back(call["id"]);
    } else {
      EXPECT_FALSE(call["function"].contains("name"));
      to.calls.at(index).second += call["function"]["arguments"].get<std::string>();
    }
  }
}

inline std::map<std::size_t, ClientChoice> from_events(const std::vector<std::string>& events) {
  std::map<std::size_t, ClientChoice> out;
  for (const std::string& event : events) {
    if (event == "[DONE]") {
      continue;
    }
    const Json chunk = Json::parse(event);
    EXPECT_EQ(chunk.value("object", ""), "chat.completion.chunk") << event;
    for (const Json& from : chunk["choices"]) {
      const auto index = from["index"].get<std::size_t>();
      if (!out.contains(index)) {
        EXPECT_EQ(from["delta"].value("role", ""), "assistant") << event;
      }
      ClientChoice& to = out[index];
      EXPECT_EQ(to.finish_reason, "") << "a delta after the end: " << event;
      add_delta(to, from["delta"]);
      if (from["finish_reason"].is_string()) {
        to.finish_reason = from["finish_reason"].get<std::string>();
      }
      if (from.contains("logprobs") && from["logprobs"].is_object()) {
        for (const Json& entry : from["logprobs"]["content"]) {
          to.logprobs.push_back(entry);
        }
      }
    }
  }
  return out;
}

}  // namespace daybreak::api
