// SPDX-License-Identifier: Apache-2.0
#pragma once

// Endpoint: asks an OpenAI-compatible server one question at a time, greedily.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exam/answer.h"
#include "telemetry/http_poster.h"

namespace daybreak::exam {

struct EndpointOptions {
  std::string url;                // of chat completions, see chat_url()
  std::string model;              // as the endpoint names it
  std::string api_key;            // empty: none is sent
  std::string ca_file;            // PEM of who may sign its certificate; empty: the system's
  std::size_t max_tokens = 1024;  // of an answer
  std::chrono::milliseconds timeout{120'000};  // of an answer, connecting included
  std::chrono::milliseconds retry_wait{
      1'000};  // before asking again, where the server does not say
  // Told before each wait for a rate; may be called from several threads at once.
  std::function<void(std::chrono::milliseconds)> on_wait = nullptr;
  bool ask_for_ids = false;  // stream_options.include_internal_content, which others may refuse
};

// A question that is refused for a rate (429) is asked again, so many times at most, after what
// Retry-After says or EndpointOptions::retry_wait, doubled each time. One that is to wait longer,
// as for a quota, is not asked again.
inline constexpr std::size_t kMaxAskedAgain = 10;
inline constexpr std::chrono::milliseconds kMaxRetryWait{60'000};

// Returns where chat completions are asked for below a base URL, with or without "/v1".
// Errors: kInvalidArgument for what is no http:// or https:// URL.
[[nodiscard]] Result<std::string> chat_url(std::string base);

// Used by one thread.
class Endpoint {
 public:
  // Errors: kInvalidArgument for a key with bytes that no header holds, those of
  // HttpPoster::create().
  [[nodiscard]] static Result<Endpoint> create(EndpointOptions options);

  // `request` is the text of a JSON object without what is decided here. Errors: kIo (no
  // connection, or one that broke), kDeadline, kCancelled (`give_up`), kCorrupt (an answer that is
  // none), kTooLarge; where the endpoint refuses, "HTTP 400: MESSAGE" with kUnauthenticated for 401
  // and 403, kNotFound for 404, else kUnavailable. The times of an
  // answer are those of the asking that got it.
  [[nodiscard]] Result<Answer> ask(std::string_view request, const std::function<bool()>& give_up);

 private:
  Endpoint(EndpointOptions options, std::unique_ptr<telemetry::HttpPoster> poster)
      : options_(std::move(options)), poster_(std::move(poster)) {}

  // One asking: `wait` is set where it may be asked again after that.
  [[nodiscard]] Result<Answer> ask_once(const std::string& body,
                                        const std::function<bool()>& give_up,
                                        std::optional<std::chrono::milliseconds>& wait);
  [[nodiscard]] std::string body_of(std::string_view request) const;

  EndpointOptions options_;
  std::unique_ptr<telemetry::HttpPoster> poster_;
};

}  // namespace daybreak::exam
