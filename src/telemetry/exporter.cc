// SPDX-License-Identifier: Apache-2.0
#include "telemetry/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace daybreak::telemetry {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool succeeded(int status) { return status >= 200 && status < 300; }

// Which answers mean "later", from the protocol's specification; all others mean "never".
bool may_pass(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

Status check_url(const char* name, const std::string& url) {
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  if (url.empty() || (known && url.size() > url.find("//") + 2)) {
    return ok();
  }
  return Error{Errc::kInvalidArgument, fmt::format("{}: expected http://HOST or https://HOST, "
                                                   "found '{}'",
                                                   name, url.substr(0, 200))};
}

Status check(const ExporterOptions& options) {
  DAYBREAK_CHECK_OK(check_url("OTLP traces URL", options.traces_url));
  DAYBREAK_CHECK_OK(check_url("OTLP metrics URL", options.metrics_url));
  if (options.max_queue == 0 || options.max_batch == 0 || options.max_attempts == 0 ||
      options.metric_interval.count() <= 0) {
    return Error{Errc::kInvalidArgument,
                 "OTLP exporter: expected a queue, a batch, attempts and an interval above 0"};
  }
  return ok();
}

}  // namespace

Result<std::unique_ptr<Exporter>> Exporter::start(ExporterOptions options, CollectFn collect,
                                                  Log& log) {
  DAYBREAK_CHECK_OK(check(options));
  DAYBREAK_TRY(auto poster, HttpPoster::create(options.headers, options.ca_file));
  return std::unique_ptr<Exporter>(  // NOLINT: private constructor
      new Exporter(std::move(options), std::move(collect), log, std::move(poster)));
}

Exporter::Exporter(ExporterOptions options, CollectFn collect, Log& log,
                   std::unique_ptr<HttpPoster> poster)
    : options_(std::move(options)),
      collect_(std::move(collect)),
      log_(log),
      poster_(std::move(poster)),
      thread_([this] { run(); }) {}

Exporter::~Exporter() { stop(milliseconds(0)); }

void Exporter::add(std::vector<Span> spans) {
  if (!exports_spans()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  const std::size_t room = stopping_ ? 0 : options_.max_queue - queue_.size();
  const std::size_t taken = std::min(spans.size(), room);
  std::move(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(taken),
            std::back_inserter(queue_));
  stats_.spans_dropped_full += spans.size() - taken;
  if (queue_.size() >= options_.max_batch) {
    wake_.notify_one();
  }
}

void Exporter::stop(milliseconds bound) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      end_ = steady_clock::now() + bound;
    }
    stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

ExporterStats Exporter::stats() const {
  const std::lock_guard lock(mutex_);
  ExporterStats stats = stats_;
  stats.spans_queued = queue_.size();
  return stats;
}

void Exporter::run() {
  TimePoint spans_due = steady_clock::now() + options_.schedule_delay;
  TimePoint metrics_due = steady_clock::now() + options_.metric_interval;
  for (bool stopping = false; !stopping;) {
    bool full = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, std::min(spans_due, metrics_due),
                       [&] { return stopping_ || queue_.size() >= options_.max_batch; });
      stopping = stopping_;
      full = queue_.size() >= options_.max_batch;
    }
    if (stopping || full || steady_clock::now() >= spans_due) {
      send_spans();
      spans_due = steady_clock::now() + options_.schedule_delay;
    }
    if (stopping || steady_clock::now() >= metrics_due) {
      send_metrics();
      metrics_due = steady_clock::now() + options_.metric_interval;
    }
  }
}

void Exporter::send_spans() {
  for (;;) {
    std::vector<Span> batch;
    {
      const std::lock_guard lock(mutex_);
      const std::size_t size = std::min(queue_.size(), options_.max_batch);
      const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(size);
      std::move(queue_.begin(), end, std::back_inserter(batch));
      queue_.erase(queue_.begin(), end);
    }
    if (batch.empty()) {
      return;
    }
    const auto taken =
        deliver(options_.traces_url, export_spans_json(options_.source, batch), batch.size());
    const std::lock_guard lock(mutex_);
    if (taken) {
      stats_.spans_exported += *taken;
      stats_.spans_rejected += batch.size() - *taken;
    } else {
      stats_.spans_dropped_failed += batch.size();
    }
  }
}

void Exporter::send_metrics() {
  if (options_.metrics_url.empty()) {
    return;
  }
  const std::vector<Metric> metrics = collect_();
  std::uint64_t points = 0;
  for (const Metric& metric : metrics) {
    points += metric.points.size();
  }
  if (points == 0) {
    return;
  }
  const auto taken =
      deliver(options_.metrics_url, export_metrics_json(options_.source, metrics), points);
  const std::lock_guard lock(mutex_);
  ++(taken ? stats_.metrics_exported : stats_.metrics_failed);
}

Result<std::uint64_t> Exporter::deliver(const std::string& url, const std::string& body,
                                        std::uint64_t items) {
  for (std::size_t attempts = 1;; ++attempts) {
    Result<PostReply> reply = attempt(url, body);
    if (reply && succeeded(reply->status)) {
      note_success();
      return items - std::min(items, rejected_items(reply->body));
    }
    note_failure(reply);
    const bool later = !reply || may_pass(reply->status);
    if (!later || attempts == options_.max_attempts || !pause(attempts, reply)) {
      return reply ? Error{Errc::kUnavailable, fmt::format("HTTP status {}", reply->status)}
                   : std::move(reply).error();
    }
  }
}

Result<PostReply> Exporter::attempt(const std::string& url, const std::string& body) {
  milliseconds timeout = options_.timeout;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      timeout =
          std::min(timeout, std::chrono::duration_cast<milliseconds>(end_ - steady_clock::now()));
    }
  }
  if (timeout.count() <= 0) {
    return Error{Errc::kCancelled, "shutting down"};
  }
  return poster_->post(url, body, timeout, [this] {
    const std::lock_guard lock(mutex_);
    return stopping_ && steady_clock::now() >= end_;
  });
}

bool Exporter::pause(std::size_t attempts, const Result<PostReply>& last) {
  constexpr std::size_t kMaxDoublings = 5;
  milliseconds wait = options_.first_backoff * (1U << std::min(attempts - 1, kMaxDoublings));
  // Servers that failed together must not all come back together.
  wait += milliseconds(static_cast<std::int64_t>(jitter_() % 256U) * wait.count() / 1024);
  if (last && last->retry_after) {
    wait = std::min<milliseconds>(*last->retry_after, kMaxRetryAfter);
  }
  const TimePoint until = steady_clock::now() + wait;
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, until, [this] { return stopping_; });
  if (!stopping_) {
    return true;
  }
  // Shutting down: the next attempt is made if it is due in time.
  const TimePoint end = end_;
  lock.unlock();
  std::this_thread::sleep_until(std::min(until, end));
  return until < end;
}

void Exporter::note_failure(const Result<PostReply>& reply) {
  {
    const std::lock_guard lock(mutex_);
    ++stats_.attempts_failed;
  }
  if (!std::exchange(failing_, true)) {
    const std::string why =
        reply ? fmt::format("HTTP status {}", reply->status) : reply.error().message;
    log_.warning("otlp export fails", {{"error", std::string_view(why)}});
  }
}

void Exporter::note_success() {
  if (std::exchange(failing_, false)) {
    log_.info("otlp export works again");
  }
}

}  // namespace daybreak::telemetry
