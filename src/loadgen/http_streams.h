// SPDX-License-Identifier: Apache-2.0
#pragma once

// HttpStreams: many requests at once from one thread, each told of its answer's bytes as they
// arrive. Connections are kept and used again.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "telemetry/http_poster.h"

namespace daybreak::loadgen {

// Used by one thread.
class HttpStreams {
 public:
  // Takes a part of the body of an answer with status 200; false ends the request.
  using OnBytes = std::function<bool(std::string_view)>;
  // Told once when a request has ended, after its last bytes: the reply (a body only of another
  // status than 200, its first telemetry::kMaxReplyBytes), or why there is none. Errors: kDeadline,
  // kCancelled (ended by OnBytes), kIo. May start() others.
  using OnEnd = std::function<void(Result<telemetry::PostReply>)>;

  // All requests go to `url`. `ca_file`: as HttpPoster's. Errors: kIo.
  [[nodiscard]] static Result<std::unique_ptr<HttpStreams>> create(
      std::string url, std::vector<telemetry::HttpField> headers, const std::string& ca_file,
      std::size_t max_connections);
  // Drops what is in flight; nothing is told.
  ~HttpStreams();
  HttpStreams(const HttpStreams&) = delete;
  HttpStreams& operator=(const HttpStreams&) = delete;

  // Begins to send `body` as JSON. Errors: kIo; nothing is told then.
  Status start(std::string body, std::chrono::milliseconds timeout, OnBytes on_bytes, OnEnd on_end);

  // Waits for at most `wait` for something to happen, less if a signal comes, and does all of it.
  void poll(std::chrono::milliseconds wait);

  [[nodiscard]] std::size_t in_flight() const;

 private:
  struct Impl;
  explicit HttpStreams(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::loadgen
