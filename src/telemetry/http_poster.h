// SPDX-License-Identifier: Apache-2.0
#pragma once

// HttpPoster: sends JSON to a server and waits for its answer. One connection is kept open between
// calls. Redirects are not followed: what headers authorise is for one host only. This machine's
// own loopback is reached without a proxy.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak::telemetry {

struct HttpField {
  std::string name;
  std::string value;
};

struct PostReply {
  int status = 0;
  std::optional<std::chrono::seconds> retry_after;
  std::string body;  // its first kMaxReplyBytes
};

inline constexpr std::size_t kMaxReplyBytes = std::size_t{64} * 1024;

// Takes a part of a body as it arrives; false ends the call.
using BodySink = std::function<bool(std::string_view)>;

// Used by one thread.
class HttpPoster {
 public:
  // `headers` may replace User-Agent. `ca_file`: PEM of who may sign the server's certificate;
  // empty: the system's.
  // Errors: kIo (the library cannot be set up).
  [[nodiscard]] static Result<std::unique_ptr<HttpPoster>> create(std::vector<HttpField> headers,
                                                                  const std::string& ca_file);
  ~HttpPoster();
  HttpPoster(const HttpPoster&) = delete;
  HttpPoster& operator=(const HttpPoster&) = delete;

  // `give_up` is asked about once a second, and more often while bytes move: true ends the call.
  // Where `on_body` is given it takes the body of an answer with status 200 instead of the reply.
  // Errors: kDeadline (`timeout` is over), kCancelled (given up, or ended by `on_body`), kIo (no
  // connection, no HTTP).
  [[nodiscard]] Result<PostReply> post(const std::string& url, const std::string& body,
                                       std::chrono::milliseconds timeout,
                                       const std::function<bool()>& give_up,
                                       const BodySink& on_body = nullptr);

 private:
  struct Impl;
  explicit HttpPoster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::telemetry
