// SPDX-License-Identifier: Apache-2.0
#include "telemetry/otlp_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace daybreak::telemetry {
namespace {

using Json = nlohmann::json;

const Source kSource{.resource = {{"service.name", "s"}}, .scope = "daybreak", .version = "1"};

TEST(OtlpJson, ASpanInTheProtocolsMapping) {
  Span span;
  span.trace_id = {0x00, 0x01, 0xAB, 0xFF};
  span.span_id = {0x10, 0xEF};
  span.parent_id = SpanId{0, 0, 0, 0, 0, 0, 0, 1};
  span.parent_is_remote = true;
  span.name = "n";
  span.kind = SpanKind::kServer;
  span.start_ns = std::numeric_limits<std::uint64_t>::max();
  span.end_ns = 1;
  span.status = SpanStatus::kError;
  span.attributes = {{"text", "a\"\n"},
                     {"yes", true},
                     {"int", std::numeric_limits<std::int64_t>::min()},
                     {"double", 0.1},
                     {"nan", std::nan("")},
                     {"inf", -std::numeric_limits<double>::infinity()},
                     {"list", std::vector<std::string>{"a", "b"}}};
  EXPECT_EQ(Json::parse(export_spans_json(kSource, {&span, 1})), Json::parse(R"({"resourceSpans":[{
    "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}}]},
    "scopeSpans":[{"scope":{"name":"daybreak","version":"1"},"spans":[{
      "traceId":"0001abff000000000000000000000000","spanId":"10ef000000000000",
      "parentSpanId":"0000000000000001","flags":769,"name":"n","kind":2,
      "startTimeUnixNano":"18446744073709551615","endTimeUnixNano":"1","attributes":[
        {"key":"text","value":{"stringValue":"a\"\n"}},
        {"key":"yes","value":{"boolValue":true}},
        {"key":"int","value":{"intValue":"-9223372036854775808"}},
        {"key":"double","value":{"doubleValue":0.1}},
        {"key":"nan","value":{"doubleValue":"NaN"}},
        {"key":"inf","value":{"doubleValue":"-Infinity"}},
        {"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}}],
      "status":{"code":2}}]}]}]})"));
}

TEST(OtlpJson, ASpanWithoutAParentOrAStatusSaysNothingOfThem) {
  const Span span;
  const Json json = Json::parse(export_spans_json(kSource, {&span, 1}));
  const Json& one = json["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  EXPECT_FALSE(one.contains("parentSpanId"));
  EXPECT_FALSE(one.contains("status"));
  EXPECT_EQ(one["flags"], 0x101);
}

TEST(OtlpJson, AHistogramCountsWhatItsBucketsHold) {
  const Metric metric{.name = "m",
                      .description = "d",
                      .unit = "s",
                      .points = {{.attributes = {{"k", "v"}},
                                  .start_ns = 5,
                                  .time_ns = 6,
                                  .bounds = {0.5, 1.0},
                                  .counts = {1, 0, 2},
                                  .sum = 7.25}}};
  EXPECT_EQ(Json::parse(export_metrics_json(
                kSource, {&metric, 1}))["resourceMetrics"][0]["scopeMetrics"][0]["metrics"],
            Json::parse(R"([{"name":"m","description":"d","unit":"s","histogram":{
              "aggregationTemporality":2,"dataPoints":[{
                "attributes":[{"key":"k","value":{"stringValue":"v"}}],
                "startTimeUnixNano":"5","timeUnixNano":"6","count":"3","sum":7.25,
                "bucketCounts":["1","0","2"],"explicitBounds":[0.5,1.0]}]}}])"));
}

TEST(OtlpJson, BytesThatAreNotUtf8AreReplaced) {
  Span span;
  span.name = "\xFF";
  EXPECT_NE(export_spans_json(kSource, {&span, 1}).find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(OtlpJson, RejectedItemsOfAnyAnswer) {
  EXPECT_EQ(rejected_items(""), 0U);
  EXPECT_EQ(rejected_items("{}"), 0U);
  EXPECT_EQ(rejected_items("<html>"), 0U);
  EXPECT_EQ(rejected_items("[1]"), 0U);
  EXPECT_EQ(rejected_items(R"({"partialSuccess":3})"), 0U);
  EXPECT_EQ(rejected_items(R"({"partialSuccess":{"rejectedSpans":-4}})"), 0U);
  EXPECT_EQ(rejected_items(R"({"partialSuccess":{"rejectedSpans":"x"}})"), 0U);
  EXPECT_EQ(rejected_items(R"({"partialSuccess":{"rejectedSpans":"12"}})"), 12U);
  EXPECT_EQ(rejected_items(R"({"partialSuccess":{"rejectedDataPoints":3}})"), 3U);
}

}  // namespace
}  // namespace daybreak::telemetry
