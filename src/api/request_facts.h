// SPDX-License-Identifier: Apache-2.0
#pragma once

// RequestFacts: what telemetry says about one generating request. Numbers, names from fixed sets,
// and ids: never anything that was asked or answered, not even in an error's message.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/response_json.h"
#include "engine/generator.h"

namespace daybreak::api {

// What a request asks for, once it has been understood.
struct AskedFor {
  bool stream = false;
  bool json = false;  // the answer is to be JSON
  std::size_t choices = 1;
  std::size_t max_tokens = 0;
  double temperature = 0.0;
  double top_p = 0.0;
  std::uint32_t top_k = 0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  std::optional<std::uint64_t> seed;
};

// What came of it, once the engine has accepted it.
struct Answered {
  std::string response_id;
  chat::TokenUsage usage;
  std::vector<std::string> finish_reasons;    // of the choices that ended
  std::vector<engine::RequestTimes> times;    // of each choice
  std::vector<engine::RequestId> engine_ids;  // likewise
  std::size_t longest_choice = 0;             // tokens
  std::optional<std::chrono::steady_clock::time_point> first_token;
};

struct RequestFacts {
  std::string_view operation;  // "chat" or "text_completion"
  std::string path;            // of a route without variable parts
  std::string request_id;      // x-request-id
  std::string traceparent;     // as sent, may be malformed
  std::string served_model;    // the name replies carry
  std::string asked_model;     // the name used, one of those served; empty: none of them was named
  std::chrono::steady_clock::time_point began;
  std::chrono::system_clock::time_point began_utc;
  std::chrono::steady_clock::time_point ended;
  std::optional<AskedFor> asked;
  std::optional<Answered> answered;
  std::optional<Errc> error;  // kCancelled: the client left
};

}  // namespace daybreak::api
