// SPDX-License-Identifier: Apache-2.0
#pragma once

// StreamClient: many chat streams at once from one thread, each held against what it must be. For
// `daybreak bench streams`; it knows the letters of a ScriptedServer.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace daybreak::cli {

struct StreamClientOptions {
  std::uint16_t port = 0;  // on 127.0.0.1
  bool tls = false;        // whatever the certificate
  std::size_t streams = 0;
  std::size_t tokens = 0;                       // of each answer
  std::chrono::milliseconds ramp{0};            // time over which the requests are sent
  std::chrono::milliseconds patience{0};        // longest silence of all streams together
  std::span<std::atomic<std::int64_t>> stamps;  // see ScriptedServerOptions; tokens per answer
  std::function<void(std::size_t tokens)> progress = nullptr;  // called now and then
};

struct StreamClientResult {
  std::size_t tokens = 0;    // received
  std::size_t bytes = 0;     // of responses, without TLS's own
  std::size_t complete = 0;  // streams with every token, right and in order, and a proper end
  std::string first_fault;   // of a stream that was not; empty: none
  std::vector<std::uint64_t> added_ns;  // from the engine to the client, one per token
};

// Opens all connections, then sends the requests and reads until every stream has ended.
// Errors: kIo (a connection is refused or its handshake fails), nothing came for `patience`.
[[nodiscard]] Result<StreamClientResult> run_streams(const StreamClientOptions& options);

}  // namespace daybreak::cli
