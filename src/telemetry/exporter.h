// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exporter: sends spans and metrics to a collector over OTLP/HTTP (JSON) from a thread of its own.
// Whoever adds spans never waits: what does not fit into the queue is dropped and counted, and so
// is what the collector does not take in the end.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "telemetry/http_poster.h"
#include "telemetry/metric.h"
#include "telemetry/otlp_json.h"
#include "telemetry/span.h"

namespace daybreak::telemetry {

struct ExporterOptions {
  std::string traces_url;   // as it is posted to; empty: no spans are exported
  std::string metrics_url;  // likewise
  std::vector<HttpField> headers;
  std::string ca_file;  // see HttpPoster
  Source source;
  std::chrono::milliseconds timeout{10'000};          // of one call
  std::chrono::milliseconds schedule_delay{5'000};    // longest a span waits for company
  std::chrono::milliseconds metric_interval{60'000};  // between two exports of metrics
  std::size_t max_queue = 2048;                       // spans; one more is dropped
  std::size_t max_batch = 512;                        // spans of one call
  // A call that fails in a way that may pass is made again, up to so many times in all, after a
  // wait that doubles each time, or after what the collector asks for (kMaxRetryAfter at most).
  std::size_t max_attempts = 6;
  std::chrono::milliseconds first_backoff{1'000};
};

inline constexpr std::chrono::milliseconds kMaxRetryAfter{300'000};

// Since the start. Each span added is exported, rejected, dropped or still queued.
struct ExporterStats {
  std::uint64_t spans_exported = 0;
  std::uint64_t spans_rejected = 0;        // by a collector that took others of the same call
  std::uint64_t spans_dropped_full = 0;    // the queue was full
  std::uint64_t spans_dropped_failed = 0;  // refused, or no attempt got through
  std::uint64_t metrics_exported = 0;      // calls
  std::uint64_t metrics_failed = 0;        // calls given up
  std::uint64_t attempts_failed = 0;       // of either signal
  std::size_t spans_queued = 0;
};

class Exporter {
 public:
  // Returns the metrics as they are now; called on the exporter's thread.
  using CollectFn = std::function<std::vector<Metric>()>;

  // `log` outlives the exporter. Errors: those of HttpPoster::create(), kInvalidArgument for a URL
  // that is not one of http or https, or a bound that is 0.
  [[nodiscard]] static Result<std::unique_ptr<Exporter>> start(ExporterOptions options,
                                                               CollectFn collect, Log& log);
  ~Exporter();  // does stop(0)
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  [[nodiscard]] bool exports_spans() const { return !options_.traces_url.empty(); }

  // Queues spans. Thread-safe, never waits for the network.
  void add(std::vector<Span> spans);

  // Sends what is queued and the metrics once more, for at most about `bound`, and joins the
  // thread. What is left then is dropped. Idempotent; one thread.
  void stop(std::chrono::milliseconds bound);

  [[nodiscard]] ExporterStats stats() const;  // Thread-safe.

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  Exporter(ExporterOptions options, CollectFn collect, Log& log,
           std::unique_ptr<HttpPoster> poster);

  // All below run on the exporter's thread, without the lock.
  void run();
  void send_spans();
  void send_metrics();
  // Returns how many of `items` the collector took. Errors: why the call was given up.
  Result<std::uint64_t> deliver(const std::string& url, const std::string& body,
                                std::uint64_t items);
  Result<PostReply> attempt(const std::string& url, const std::string& body);
  // Waits before the next attempt. Returns false if none may follow: too late, or shutting down.
  bool pause(std::size_t attempts, const Result<PostReply>& last);
  void note_failure(const Result<PostReply>& reply);
  void note_success();

  const ExporterOptions options_;
  const CollectFn collect_;
  Log& log_;
  // The exporter's thread only.
  const std::unique_ptr<HttpPoster> poster_;
  std::minstd_rand jitter_{std::random_device{}()};
  bool failing_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<Span> queue_;
  ExporterStats stats_;
  bool stopping_ = false;
  TimePoint end_ = TimePoint::max();  // no call goes on beyond it
  std::thread thread_;
};

}  // namespace daybreak::telemetry
