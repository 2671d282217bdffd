// SPDX-License-Identifier: Apache-2.0
#include "exam/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "exam/answer_reader.h"

namespace daybreak::exam {
namespace {

// Returns whether the whole time has passed: no one gave up.
bool slept(std::chrono::milliseconds time, const std::function<bool()>& give_up) {
  constexpr std::chrono::milliseconds kPoll{50};
  const Clock::TimePoint end = Clock::steady().now() + time;
  while (Clock::steady().now() < end) {
    if (give_up()) {
      return false;
    }
    std::this_thread::sleep_for(kPoll);
  }
  return !give_up();
}

Errc code_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return Errc::kUnauthenticated;
    case 404:
      return Errc::kNotFound;
    default:
      return Errc::kUnavailable;
  }
}

}  // namespace

Result<std::string> chat_url(std::string base) {
  const bool http = base.starts_with("http://") || base.starts_with("https://");
  const bool plain = std::ranges::all_of(base, [](char c) { return c > ' ' && c < '\x7f'; });
  if (!http || !plain) {
    return Error{Errc::kInvalidArgument,
                 "--url: expected http://HOST... or https://HOST..., found '" + base + "'"};
  }
  while (base.ends_with('/')) {
    base.pop_back();
  }
  constexpr std::string_view kPath = "/chat/completions";
  if (base.ends_with(kPath)) {
    return base;
  }
  return base + (base.ends_with("/v1") ? "" : "/v1") + std::string(kPath);
}

Result<Endpoint> Endpoint::create(EndpointOptions options) {
  std::vector<telemetry::HttpField> headers = {{"User-Agent", "daybreak-exam"}};
  if (!options.api_key.empty()) {
    if (!std::ranges::all_of(options.api_key, [](char c) { return c > ' ' && c < '\x7f'; })) {
      return Error{Errc::kInvalidArgument,
                   "the API key: expected visible ASCII, found other bytes"};
    }
    headers.push_back({"Authorization", "Bearer " + options.api_key});
  }
  DAYBREAK_TRY(auto poster, telemetry::HttpPoster::create(std::move(headers), options.ca_file));
  return Endpoint(std::move(options), std::move(poster));
}

std::string Endpoint::body_of(std::string_view request) const {
  nlohmann::ordered_json ours = {{"model", options_.model},
                                 {"temperature", 0},
                                 {"seed", 0},
                                 {"max_tokens", options_.max_tokens},
                                 {"stream", true},
                                 {"stream_options", {{"include_usage", true}}}};
  if (options_.ask_for_ids) {
    ours["stream_options"]["include_internal_content"] = true;
  }
  // The question's own bytes stay as they are: the prompt shows how a number was spelled.
  request.remove_suffix(request.size() - request.rfind('}'));
  return std::string(request) + "," + ours.dump().substr(1);
}

Result<Answer> Endpoint::ask(std::string_view request, const std::function<bool()>& give_up) {
  const std::string body = body_of(request);
  std::chrono::milliseconds doubled = options_.retry_wait;
  for (std::size_t again = 0;; ++again) {
    std::optional<std::chrono::milliseconds> wait = doubled;
    Result<Answer> answer = ask_once(body, give_up, wait);
    if (answer || !wait || *wait > kMaxRetryWait || again == kMaxAskedAgain) {
      return answer;
    }
    doubled = std::min(2 * doubled, kMaxRetryWait);
    if (options_.on_wait) {
      options_.on_wait(*wait);
    }
    if (!slept(*wait, give_up)) {
      return Error{Errc::kCancelled, "given up"};
    }
  }
}

Result<Answer> Endpoint::ask_once(const std::string& body, const std::function<bool()>& give_up,
                                  std::optional<std::chrono::milliseconds>& wait) {
  const std::chrono::milliseconds unsaid = *std::exchange(wait, std::nullopt);
  AnswerReader reader;
  Status read = ok();
  double first_seconds = 0;
  const Clock::TimePoint began = Clock::steady().now();
  const auto seconds = [&] { return seconds_between(began, Clock::steady().now()); };
  const auto on_body = [&](std::string_view bytes) {
    const bool begun = reader.begun();
    read = reader.take(bytes);
    if (!begun && reader.begun()) {
      first_seconds = seconds();
    }
    return read.has_value();
  };
  const auto reply = poster_->post(options_.url, body, options_.timeout, give_up, on_body);
  if (!read) {
    return std::move(read).error();
  }
  if (!reply) {
    return reply.error();
  }
  constexpr int kOk = 200;
  constexpr int kTooManyRequests = 429;
  if (reply->status == kTooManyRequests) {
    wait = reply->retry_after ? *reply->retry_after : unsaid;
  }
  if (reply->status != kOk) {
    return Error{code_of(reply->status),
                 fmt::format("HTTP {}: {}", reply->status, error_message(reply->body))};
  }
  DAYBREAK_TRY(Answer answer, std::move(reader).finish());
  answer.first_seconds = first_seconds;
  answer.seconds = seconds();
  return answer;
}

}  // namespace daybreak::exam
