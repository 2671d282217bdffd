// SPDX-License-Identifier: Apache-2.0
#include "chat/output_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/output_shapes.h"
#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

using shapes::encode;
using shapes::Outcome;
using shapes::Shape;
using shapes::show;

constexpr const char* kCall =
    "p<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>"
    "<|open|>argument key=\"a\" type=\"string\"<|sep|>";

TEST(OutputParser, GivesEveryShapeItsMessage) {
  const auto tokenizer = shapes::load_tokenizer();
  const std::vector<Shape> all = shapes::load_shapes();
  ASSERT_GE(all.size(), 102U);
  for (const Shape& shape : all) {
    SCOPED_TRACE(shape.name);
    const Outcome got =
        shapes::parse(*tokenizer, encode(*tokenizer, shape.text), shape.options, shape.stop);
    EXPECT_EQ(show(got.message), show(shape.message));
    EXPECT_EQ(got.finish_reason, shape.finish_reason);
  }
}

TEST(OutputParser, TextThatSpellsMarkersIsText) {
  const auto tokenizer = shapes::load_tokenizer();
  const std::string spelled = "<|close|>think<|sep|><|end_of_msg|>";
  std::vector<TokenId> ids;
  tokenizer->encode(spelled, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
  const Outcome got = shapes::parse(*tokenizer, ids, {}, StopCause::kLength);
  EXPECT_EQ(got.message.reasoning_content, spelled);
  EXPECT_EQ(got.reasoning_tokens, ids.size());
}

TEST(OutputParser, MarkerSpelledInsideAnArgumentStaysInIt) {
  const auto tokenizer = shapes::load_tokenizer();
  const std::string value = "<|close|>argument<|sep|>";
  std::vector<TokenId> ids = encode(*tokenizer, kCall);
  tokenizer->encode(value, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
  const auto end = encode(*tokenizer, "<|close|>argument<|sep|><|close|>call<|sep|><|end_of_msg|>");
  ids.insert(ids.end(), end.begin(), end.end());
  const Outcome got = shapes::parse(*tokenizer, ids, {}, StopCause::kStopToken);
  ASSERT_EQ(got.message.tool_calls.size(), 1U);
  EXPECT_EQ(got.message.tool_calls[0].arguments, "{\"a\":\"" + value + "\"}");
}

TEST(OutputParser, StringArgumentsAreStreamedAsTheyArrive) {
  const auto tokenizer = shapes::load_tokenizer();
  OutputParser parser(*tokenizer, shapes::load_markers(*tokenizer), {});
  std::vector<OutputEvent> events;
  parser.push(encode(*tokenizer, kCall), events);
  ASSERT_EQ(events.back().text, "{\"a\":\"");
  std::size_t told = 0;
  for (const TokenId id : encode(*tokenizer, "a long value that is told bit by bit")) {
    events.clear();
    parser.push(id, events);
    ASSERT_EQ(events.size(), 1U) << "id " << id << " told nothing";
    EXPECT_EQ(events[0].kind, OutputEvent::Kind::kToolArguments);
    told += events[0].text.size();
  }
  EXPECT_EQ(told, 36U);
}

TEST(OutputParser, LongArgumentIsToldInSmallPiecesAndWhole) {
  const auto tokenizer = shapes::load_tokenizer();
  OutputParser parser(*tokenizer, shapes::load_markers(*tokenizer), {});
  std::vector<OutputEvent> events;
  parser.push(encode(*tokenizer, kCall), events);
  std::string value;
  while (value.size() < 50'000) {
    value += "line " + std::to_string(value.size()) + " {\"} \\\n";
  }
  std::vector<TokenId> ids;
  tokenizer->encode(value, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
  std::string told;
  for (const TokenId id : ids) {
    events.clear();
    parser.push(id, events);
    for (const OutputEvent& event : events) {
      EXPECT_LE(event.text.size(), 64U);
      told += event.text;
    }
  }
  std::string expected;
  append_python_escaped(expected, value);
  EXPECT_EQ(told, expected);
}

TEST(OutputParser, CallIsAnnouncedOnceWithItsWholeName) {
  const auto tokenizer = shapes::load_tokenizer();
  const std::string name(256, 'n');
  OutputParser parser(*tokenizer, shapes::load_markers(*tokenizer), {});
  std::vector<OutputEvent> events;
  for (const TokenId id :
       encode(*tokenizer, "<|open|>tools<|sep|><|open|>call tool=\"" + name + "\"<|sep|>")) {
    parser.push(id, events);
  }
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, OutputEvent::Kind::kToolCallBegin);
  EXPECT_EQ(events[0].name, name);
}

TEST(OutputParser, NothingIsTextBeforeACharacterIsWhole) {
  const auto tokenizer = shapes::load_tokenizer();
  OutputParser parser(*tokenizer, shapes::load_markers(*tokenizer), {});
  const auto ids = encode(*tokenizer, "\xF0\xA0\xAE\xB7");  // one character of four tokens
  ASSERT_EQ(ids.size(), 4U);
  std::vector<OutputEvent> events;
  for (std::size_t i = 0; i < 3; ++i) {
    parser.push(ids[i], events);
    EXPECT_TRUE(events.empty());
  }
  parser.push(ids[3], events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].text, "\xF0\xA0\xAE\xB7");
}

TEST(OutputParser, CharacterCutByAMarkerOrTheEndIsReplaced) {
  const auto tokenizer = shapes::load_tokenizer();
  auto ids = encode(*tokenizer, "\xF0\xA0\xAE\xB7");
  ids.resize(2);
  EXPECT_EQ(shapes::parse(*tokenizer, ids, {}, StopCause::kLength).message.reasoning_content,
            "\xEF\xBF\xBD");
  const auto rest = encode(*tokenizer, "<|close|>think<|sep|>x");
  ids.insert(ids.end(), rest.begin(), rest.end());
  const Outcome got = shapes::parse(*tokenizer, ids, {}, StopCause::kLength);
  EXPECT_EQ(got.message.reasoning_content, "\xEF\xBF\xBD");
  EXPECT_EQ(got.message.content, "x");
}

TEST(OutputParser, ReasoningTokensAreTheTextIdsOfThink) {
  const auto tokenizer = shapes::load_tokenizer();
  const auto thought = encode(*tokenizer, "some thought about it");
  auto ids = thought;
  const auto rest =
      encode(*tokenizer, "<|close|>think<|sep|><|open|>response<|sep|>answer<|end_of_msg|>");
  ids.insert(ids.end(), rest.begin(), rest.end());
  EXPECT_EQ(shapes::parse(*tokenizer, ids, {}, StopCause::kStopToken).reasoning_tokens,
            thought.size());
}

TEST(OutputParser, EveryCutOfACompletionKeepsFieldsApart) {
  const auto tokenizer = shapes::load_tokenizer();
  const std::string whole = std::string("plan<|close|>think<|sep|><|open|>response<|sep|>answer") +
                            "<|close|>response<|sep|>" + (kCall + 1) +
                            "v<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>";
  const auto ids = encode(*tokenizer, whole);
  for (std::size_t n = 0; n <= ids.size(); ++n) {
    const Outcome got = shapes::parse(*tokenizer, std::span(ids).first(n), {}, StopCause::kLength);
    EXPECT_TRUE(std::string_view("plan").starts_with(got.message.reasoning_content)) << n;
    EXPECT_TRUE(std::string_view("answer").starts_with(got.message.content)) << n;
    EXPECT_EQ(got.finish_reason, "length") << n;
    for (const AssistantToolCall& call : got.message.tool_calls) {
      EXPECT_TRUE(std::string_view("{\"a\":\"v\"}").starts_with(call.arguments)) << n;
      EXPECT_EQ(call.complete, call.arguments == "{\"a\":\"v\"}") << n;
    }
  }
}

// ---- bounds, each at the limit and one past it

std::string calls(std::size_t count) {
  std::string text = "<|open|>tools<|sep|>";
  for (std::size_t i = 0; i < count; ++i) {
    text += "<|open|>call tool=\"f\"<|sep|><|close|>call<|sep|>";
  }
  return text;
}

TEST(OutputParser, CallsPastTheLimitAreDroppedAndCounted) {
  const auto tokenizer = shapes::load_tokenizer();
  for (const std::size_t extra : {0U, 1U}) {
    const Outcome got = shapes::parse(*tokenizer, encode(*tokenizer, calls(3 + extra)),
                                      {.max_calls = 3}, StopCause::kStopToken);
    EXPECT_EQ(got.message.tool_calls.size(), 3U);
    EXPECT_EQ(got.drops.calls, extra);
  }
}

TEST(OutputParser, ArgumentsPastTheLimitAreDroppedAndCounted) {
  const auto tokenizer = shapes::load_tokenizer();
  for (const std::size_t extra : {0U, 1U}) {
    std::string text = "<|open|>call tool=\"f\"<|sep|>";
    for (std::size_t i = 0; i < 2 + extra; ++i) {
      text += "<|open|>argument key=\"" + std::to_string(i) + "\"<|sep|>v<|close|>argument<|sep|>";
    }
    const Outcome got = shapes::parse(*tokenizer, encode(*tokenizer, text + "<|end_of_msg|>"),
                                      {.max_arguments = 2}, StopCause::kStopToken);
    EXPECT_EQ(got.message.tool_calls.at(0).arguments, "{\"0\":\"v\",\"1\":\"v\"}");
    EXPECT_EQ(got.drops.arguments, extra);
  }
}

TEST(OutputParser, NamePastTheLimitIsNoCall) {
  const auto tokenizer = shapes::load_tokenizer();
  for (const std::size_t size : {256U, 257U}) {
    const std::string text = "<|open|>call tool=\"" + std::string(size, 'n') + "\"<|sep|>";
    const Outcome got = shapes::parse(*tokenizer, encode(*tokenizer, text + "<|end_of_msg|>"), {},
                                      StopCause::kStopToken);
    EXPECT_EQ(got.message.tool_calls.size(), size == 256 ? 1U : 0U);
    EXPECT_EQ(got.drops.calls, size == 256 ? 0U : 1U);
  }
}

TEST(OutputParser, HeaderPastTheLimitIsText) {
  const auto tokenizer = shapes::load_tokenizer();
  const auto header = encode(*tokenizer, "response");
  const auto all = encode(*tokenizer, "<|open|>response<|sep|>x");
  const auto parse_with = [&](std::size_t limit) {
    return shapes::parse(*tokenizer, all, {.max_header_ids = limit}, StopCause::kLength).message;
  };
  EXPECT_EQ(show(parse_with(header.size())), show({"", "x", {}}));
  EXPECT_EQ(show(parse_with(header.size() - 1)), show({"responsex", "", {}}));
}

TEST(OutputParser, ValuePastTheLimitBecomesAString) {
  const auto tokenizer = shapes::load_tokenizer();
  const std::string text =
      "<|open|>call tool=\"f\"<|sep|><|open|>argument key=\"a\" type=\"number\"<|sep|>1234"
      "<|close|>argument<|sep|><|end_of_msg|>";
  const auto arguments = [&](std::size_t limit) {
    return shapes::parse(*tokenizer, encode(*tokenizer, text), {.max_value_bytes = limit},
                         StopCause::kStopToken)
        .message.tool_calls.at(0)
        .arguments;
  };
  EXPECT_EQ(arguments(4), "{\"a\":1234}");
  EXPECT_EQ(arguments(3), "{\"a\":\"1234\"}");
}

TEST(OutputParser, RepeatedAnswerPastTheLimitIsCutAndReported) {
  const auto tokenizer = shapes::load_tokenizer();
  const auto ids = encode(*tokenizer, "\xE2\x82\xAC\xE2\x82\xAC<|close|>response<|sep|>");
  Outcome got = shapes::parse(*tokenizer, ids, {.max_repeat_bytes = 6}, StopCause::kStopToken);
  EXPECT_EQ(got.message.content, "\xE2\x82\xAC\xE2\x82\xAC");
  EXPECT_FALSE(got.drops.answer_cut);
  got = shapes::parse(*tokenizer, ids, {.max_repeat_bytes = 5}, StopCause::kStopToken);
  EXPECT_EQ(got.message.content, "\xE2\x82\xAC");
  EXPECT_TRUE(got.drops.answer_cut);
}

TEST(OutputParser, RescuedTextPastTheLimitIsCut) {
  const auto tokenizer = shapes::load_tokenizer();
  const auto ids = encode(*tokenizer, "<|open|>tools<|sep|>\xE2\x82\xAC\xE2\x82\xAC");
  const auto content = [&](std::size_t limit) {
    return shapes::parse(*tokenizer, ids, {.max_rescue_bytes = limit}, StopCause::kStopToken)
        .message.content;
  };
  EXPECT_EQ(content(6), "\xE2\x82\xAC\xE2\x82\xAC");
  EXPECT_EQ(content(5), "\xE2\x82\xAC");
}

TEST(OutputParser, ValueNestedTooDeepBecomesAString) {
  const auto tokenizer = shapes::load_tokenizer();
  for (const std::size_t depth : {63U, 64U}) {
    const std::string value = std::string(depth, '[') + std::string(depth, ']');
    const std::string text =
        "<|open|>call tool=\"f\"<|sep|><|open|>argument key=\"a\" type=\"array\"<|sep|>" + value +
        "<|close|>argument<|sep|><|end_of_msg|>";
    const Outcome got =
        shapes::parse(*tokenizer, encode(*tokenizer, text), {}, StopCause::kStopToken);
    const std::string expected = depth == 63 ? value : "\"" + value + "\"";
    EXPECT_EQ(got.message.tool_calls.at(0).arguments, "{\"a\":" + expected + "}");
  }
}

TEST(OutputParser, FinishReasonNamesAreTheApis) {
  EXPECT_EQ(finish_reason(StopCause::kStopToken, 0), "stop");
  EXPECT_EQ(finish_reason(StopCause::kStopToken, 2), "tool_calls");
  EXPECT_EQ(finish_reason(StopCause::kLength, 2), "length");
  EXPECT_EQ(finish_reason(StopCause::kStopString, 0), "stop");
  EXPECT_EQ(finish_reason(StopCause::kCancelled, 0), "stop");
}

}  // namespace
}  // namespace daybreak::chat
