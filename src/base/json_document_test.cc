// SPDX-License-Identifier: Apache-2.0
#include "base/json_document.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace daybreak {
namespace {

std::string fault_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto document = JsonDocument::parse(text, "f.json", limits);
  return document ? "accepted" : document.error().message;
}

TEST(JsonDocument, MessagesNameFileFieldAndByte) {
  struct Row {
    std::string_view text, expected;
  };
  constexpr std::array<Row, 8> kRows = {{
      {R"({"a": {"b": [1, 1e400]}})", "f.json: a.b[1]: not valid JSON (byte 21): number overflow"},
      {R"({"a": {"b": NaN}})", "f.json: a.b: not valid JSON (byte 13): "},
      {R"({"a": {"b": 1)", "f.json: a.b: not valid JSON (byte 14): "},
      {R"({"n": 99999999999999999999})", "f.json: n: the integer 99999999999999999999 does not"},
      {R"({"a": {"b": 1, "c": 2, "b": 3}})", "f.json: a.b: the key stands twice"},
      {R"([{"x": 1, "x": 1}])", "f.json: [0].x: the key stands twice"},
      {"", "f.json: not valid JSON (byte 1): "},
      {"{\"a\": \"\xff\"}", "f.json: a: not valid JSON (byte 8): "},
  }};
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(fault_of(row.text).substr(0, row.expected.size()), row.expected);
  }
}

TEST(JsonDocument, NestingIsBoundedOnBothSides) {
  const JsonLimits limits{.max_bytes = 1000, .max_depth = 8};
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + '1' + std::string(depth, ']');
  };
  EXPECT_EQ(fault_of(nested(8), limits), "accepted");
  EXPECT_EQ(fault_of(nested(9), limits), "f.json: [0][0][0][0][0][0][0][0]: nested deeper than 8");
  EXPECT_NE(fault_of(nested(400), limits), "accepted");
}

TEST(JsonDocument, LengthIsBoundedOnBothSides) {
  const JsonLimits limits{.max_bytes = 100, .max_depth = 8};
  EXPECT_EQ(fault_of("[" + std::string(98, ' ') + "]", limits), "accepted");
  EXPECT_EQ(fault_of("[" + std::string(99, ' ') + "]", limits),
            "f.json: 101 bytes, at most 100 are read");
}

TEST(JsonValue, TypedReadersSayWhatWasExpectedAndFound) {
  const auto document = JsonDocument::parse(
      R"({"i": -1, "f": 1.5, "s": "x", "b": true, "n": null, "a": [1, "two"], "o": {"k": 1}})",
      "c");
  ASSERT_TRUE(document);
  const JsonValue root = document->root();
  EXPECT_EQ(root.find("i")->integer(0, 9).error().message,
            "c: i: expected an integer in [0, 9], found -1");
  EXPECT_EQ(root.find("f")->integer(0, 9).error().message,
            "c: f: expected an integer in [0, 9], found 1.5");
  EXPECT_EQ(root.find("s")->number(0, 1).error().message,
            "c: s: expected a number in [0, 1], found \"x\"");
  EXPECT_EQ(root.find("f")->number(0, 1).error().message,
            "c: f: expected a number in [0, 1], found 1.5");
  EXPECT_EQ(root.find("o")->boolean().error().message,
            "c: o: expected true or false, found an object");
  EXPECT_EQ(root.find("b")->string().error().message, "c: b: expected a string, found true");
  const auto items = root.find("a")->array(2);
  ASSERT_TRUE(items);
  EXPECT_EQ((*items)[1].integer(0, 9).error().message,
            "c: a[1]: expected an integer in [0, 9], found \"two\"");
  EXPECT_EQ(root.find("a")->array(1).error().message, "c: a: expected at most 1 items");
  EXPECT_EQ(root.find("o")->find("k")->where(), "c: o.k");
  EXPECT_TRUE(root.find("n"));
  EXPECT_FALSE(root.find_set("n"));
  EXPECT_FALSE(root.find("missing"));
}

TEST(JsonValue, StaysValidWhenTheDocumentMoves) {
  auto document = JsonDocument::parse(R"({"k": "value"})", "c");
  ASSERT_TRUE(document);
  const JsonValue value = *document->root().find("k");
  const JsonDocument moved = *std::move(document);
  EXPECT_EQ(*value.string(), "value");
  EXPECT_EQ(*moved.root().find("k")->string(), "value");
}

TEST(JsonPrintable, KeepsAMessageOnOneAsciiLine) {
  EXPECT_EQ(printable("a\nb\x80\x1b[0m"), "a?b??[0m");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("abc", 3), "abc");
}

}  // namespace
}  // namespace daybreak
