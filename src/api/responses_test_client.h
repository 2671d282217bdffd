// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Responses API as a client reads it: events checked against their grammar and added up to the
// response they tell of. Test code only.

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

// Reads a stream as its grammar has it (responses_answer.h), failing at the first event that does
// not fit, and builds the output from the deltas alone.
class ResponsesReader {
 public:
  explicit ResponsesReader(std::vector<ResponsesEvent> events) : events_(std::move(events)) {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      EXPECT_EQ(events_[i].data["sequence_number"], i);
      EXPECT_EQ(events_[i].data["type"], events_[i].type);
    }
    EXPECT_EQ(next("response.created")["response"]["status"], "in_progress");
    EXPECT_EQ(next("response.in_progress")["response"]["output"], Json::array());
    while (peek() == "response.output_item.added") {
      read_item();
    }
    last = peek();
    if (last == "response.completed" || last == "response.incomplete" ||
        last == "response.failed") {
      response = next(last)["response"];
    }
    if (peek() == "error") {
      error = next("error");
    }
    EXPECT_EQ(at_, events_.size()) << "after the end: " << peek();
  }

  std::string last;             // type of the event that ended it
  Json response;                // what that event says
  Json error;                   // of the error event, if one came
  Json output = Json::array();  // added up from the deltas
  std::size_t deltas = 0;

 private:
  std::string peek() const { return at_ < events_.size() ? events_[at_].type : "nothing"; }

  Json next(const std::string& type) {
    EXPECT_EQ(peek(), type);
    return at_ < events_.size() ? events_[at_++].data : Json();
  }

  void check_place(const Json& data, const std::string& id) {
    EXPECT_EQ(data["item_id"], id);
    EXPECT_EQ(data["output_index"], output.size());
  }

  void read_item() {
    const Json added = next("response.output_item.added");
    EXPECT_EQ(added["output_index"], output.size());
    Json item = added["item"];
    EXPECT_EQ(item["status"], "in_progress");
    const std::string kind = item["type"];
    if (kind == "function_call") {
      EXPECT_EQ(item["arguments"], "");
      read_arguments(item);
    } else {
      EXPECT_EQ(item["content"], Json::array());
      read_text(item, kind == "message" ? "output_text" : "reasoning_text");
    }
    const Json done = next("response.output_item.done");
    EXPECT_EQ(done["output_index"], output.size());
    item["status"] = done["item"]["status"];
    if (done["item"].contains("encrypted_content")) {
      EXPECT_EQ(done["item"]["encrypted_content"],
                "daybreak-reasoning-1:" + item["content"][0]["text"].get<std::string>());
      item["encrypted_content"] = done["item"]["encrypted_content"];
    }
    // Compared without regard to the order of members.
    EXPECT_EQ(nlohmann::json::parse(item.dump()), nlohmann::json::parse(done["item"].dump()));
    output.push_back(done["item"]);
  }

  void read_arguments(Json& item) {
    const std::string id = item["id"];
    std::string text;
    while (peek() == "response.function_call_arguments.delta") {
      const Json delta = next(peek());
      check_place(delta, id);
      text += delta["delta"].get<std::string>();
      ++deltas;
    }
    if (peek() == "response.function_call_arguments.done") {
      const Json done = next(peek());
      check_place(done, id);
      EXPECT_EQ(done["arguments"], text);
      EXPECT_EQ(done["name"], item["name"]);
      EXPECT_EQ(events_.at(at_).data["item"]["status"], "completed");
    } else {
      EXPECT_EQ(events_.at(at_).data["item"]["status"], "incomplete");
    }
    item["arguments"] = text;
  }

  void read_text(Json& item, const std::string& part_type) {
    const std::string id = item["id"];
    const std::string prefix = "response." + part_type;
    const Json part = next("response.content_part.added");
    check_place(part, id);
    EXPECT_EQ(part["part"]["type"], part_type);
    EXPECT_EQ(part["part"]["text"], "");
    std::string text;
    Json logprobs = Json::array();
    while (peek() == prefix + ".delta") {
      const Json delta = next(peek());
      check_place(delta, id);
      EXPECT_EQ(delta["content_index"], 0);
      text += delta["delta"].get<std::string>();
      if (part_type == "output_text") {
        for (const Json& entry : delta["logprobs"]) {
          logprobs.push_back(entry);
        }
      }
      ++deltas;
    }
    const Json text_done = next(prefix + ".done");
    check_place(text_done, id);
    EXPECT_EQ(text_done["text"], text);
    const Json part_done = next("response.content_part.done");
    check_place(part_done, id);
    EXPECT_EQ(part_done["part"]["text"], text);
    if (part_type == "output_text") {
      EXPECT_EQ(text_done["logprobs"], logprobs);
      EXPECT_EQ(part_done["part"]["logprobs"], logprobs);
    }
    item["content"].push_back(part_done["part"]);
  }

  std::vector<ResponsesEvent> events_;
  std::size_t at_ = 0;
};

// Returns the response without what differs between two answers to the same request: ids, and the
// second in which they were made.
inline Json without_ids(Json response) {
  response.erase("id");
  response.erase("created_at");
  for (Json& item : response["output"]) {
    item.erase("id");
    item.erase("call_id");
  }
  return response;
}

}  // namespace daybreak::api
