// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace daybreak {
namespace {

std::vector<std::string> written(LogFormat format, LogLevel level,
                                 const std::function<void(Log&)>& body) {
  std::vector<std::string> lines;
  Log log({.level = level, .format = format, .sink = [&](std::string_view line) {
             lines.emplace_back(line);
           }});
  body(log);
  return lines;
}

TEST(Log, TextLineNamesItsFields) {
  const auto lines = written(LogFormat::kText, LogLevel::kInfo, [](Log& log) {
    log.info("request", {{"id", std::string_view("req-1")},
                         {"status", std::int64_t{200}},
                         {"ms", 1.5},
                         {"ok", true},
                         {"path", std::string_view("/a b")}});
  });
  EXPECT_EQ(lines,
            std::vector<std::string>{"request id=req-1 status=200 ms=1.500 ok=true path=\"/a b\""});
}

TEST(Log, DoublesHaveThreeDecimals) {
  const auto body = [](Log& log) {
    log.info("x", {{"a", 0.16699999999999998},
                   {"b", -2.0},
                   {"c", 1e15},
                   {"d", std::numeric_limits<double>::infinity()}});
  };
  EXPECT_EQ(written(LogFormat::kText, LogLevel::kInfo, body).at(0),
            "x a=0.167 b=-2.000 c=1000000000000000.000 d=null");
  EXPECT_EQ(written(LogFormat::kJson, LogLevel::kInfo, body).at(0),
            R"("event":"x","a":0.167,"b":-2.000,"c":1000000000000000.000,"d":null)");
}

TEST(Log, JsonFieldsParseBackWhateverTheyHold) {
  const std::string nasty = "line\nbreak \"quote\" \xff\x01";
  const auto lines = written(LogFormat::kJson, LogLevel::kInfo,
                             [&](Log& log) { log.info("x", {{"text", std::string_view(nasty)}}); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse("{" + lines[0] + "}");
  EXPECT_EQ(json["event"], "x");
  EXPECT_TRUE(json["text"].get<std::string>().starts_with("line\nbreak \"quote\" "));
}

TEST(Log, LevelsBelowTheChosenOneAreSilent) {
  const auto body = [](Log& log) {
    log.write(LogLevel::kDebug, "d");
    log.info("i");
    log.warning("w");
    log.write(LogLevel::kError, "e");
  };
  EXPECT_EQ(written(LogFormat::kText, LogLevel::kDebug, body).size(), 4U);
  EXPECT_EQ(written(LogFormat::kText, LogLevel::kWarning, body).size(), 2U);
  EXPECT_EQ(written(LogFormat::kText, LogLevel::kOff, body).size(), 0U);
}

TEST(Log, LongFieldsAreCutAtTheBound) {
  for (const std::size_t size : {kMaxLogFieldBytes, kMaxLogFieldBytes + 1}) {
    const std::string text(size, 'a');
    const auto lines = written(LogFormat::kText, LogLevel::kInfo,
                               [&](Log& log) { log.info("x", {{"t", std::string_view(text)}}); });
    const std::string kept(kMaxLogFieldBytes, 'a');
    EXPECT_EQ(lines.at(0), "x t=" + kept + (size > kMaxLogFieldBytes ? "..." : ""));
  }
}

TEST(Log, NamesOfLevelsAndFormatsAreClosed) {
  EXPECT_EQ(*parse_log_level("warning"), LogLevel::kWarning);
  EXPECT_EQ(*parse_log_format("json"), LogFormat::kJson);
  EXPECT_EQ(parse_log_level("loud").error().message,
            "log level must be debug, info, warning, error or off, found 'loud'");
  EXPECT_EQ(parse_log_format("xml").error().message,
            "log format must be text or json, found 'xml'");
}

}  // namespace
}  // namespace daybreak
