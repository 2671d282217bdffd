// SPDX-License-Identifier: Apache-2.0
#include "loadgen/tally.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "loadgen/report.h"

namespace daybreak::loadgen {
namespace {

// Due at `due`, sent at `sent`: `ttft` and then a token each `tpot` seconds.
RequestRecord record(double due, double sent, double ttft, double tpot, std::size_t tokens) {
  RequestRecord out;
  out.due_seconds = due;
  out.sent_seconds = sent;
  out.asked_input = 100;
  out.asked_output = 10;
  out.input_tokens = 110;
  out.output_tokens = tokens;
  out.counted_by_server = true;
  out.times.ttft_seconds = ttft;
  out.times.tpot_seconds = tokens > 1 ? tpot : 0;
  out.times.e2el_seconds = ttft + tpot * static_cast<double>(tokens - 1);
  out.latency_seconds = out.times.e2el_seconds;
  out.itl_seconds.assign(tokens - 1, tpot);
  return out;
}

// Three requests: good; first token too late; good, of one token. One failed.
Tally hand_made() {
  Tally tally(*parse_slos({"ttft:500", "tpot:100"}));
  RequestRecord first = record(0, 0, 0.5, 0.1, 6);  // ends at 1.0
  first.cached_tokens = 55;
  tally.add(first);
  RequestRecord second = record(0.5, 1, 1.0, 0.05, 21);  // ends at 3.0
  second.cached_tokens = 0;
  tally.add(second);
  tally.add(record(3, 3, 0.25, 0, 1));  // ends at 3.25; its cache is not told
  RequestRecord failed;
  failed.due_seconds = 3;
  failed.sent_seconds = 3.5;
  failed.latency_seconds = 0.5;  // ends at 4.0
  failed.error_kind = "http_429";
  failed.error = "HTTP 429: slow down";
  tally.add(failed);
  failed.error = "another message";
  tally.add(failed);
  return tally;
}

TEST(Tally, AddsUpAsByHand) {
  const Tally tally = hand_made();
  EXPECT_EQ(tally.completed(), 3U);
  EXPECT_EQ(tally.failed(), 2U);
  EXPECT_EQ(tally.ended(), 5U);
  EXPECT_EQ(tally.good(), 2U);
  EXPECT_EQ(tally.input_tokens(), 330U);
  EXPECT_EQ(tally.output_tokens(), 28U);
  EXPECT_EQ(tally.asked_input(), 300U);
  EXPECT_EQ(tally.asked_output(), 30U);
  EXPECT_EQ(tally.seconds(), 4);
  EXPECT_EQ(tally.ttft().summary().p50, 0.5);
  EXPECT_EQ(tally.tpot().count(), 2U);  // not of the answer of one token
  EXPECT_EQ(tally.itl().count(), 25U);
  EXPECT_EQ(tally.e2el().summary().max, 2);
  EXPECT_EQ(tally.lag().count(), 5U);  // of failed ones too
  EXPECT_EQ(tally.lag().summary().max, 0.5);
  EXPECT_EQ(tally.cached_tokens(), 55U);
  EXPECT_EQ(tally.cacheable_tokens(), 220U);
  EXPECT_EQ(tally.told_cached(), 2U);
  EXPECT_EQ(tally.hits(), 1U);
  ASSERT_EQ(tally.errors().size(), 1U);
  EXPECT_EQ(tally.errors().at("http_429").count, 2U);
  EXPECT_EQ(tally.errors().at("http_429").first, "HTTP 429: slow down");
}

Report hand_made_report() {
  Report report{.workload = "w",
                .endpoint = "e",
                .requests = 9,
                .ratio = {.tokens_per_word = 1, .added_tokens = 12},
                .tally = hand_made()};
  report.tally.abandon(1);
  return report;
}

TEST(Report, JsonHasTheFiguresOfTheDefinitions) {
  const auto json = nlohmann::json::parse(report_json(hand_made_report()));
  EXPECT_EQ(json["seconds"], 4);
  EXPECT_EQ(json["requests"]["completed"], 3);
  EXPECT_EQ(json["requests"]["failed"], 2);
  EXPECT_EQ(json["requests"]["abandoned"], 1);
  EXPECT_EQ(json["requests"]["unsent"], 3);
  EXPECT_EQ(json["per_second"]["requests"], 0.75);
  EXPECT_EQ(json["per_second"]["input_tokens"], 82.5);
  EXPECT_EQ(json["per_second"]["output_tokens"], 7);
  EXPECT_EQ(json["per_second"]["total_tokens"], 89.5);
  EXPECT_EQ(json["ttft_ms"]["p50"], 500);
  EXPECT_EQ(json["ttft_ms"]["max"], 1000);
  EXPECT_EQ(json["tpot_ms"]["count"], 2);
  EXPECT_EQ(json["cache"]["hit_rate"], 0.25);
  EXPECT_EQ(json["cache"]["requests_with_hits"], 1);
  EXPECT_EQ(json["goodput"]["objectives"], (nlohmann::json{{"ttft_ms", 500}, {"tpot_ms", 100}}));
  EXPECT_EQ(json["goodput"]["requests"], 2);
  EXPECT_EQ(json["goodput"]["share"], 0.4);
  EXPECT_EQ(json["goodput"]["requests_per_second"], 0.5);
  EXPECT_EQ(json["errors"]["http_429"]["count"], 2);
  EXPECT_EQ(json["tokens"]["around_a_prompt"], 12);
}

TEST(Report, TextSaysTheSame) {
  const std::string text = report_text(hand_made_report());
  for (const char* const part :
       {"3 completed, 2 failed of 9 in 4.00 s", "interrupted: 1 in flight, 3 not sent",
        "0.750 requests/s, 82.50 input, 7.00 output, 89.50 tokens/s in all",
        "25.0 % of 220 input tokens; 1 of 2 requests",
        "0.500 requests/s: 2 of 5 (40.0 %) with ttft <= 500 ms, tpot <= 100 ms",
        "2 x http_429, the first: HTTP 429: slow down"}) {
    EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
  }
}

TEST(Report, OfNothingHasNoFigures) {
  const Report nothing{.workload = "w", .endpoint = "e", .ratio = {}, .tally = Tally()};
  const auto json = nlohmann::json::parse(report_json(nothing));
  EXPECT_EQ(json["per_second"]["requests"], 0);
  EXPECT_FALSE(json.contains("goodput"));
  EXPECT_FALSE(json.contains("cache"));
  EXPECT_NE(report_text(nothing).find("n/a"), std::string::npos);
}

TEST(Record, IsOneLineOfJson) {
  RequestRecord failed;
  failed.conversation = "c";
  failed.error_kind = "stream";
  failed.error = "bad bytes \xFF and\nlines";
  const std::string text = record_json(failed);
  EXPECT_EQ(text.find('\n'), text.npos);
  EXPECT_EQ(nlohmann::json::parse(text)["error_kind"], "stream");
  const auto whole = nlohmann::json::parse(record_json(record(1, 2, 0.5, 0.1, 6)));
  EXPECT_EQ(whole["ttft_ms"], 500);
  EXPECT_EQ(whole["sent_s"], 2);
  EXPECT_TRUE(whole["cached_tokens"].is_null());
}

}  // namespace
}  // namespace daybreak::loadgen
