// SPDX-License-Identifier: Apache-2.0
#include "exam/answer_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace daybreak::exam {
namespace {

std::string chunk(const std::string& delta, const std::string& finish = "null") {
  return R"(data: {"choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" + finish +
         "}]}\n\n";
}

Result<Answer> read(const std::string& stream, std::size_t cut = std::string::npos) {
  AnswerReader reader;
  for (std::size_t at = 0; at < stream.size(); at += std::min(cut, stream.size() - at)) {
    DAYBREAK_CHECK_OK(reader.take(std::string_view(stream).substr(at, cut)));
  }
  return std::move(reader).finish();
}

const std::string kWhole =
    ": a comment\r\n\r\n" + chunk(R"({"role":"assistant","content":""})") +
    chunk(R"({"reasoning_content":"I ","reasoning":"I ","internal_content":{"token_ids":[3,4]}})") +
    chunk(R"({"reasoning_content":"call.","internal_content":{"token_ids":[5]}})") +
    chunk(R"({"content":"Ja\u00df"})") +
    chunk(R"({"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]})") +
    chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]})") +
    chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]})") +
    chunk(R"({"tool_calls":[{"index":1,"function":{"name":"g","arguments":"{}"}}]})") +
    chunk("{}", "\"tool_calls\"") +
    "data: {\"choices\":[],\"usage\":{\"completion_tokens\":19,"
    "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}\n\ndata: [DONE]\n\n";

TEST(AnswerReader, PutsAStreamTogetherHoweverItIsCut) {
  for (const std::size_t cut : {std::size_t{1}, std::size_t{7}, std::string::npos}) {
    const auto answer = read(kWhole, cut);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->reasoning, "I call.");
    EXPECT_EQ(answer->content, "Ja\xC3\x9F");
    EXPECT_EQ(answer->calls, (std::vector<Call>{{"f", "{\"a\":1}"}, {"g", "{}"}}));
    EXPECT_EQ(answer->finish_reason, "tool_calls");
    EXPECT_EQ(answer->completion_tokens, 19U);
    EXPECT_EQ(answer->reasoning_tokens, 2U);
    EXPECT_EQ(answer->ids, (std::vector<TokenId>{3, 4, 5}));
  }
}

TEST(AnswerReader, WhatIsNotToldIsNotKnown) {
  const auto answer = read(chunk(R"({"reasoning":"so","content":null})") +
                           chunk(R"({"content":"x"})", "\"stop\"") + "data: [DONE]\n\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->reasoning, "so");
  EXPECT_EQ(answer->completion_tokens, std::nullopt);
  EXPECT_EQ(answer->reasoning_tokens, std::nullopt);
  EXPECT_TRUE(answer->ids.empty());
}

TEST(AnswerReader, BeginsWithTheFirstPieceOfTheAnswer) {
  AnswerReader reader;
  ASSERT_TRUE(reader.take(chunk(R"({"role":"assistant","content":""})")));
  EXPECT_FALSE(reader.begun());
  ASSERT_TRUE(reader.take(chunk(R"({"reasoning_content":"a"})")));
  EXPECT_TRUE(reader.begun());
}

Error error_of(const std::string& stream) {
  const auto answer = read(stream);
  EXPECT_FALSE(answer) << stream;
  return answer ? Error{Errc::kIo, ""} : answer.error();
}

TEST(AnswerReader, BrokenStreamsSayWhatWasExpected) {
  const std::string half = chunk(R"({"content":"x"})");
  EXPECT_EQ(error_of(half).message,
            "the stream: expected a finish_reason before its end, found none");
  EXPECT_EQ(error_of(half + "data: {\"error\":{\"message\":\"out of paper\"}}\n\n"),
            (Error{Errc::kUnavailable, "out of paper"}));
  EXPECT_EQ(error_of("data: {\n\n").message, "the stream: expected a JSON object as data, found {");
  EXPECT_EQ(error_of("data: 1\n\n").code, Errc::kCorrupt);
  EXPECT_EQ(error_of("data: {\"x\":1}\n\n").code, Errc::kCorrupt);
  EXPECT_EQ(error_of(chunk(R"({"content":1})")).message, "the stream: expected text as content");
  EXPECT_EQ(error_of(chunk("3")).code, Errc::kCorrupt);
  EXPECT_EQ(error_of(chunk(R"({"tool_calls":[{"index":1}]})")).code, Errc::kCorrupt);
  EXPECT_EQ(error_of(chunk(R"({"tool_calls":[3]})")).code, Errc::kCorrupt);
  EXPECT_EQ(error_of(chunk(R"({"internal_content":{"token_ids":[-1]}})")).code, Errc::kCorrupt);
  EXPECT_EQ(error_of(chunk(R"({"internal_content":{"token_ids":[4294967296]}})")).code,
            Errc::kCorrupt);
  EXPECT_EQ(error_of("<html>\n").code, Errc::kCorrupt);  // no event at all
}

TEST(AnswerReader, BoundsHold) {
  AnswerReader calls;
  for (std::size_t i = 0; i < kMaxAnswerCalls; ++i) {
    EXPECT_TRUE(calls.take(chunk(R"({"tool_calls":[{"index":)" + std::to_string(i) + "}]}")));
  }
  EXPECT_FALSE(
      calls.take(chunk(R"({"tool_calls":[{"index":)" + std::to_string(kMaxAnswerCalls) + "}]}")));

  AnswerReader line;
  EXPECT_TRUE(line.take(std::string(kMaxEventBytes, ':')));
  const auto longer = line.take(":");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, Errc::kTooLarge);

  AnswerReader text;
  constexpr std::size_t kPiece = kMaxAnswerBytes / 16;
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(text.take(chunk("{\"content\":\"" + std::string(kPiece, 'x') + "\"}")));
  }
  EXPECT_FALSE(text.take(chunk(R"({"content":"x"})")));
}

TEST(ErrorMessage, IsFoundInTheUsualShapes) {
  EXPECT_EQ(error_message(R"({"error":{"message":"no such model","code":null}})"), "no such model");
  EXPECT_EQ(error_message(R"({"error":"no"})"), "no");
  EXPECT_EQ(error_message(R"({"message":"no"})"), "no");
  EXPECT_EQ(error_message("<html>\x1b[31m"), "<html>?[31m");
  EXPECT_EQ(error_message("{}"), "{}");
}

}  // namespace
}  // namespace daybreak::exam
