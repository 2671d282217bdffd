// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Responses stream as a client reads it: events checked against their grammar and added up to the
// response they tell of. Test code only.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/responses_test_client.h"

namespace daybreak::api {

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

}  // namespace daybreak::api
