// SPDX-License-Identifier: Apache-2.0
#pragma once

// ScriptedServer: the whole API over an engine that follows a script, for measuring what lies above
// the model and for testing clients and gateways. An answer has as many tokens as the request
// allows, one letter each, a fixed time apart.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "api/service.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "engine/scripted_engine.h"
#include "http/server.h"

namespace daybreak::cli {

// Returns letter `position` of the answer to a request with this seed.
[[nodiscard]] char scripted_letter(std::uint64_t seed, std::size_t position);

struct ScriptedServerOptions {
  std::string model;  // directory of the tokenizer; empty: the bundled model
  std::string version;
  http::ServerOptions http;
  std::size_t sequences = 0;  // answered at once; as many again may wait
  std::chrono::microseconds token_interval{0};
  // Where to write when a token left the engine, in ns of the steady clock: that of position p of
  // the answer to seed s at s * stamps_per_answer + p. What lies outside is not written.
  std::span<std::atomic<std::int64_t>> stamps = {};
  std::size_t stamps_per_answer = 0;
};

class ScriptedServer {
 public:
  // Errors: those of Tokenizer::load(), Service::create() and Server::start(); kCorrupt if the
  // tokenizer has no id for a letter.
  [[nodiscard]] static Result<std::unique_ptr<ScriptedServer>> start(ScriptedServerOptions options);
  // Cuts the answers in progress.
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] const http::Server& http() const { return *server_; }

 private:
  ScriptedServer() : log_({.level = LogLevel::kWarning}) {}

  Log log_;
  Metrics metrics_;
  std::unique_ptr<engine::ScriptedEngine> engine_;
  std::unique_ptr<engine::Generator> stamped_;
  std::unique_ptr<api::Service> service_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace daybreak::cli
