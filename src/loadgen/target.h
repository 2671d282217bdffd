// SPDX-License-Identifier: Apache-2.0
#pragma once

// Target: the server that is asked, and how: request bodies and headers.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "loadgen/http_streams.h"

namespace daybreak::loadgen {

enum class Protocol : std::uint8_t {
  kChat,         // /v1/chat/completions, the prompt as one user message
  kCompletions,  // /v1/completions, the prompt as it is
};

struct Target {
  std::string url;  // of the route, see route_url()
  Protocol protocol = Protocol::kChat;
  std::string model;    // as the server names it
  std::string api_key;  // empty: none is sent
  std::string ca_file;  // PEM of who may sign its certificate; empty: the system's
  std::chrono::milliseconds timeout{3'600'000};  // of an answer, connecting included
  bool ignore_eos = false;  // ask for answers of the whole length, which some servers refuse
  std::optional<double> temperature;  // nothing: the server's own
};

// Returns the route below a base URL, with or without "/v1".
// Errors: kInvalidArgument for what is no http:// or https:// URL.
[[nodiscard]] Result<std::string> route_url(std::string base, Protocol protocol);

// Returns the body of a streamed request.
[[nodiscard]] std::string body_of(const Target& target, std::string_view prompt,
                                  std::size_t output_tokens);

// Errors: kInvalidArgument for a key with bytes that no header holds, kIo.
[[nodiscard]] Result<std::unique_ptr<HttpStreams>> connect(const Target& target,
                                                           std::size_t max_connections);

}  // namespace daybreak::loadgen
