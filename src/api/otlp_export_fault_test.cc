// SPDX-License-Identifier: Apache-2.0
// The exporter against collectors that are slow, wrong, overloaded or not there.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/api_test_server.h"
#include "api/otlp_test_collector.h"

namespace daybreak::api {
namespace {

using std::chrono::milliseconds;
using telemetry::Exporter;
using telemetry::ExporterOptions;
using telemetry::ExporterStats;

std::vector<telemetry::Span> spans(std::size_t count) {
  telemetry::Span span;
  span.trace_id = {1};
  span.span_id = {2};
  span.name = "x";
  return std::vector<telemetry::Span>(count, span);
}

std::uint64_t settled(const ExporterStats& stats) {
  return stats.spans_exported + stats.spans_rejected + stats.spans_dropped_full +
         stats.spans_dropped_failed;
}

class OtlpExportFault : public ::testing::Test {
 protected:
  std::unique_ptr<Exporter> start(const ExporterOptions& options) {
    auto started = Exporter::start(options, [this] { return metrics_; }, log_);
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    return *std::move(started);
  }
  // Exports `count` spans and returns the numbers once what became of each is known.
  ExporterStats exported(const ExporterOptions& options, std::size_t count = 3) {
    const auto exporter = start(options);
    exporter->add(spans(count));
    EXPECT_TRUE(eventually([&] { return settled(exporter->stats()) == count; }));
    return exporter->stats();
  }

  std::vector<telemetry::Metric> metrics_;
  std::string lines_;
  Log log_{{.sink = [this](std::string_view line) { lines_ += std::string(line) + "\n"; }}};
  TestCollector collector_;
};

TEST_F(OtlpExportFault, WhatMayPassIsTriedAgain) {
  collector_.answer(
      {{.status = 429, .body = "x"}, {.status = 502}, {.status = 503}, {.status = 504}});
  const ExporterStats stats = exported(collector_.options().exporter);
  EXPECT_EQ(stats.spans_exported, 3U);
  EXPECT_EQ(stats.attempts_failed, 4U);
  EXPECT_EQ(collector_.calls().size(), 5U);
  EXPECT_EQ(collector_.calls().front().body, collector_.calls().back().body);
  EXPECT_NE(lines_.find("otlp export fails error=\"HTTP status 429\""), std::string::npos)
      << lines_;
  EXPECT_NE(lines_.find("otlp export works again"), std::string::npos) << lines_;
}

TEST_F(OtlpExportFault, WhatWillNotPassIsDroppedAtOnce) {
  for (const int status : {400, 401, 404, 413, 500, 501}) {
    SCOPED_TRACE(status);
    const std::size_t before = collector_.calls().size();
    collector_.answer({{.status = status}});
    const ExporterStats stats = exported(collector_.options().exporter);
    EXPECT_EQ(stats.spans_dropped_failed, 3U);
    EXPECT_EQ(collector_.calls().size(), before + 1);
  }
}

TEST_F(OtlpExportFault, AttemptsAreBounded) {
  ExporterOptions options = collector_.options().exporter;
  options.max_attempts = 3;
  collector_.answer({{.status = 503}, {.status = 503}, {.status = 503}, {.status = 200}});
  EXPECT_EQ(exported(options).spans_dropped_failed, 3U);
  EXPECT_EQ(collector_.calls().size(), 3U);
}

TEST_F(OtlpExportFault, RetryAfterIsWaitedFor) {
  collector_.answer({{.status = 429, .headers = {{"Retry-After", "1"}}}});
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(exported(collector_.options().exporter).spans_exported, 3U);
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(1000));
}

TEST_F(OtlpExportFault, SpansThatTheCollectorRejectsAreCounted) {
  collector_.answer({{.body = R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}})"},
                     {.body = R"({"partialSuccess":{"rejectedSpans":99}})"},
                     {.body = "<html>what?</html>"},
                     {.body = R"({"partialSuccess":[1]})"}});
  const ExporterStats some = exported(collector_.options().exporter);
  EXPECT_EQ(some.spans_rejected, 2U);
  EXPECT_EQ(some.spans_exported, 1U);
  EXPECT_EQ(exported(collector_.options().exporter).spans_rejected, 3U);  // no more than there were
  EXPECT_EQ(exported(collector_.options().exporter).spans_exported, 3U);
  EXPECT_EQ(exported(collector_.options().exporter).spans_exported, 3U);
}

