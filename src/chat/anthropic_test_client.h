// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stream of Anthropic events as a client reads it: the grammar is checked, the message is put
// together. Test code only.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace daybreak::chat::anthropic {

using Json = nlohmann::ordered_json;

struct Event {
  std::string type;  // of the line "event: "
  Json data;
};

// Splits "event: TYPE\ndata: JSON\n\n"...
inline std::vector<Event> split_events(const std::string& text) {
  std::vector<Event> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\n\n", at);
    const std::size_t line = text.find('\n', at);
    EXPECT_NE(end, std::string::npos) << text;
    EXPECT_EQ(text.substr(at, 7), "event: ") << text;
    EXPECT_EQ(text.substr(line, 7), "\ndata: ") << text;
    if (::testing::Test::HasFailure()) {
      return out;
    }
    out.push_back(
        {text.substr(at + 7, line - at - 7), Json::parse(text.substr(line + 7, end - line - 7))});
    EXPECT_EQ(out.back().type, out.back().data.value("type", "")) << text;
    at = end + 2;
  }
  return out;
}

// The state of a client in the middle of a stream.
class StreamReader {
 public:
  void read(const Event& event) {
    EXPECT_FALSE(ended_) << "after the end: " << event.data.dump();
    if (event.type == "ping") {
      EXPECT_TRUE(message.is_object());
    } else if (event.type == "message_start") {
      EXPECT_TRUE(message.is_null());
      message = event.data["message"];
      EXPECT_EQ(message["content"], Json::array());
      EXPECT_TRUE(message["stop_reason"].is_null());
    } else if (event.type == "error") {
      error = event.data;
      ended_ = true;
    } else if (event.type == "message_delta") {
      EXPECT_FALSE(open_);
      EXPECT_TRUE(message["stop_reason"].is_null());
      message["stop_reason"] = event.data["delta"]["stop_reason"];
      message["stop_sequence"] = event.data["delta"]["stop_sequence"];
      message["usage"] = event.data["usage"];
    } else if (event.type == "message_stop") {
      EXPECT_FALSE(message["stop_reason"].is_null());
      ended_ = true;
    } else {
      read_block(event);
    }
  }
  // Whether the stream ended as it should.
  [[nodiscard]] bool whole() const { return ended_ && error.is_null(); }

  Json message;
  Json error;

 private:
  void read_block(const Event& event) {
    ASSERT_TRUE(message.is_object() && message["stop_reason"].is_null()) << event.data.dump();
    const auto index = event.data["index"].get<std::size_t>();
    if (event.type == "content_block_start") {
      EXPECT_FALSE(open_);
      EXPECT_EQ(index, message["content"].size());
      message["content"].push_back(event.data["content_block"]);
      open_ = true;
      input_.clear();
      return;
    }
    ASSERT_TRUE(open_) << event.data.dump();
    ASSERT_EQ(index + 1, message["content"].size());
    Json& block = message["content"].back();
    if (event.type == "content_block_stop") {
      close(block);
      return;
    }
    ASSERT_EQ(event.type, "content_block_delta");
    add(block, event.data["delta"]);
  }

  void add(Json& block, const Json& delta) {
    const std::string type = delta["type"];
    const std::string kind = block["type"];
    if (type == "thinking_delta" || type == "text_delta") {
      const std::string key = type == "thinking_delta" ? "thinking" : "text";
      ASSERT_EQ(kind, key);
      EXPECT_EQ(block.value("signature", ""), "") << "text after the signature";
      EXPECT_NE(delta[key], "");
      block[key] = block[key].get<std::string>() + delta[key].get<std::string>();
    } else if (type == "signature_delta") {
      ASSERT_EQ(kind, "thinking");
      EXPECT_EQ(block["signature"], "");
      block["signature"] = delta["signature"];
    } else {
      ASSERT_EQ(type, "input_json_delta");
      ASSERT_EQ(kind, "tool_use");
      EXPECT_EQ(block["input"], Json::object());
      input_ += delta["partial_json"].get<std::string>();
    }
  }

  // What is no object is given to the application as Anthropic's documentation advises.
  void close(Json& block) {
    open_ = false;
    if (block["type"] == "thinking") {
      EXPECT_NE(block["signature"], "");
    }
    if (block["type"] == "tool_use") {
      const Json input = Json::parse(input_, nullptr, false);
      block["input"] = input.is_object() ? input : Json{{"INVALID_JSON", input_}};
    }
  }

  bool open_ = false;
  bool ended_ = false;
  std::string input_;
};

}  // namespace daybreak::chat::anthropic
