// SPDX-License-Identifier: Apache-2.0
// A reply goes back into the next request: it must be accepted unchanged, and where it was
// well-formed the next prompt must begin with what the model was given and wrote, or no prefix
// cache can help.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/json_tree.h"
#include "chat/output_shapes.h"
#include "chat/render.h"
#include "chat/response_json.h"

namespace daybreak::chat {
namespace {

using shapes::Outcome;
using shapes::Shape;

// Returns the bytes of choices[0].message of a reply with this message.
std::string reply_message(const AssistantMessage& message) {
  CompletionChoice choice;
  choice.message = message;
  for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
    choice.tool_call_ids.push_back("call_" + std::to_string(i));
  }
  const std::string json = chat_completion_json({}, {&choice, 1}, {});
  const auto tree = parse_json_tree(json);
  EXPECT_TRUE(tree) << json;
  return std::string(tree->find("choices")->items[0].find("message")->raw);
}

Prompt prompt_of(const std::string& json) {
  const auto request = parse_chat_request(json);
  EXPECT_TRUE(request) << json << (request ? "" : request.error().message);
  auto prompt = render_segments(*request);
  EXPECT_TRUE(prompt) << json << (prompt ? "" : prompt.error().message);
  return *std::move(prompt);
}

constexpr const char* kUser = R"({"role":"user","content":"hi"})";

TEST(RoundTrip, EveryReplyIsAcceptedInTheNextRequest) {
  const auto tokenizer = shapes::load_tokenizer();
  for (const Shape& shape : shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    const Outcome outcome = shapes::parse(*tokenizer, shapes::encode(*tokenizer, shape.text),
                                          shape.options, shape.stop);
    std::string messages = std::string(kUser) + "," + reply_message(outcome.message);
    for (std::size_t i = outcome.message.tool_calls.size(); i-- > 0;) {
      messages +=
          R"(,{"role":"tool","tool_call_id":"call_)" + std::to_string(i) + R"(","content":"done"})";
    }
    const Prompt prompt = prompt_of("{\"messages\":[" + messages + "]}");
    EXPECT_EQ(prompt.initial, Channel::kThink);
  }
}

TEST(RoundTrip, NextPromptBeginsWithThisPromptAndItsOutput) {
  const auto tokenizer = shapes::load_tokenizer();
  const std::string first =
      join_text(prompt_of("{\"messages\":[" + std::string(kUser) + "]}").segments);
  // What the format itself would have written; the other shapes are repaired and must differ.
  const std::set<std::string> well_formed = {"well formed",
                                             "empty think",
                                             "tools",
                                             "string value is escaped",
                                             "name with a less-than sign",
                                             "unicode in every place"};
  std::size_t checked = 0;
  for (const Shape& shape : shapes::load_shapes()) {
    if (!well_formed.contains(shape.name)) {
      continue;
    }
    SCOPED_TRACE(shape.name);
    std::string text = shape.text;
    if (const std::size_t at = text.find("p<|open|>tools"); at == 0) {
      text.insert(1, "<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|>");
    }
    const Outcome outcome =
        shapes::parse(*tokenizer, shapes::encode(*tokenizer, text), shape.options, shape.stop);
    const std::string next =
        join_text(prompt_of("{\"messages\":[" + std::string(kUser) + "," +
                            reply_message(outcome.message) + "],\"add_generation_prompt\":false}")
                      .segments);
    EXPECT_EQ(next, first + text);
    ++checked;
  }
  EXPECT_EQ(checked, well_formed.size());
}

TEST(RoundTrip, EmptyFieldsOfOurOwnRepliesAreFine) {
  for (const AssistantMessage& message : {AssistantMessage{}, AssistantMessage{"why", "", {}},
                                          AssistantMessage{"", "", {{"f", "", true}}}}) {
    prompt_of("{\"messages\":[" + std::string(kUser) + "," + reply_message(message) + "]}");
  }
}

}  // namespace
}  // namespace daybreak::chat
