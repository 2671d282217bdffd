// SPDX-License-Identifier: Apache-2.0
#include "api/timeline_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace daybreak::api {
namespace {

using Json = nlohmann::json;

Clock::TimePoint at(int nanoseconds) {
  return Clock::TimePoint(std::chrono::nanoseconds(7'000'000 + nanoseconds));
}

std::vector<Json> events(const std::vector<engine::StepRecord>& steps, const std::string& phase) {
  const Json json = Json::parse(timeline_json(steps));
  std::vector<Json> out;
  for (const Json& event : json["traceEvents"]) {
    EXPECT_EQ(event["pid"], 1);
    if (event["ph"] == phase) {
      out.push_back(event);
    }
  }
  return out;
}

const std::vector<engine::StepRecord> kSteps = {
    {.number = 41,
     .began = at(0),
     .ends = {at(999), at(5'000'000), at(5'100'050), at(7'100'050), at(7'100'060)},
     .running = 3,
     .sat_out = 1,
     .feeds = {{.request = 9, .slot = 2, .tokens = 500, .prefill = true},
               {.request = 8, .slot = 0, .tokens = 1, .prefill = false}}},
    {.number = 42,
     .began = at(9'000'000),
     .ends = {at(9'000'000), at(9'500'000), at(9'500'000), at(9'500'000), at(9'500'000)},
     .running = 1,
     .sat_out = 0,
     .feeds = {{.request = 8, .slot = 0, .tokens = 1, .prefill = false}}}};

TEST(TimelineJson, EveryStepAndItsPhasesAreSpans) {
  const std::vector<Json> spans = events(kSteps, "X");
  ASSERT_EQ(spans.size(), 9U);
  EXPECT_EQ(spans[0],
            Json::parse(R"({"ph":"X","pid":1,"tid":0,"name":"step","ts":0.000,"dur":7100.060,
      "args":{"step":41,"prefill_tokens":500,"decode_tokens":1,"running":3,"sat_out":1}})"));
  const auto is = [&](std::size_t i, const char* name, double ts, double dur) {
    EXPECT_EQ(spans[i]["name"], name);
    EXPECT_EQ(spans[i]["ts"], ts) << name;
    EXPECT_EQ(spans[i]["dur"], dur) << name;
  };
  is(1, "forward", 0.999, 4999.001);  // planning took less than a microsecond
  is(2, "sample", 5000.0, 100.05);
  is(3, "mask wait", 5100.05, 2000.0);
  is(4, "prefill", 0.999, 4999.001);
  EXPECT_EQ(spans[4]["args"], Json::parse(R"({"request":9,"tokens":500,"step":41})"));
  EXPECT_EQ(spans[4]["tid"], 3);
  is(5, "decode", 0.999, 4999.001);
  EXPECT_EQ(spans[5]["tid"], 1);
  is(6, "step", 9000.0, 500.0);
}

TEST(TimelineJson, TracksAreNamedOnce) {
  std::vector<std::string> names;
  for (const Json& event : events(kSteps, "M")) {
    if (event["name"] == "thread_name") {
      names.push_back(event["args"]["name"].get<std::string>() + "@" + event["tid"].dump());
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"engine@0", "slot 0@1", "slot 2@3"}));
  EXPECT_EQ(events(kSteps, "C").size(), 2U);
}

TEST(TimelineJson, WithoutStepsThereIsAnEmptyTimeline) { EXPECT_TRUE(events({}, "X").empty()); }

}  // namespace
}  // namespace daybreak::api