TEST_F(OtlpExportFault, NobodyListens) {
  ExporterOptions options = collector_.options().exporter;
  options.traces_url = "http://127.0.0.1:1/v1/traces";
  options.max_attempts = 2;
  const ExporterStats stats = exported(options);
  EXPECT_EQ(stats.spans_dropped_failed, 3U);
  EXPECT_EQ(stats.attempts_failed, 2U);
}

TEST_F(OtlpExportFault, SomebodyListensWhoDoesNotSpeakTheProtocol) {
  ExporterOptions options = collector_.options().exporter;
  options.traces_url.replace(0, 4, "https");  // what it answers is no TLS
  options.max_attempts = 2;
  EXPECT_EQ(exported(options).spans_dropped_failed, 3U);
}

TEST_F(OtlpExportFault, AFullQueueDropsAndNeverWaits) {
  ExporterOptions options = collector_.options().exporter;
  options.max_queue = 4;
  options.max_batch = 2;
  collector_.answer({{.delay = milliseconds(60'000)}});
  const auto exporter = start(options);
  exporter->add(spans(1));
  ASSERT_TRUE(eventually([&] { return collector_.calls().size() == 1; }));
  exporter->add(spans(3));  // the first one is on its way, these wait
  exporter->add(spans(1));  // and fill the queue
  EXPECT_EQ(exporter->stats().spans_dropped_full, 0U);
  exporter->add(spans(2));
  EXPECT_EQ(exporter->stats().spans_dropped_full, 2U);
  EXPECT_EQ(exporter->stats().spans_queued, 4U);
  exporter->stop(milliseconds(10));
  EXPECT_EQ(exporter->stats().spans_dropped_failed, 5U);
  EXPECT_EQ(settled(exporter->stats()), 7U);
}

TEST_F(OtlpExportFault, ASlowCollectorIsGivenUp) {
  ExporterOptions options = collector_.options().exporter;
  options.timeout = milliseconds(50);
  options.max_attempts = 2;
  collector_.answer({{.delay = milliseconds(60'000)}, {.delay = milliseconds(60'000)}});
  EXPECT_EQ(exported(options).spans_dropped_failed, 3U);
}

TEST_F(OtlpExportFault, StopSendsWhatIsQueued) {
  ExporterOptions options = collector_.options().exporter;
  options.schedule_delay = std::chrono::hours(1);
  options.max_batch = 4;
  metrics_ = {{.name = "m", .description = "d", .unit = "s", .points = {{.counts = {1}}}}};
  const auto exporter = start(options);
  exporter->add(spans(3));
  exporter->stop(milliseconds(20'000));
  EXPECT_EQ(exporter->stats().spans_exported, 3U);
  EXPECT_EQ(exporter->stats().metrics_exported, 1U);
  EXPECT_EQ(collector_.metrics()[0]["name"], "m");
  exporter->add(spans(1));
  EXPECT_EQ(exporter->stats().spans_dropped_full, 1U);
}

TEST_F(OtlpExportFault, StopDoesNotWaitForWhatTheCollectorAsksFor) {
  collector_.answer({{.status = 429, .headers = {{"Retry-After", "3600"}}}});
  const auto exporter = start(collector_.options().exporter);
  exporter->add(spans(3));
  ASSERT_TRUE(eventually([&] { return exporter->stats().attempts_failed == 1; }));
  exporter->stop(milliseconds(10));
  EXPECT_EQ(exporter->stats().spans_dropped_failed, 3U);
}

TEST_F(OtlpExportFault, HeadersAreSent) {
  ExporterOptions options = collector_.options().exporter;
  options.headers = {{"x-tenant", "a b"}, {"x-empty", ""}};
  EXPECT_EQ(exported(options).spans_exported, 3U);
  const http::Request call = collector_.calls().front();
  EXPECT_EQ(call.header("content-type"), "application/json");
  EXPECT_EQ(call.header("x-tenant"), "a b");
}

TEST_F(OtlpExportFault, AUrlOfAnotherKindIsRefused) {
  for (const char* url : {"ftp://x/", "127.0.0.1:4318", "http://", "file:///etc/passwd"}) {
    ExporterOptions options = collector_.options().exporter;
    options.traces_url = url;
    const auto started =
        Exporter::start(options, [] { return std::vector<telemetry::Metric>(); }, log_);
    ASSERT_FALSE(started) << url;
    EXPECT_EQ(started.error().code, Errc::kInvalidArgument);
    EXPECT_NE(started.error().message.find(url), std::string::npos);
  }
}

}  // namespace
}  // namespace daybreak::api
