// SPDX-License-Identifier: Apache-2.0
#pragma once

// The whole API over a ScriptedEngine on a loopback socket. Test code only.

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/api_test_client.h"
#include "api/service.h"
#include "chat/output_shapes.h"
#include "engine/scripted_engine.h"
#include "http/server.h"
#include "testing/raw_client.h"

namespace daybreak::api {

using testing::RawClient;

struct TestApiOptions {
  engine::ScriptedEngineOptions engine{};
  http::RequestLimits limits{};
  std::string host = "127.0.0.1";
  chat::ChatLimits chat_limits{};
  std::size_t model_context = 0;
  std::chrono::milliseconds keep_alive_comments{0};
  ResponseStoreOptions responses{};
  ReplayOptions replays{};
  BatchOptions batches{};
  ContentLogOptions content_log{};
  grammar::GrammarServiceOptions grammars{};
  grammar::GrammarService::CompileFn compile_grammar = nullptr;
  std::shared_ptr<access::AccessPolicy> access = nullptr;
  engine::SlotControl* slots = nullptr;
  std::string slot_save_path{};
  LoraOptions lora{};
  std::optional<TelemetryOptions> telemetry = {};
};

class TestApi {
 public:
  using ScriptFn = engine::ScriptedEngine::ScriptFn;

  explicit TestApi(ScriptFn script, TestApiOptions options = {})
      : log({.sink =
                 [this](std::string_view line) {
                   const std::lock_guard lock(log_mutex_);
                   log_ += std::string(line) + "\n";
                 }}),
        tokenizer(chat::shapes::load_tokenizer()),
        engine(std::move(script), sized(options.engine, tokenizer->vocab_size())) {
    auto made = Service::create({.model_names = {"nano", "kimi-k3"},
                                 .version = "1.2.3",
                                 .created = 1234,
                                 .limits = options.chat_limits,
                                 .model_context = options.model_context,
                                 .keep_alive_comments = options.keep_alive_comments,
                                 .responses = options.responses,
                                 .replays = options.replays,
                                 .batches = options.batches,
                                 .content_log = options.content_log,
                                 .access = options.access,
                                 .slots = options.slots,
                                 .slot_save_path = options.slot_save_path,
                                 .lora = options.lora,
                                 .telemetry = options.telemetry,
                                 .grammars = options.grammars,
                                 .compile_grammar = options.compile_grammar},
                                tokenizer, engine, metrics, log);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    service = *std::move(made);
    http::ServerOptions server_options;
    server_options.limits = options.limits;
    server_options.host = options.host;
    service->attach(server_options);
    auto started = http::Server::start(std::move(server_options), service->router());
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    server = *std::move(started);
  }
  ~TestApi() {
    service->start_draining();
    engine.stop(std::chrono::milliseconds(0));
    server->stop();
    service->stop_workers();
    server.reset();
  }
  TestApi(const TestApi&) = delete;
  TestApi& operator=(const TestApi&) = delete;

  // Answers every request with the ids of `text`, markers included.
  static ScriptFn says(const std::string& text) {
    const auto tokenizer = chat::shapes::load_tokenizer();
    return [ids = chat::shapes::encode(*tokenizer, text)](const engine::GenerateRequest&) {
      engine::Script script;
      script.ids = ids;
      return script;
    };
  }

  std::string post(const std::string& body, const std::string& path = "/v1/chat/completions") {
    RawClient client(server->port());
    client.send(request_text(body, path));
    return client.read_response();
  }
  std::string get(const std::string& path) {
    RawClient client(server->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return client.read_response();
  }
  // Returns the payloads of all events, up to the end of the stream.
  std::vector<std::string> post_stream(const std::string& body,
                                       const std::string& path = "/v1/chat/completions") {
    RawClient client(server->port());
    client.send(request_text(body, path));
    return events(client.read_until("\r\n0\r\n\r\n"));
  }

  static std::string request_text(const std::string& body, const std::string& path) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  // Undoes the chunked coding and splits events; checks that every line starts with "data: ".
  static std::vector<std::string> events(const std::string& response) {
    std::string rest = testing::body_of(response);
    std::string text;
    while (!rest.empty()) {
      const std::size_t size = std::strtoull(rest.c_str(), nullptr, 16);
      const std::size_t start = rest.find("\r\n") + 2;
      text += rest.substr(start, size);
      rest.erase(0, std::min(rest.size(), start + size + 2));
    }
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find("\n\n", at);
      EXPECT_EQ(text.substr(at, 6), "data: ") << text;
      out.push_back(text.substr(at + 6, end - at - 6));
      at = end == std::string::npos ? text.size() : end + 2;
    }
    return out;
  }

  std::string logged() {
    const std::lock_guard lock(log_mutex_);
    return log_;
  }

  std::mutex log_mutex_;
  std::string log_;
  Metrics metrics;
  Log log;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  engine::ScriptedEngine engine;
  std::unique_ptr<Service> service;
  std::unique_ptr<http::Server> server;

 private:
  static engine::ScriptedEngineOptions sized(engine::ScriptedEngineOptions options,
                                             std::size_t vocab_size) {
    options.vocab_size = vocab_size;
    return options;
  }
};

// Waits until `condition` holds; returns whether it did within a generous time.
template <class F>
bool eventually(F condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace daybreak::api
