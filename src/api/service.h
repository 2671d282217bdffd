// SPDX-License-Identifier: Apache-2.0
#pragma once

// Service: the OpenAI and Anthropic APIs over one Generator. Gives an HTTP server its routes, its
// error bodies and its access log.
//
// Shutdown, in this order: start_draining(); Generator::stop(), after which no answer is pending;
// Server::stop(); stop_workers(). The server is destroyed before the service, the service before
// the generator.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/batch_service.h"
#include "api/context.h"
#include "base/result.h"
#include "http/router.h"
#include "http/server_options.h"

namespace daybreak::api {

class Service {
 public:
  // `generator`, `metrics` and `log` must outlive the service.
  // Errors: kNotFound (the vocabulary lacks a marker), kInvalidArgument (no model name, an option
  // of `grammars` out of its range, slot_save_path is no directory), those of BatchService::start()
  // and ContentLog::open().
  [[nodiscard]] static Result<std::unique_ptr<Service>> create(
      ServiceOptions options, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
      engine::Generator& generator, Metrics& metrics, Log& log);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Returns every route. The service must outlive it.
  [[nodiscard]] http::Router router();
  // Returns what answers each url that can be in a batch. The service must outlive it.
  [[nodiscard]] std::map<std::string, http::Handler, std::less<>> batch_handlers();
  // Sets the hooks of an HTTP server. The service must outlive it.
  void attach(http::ServerOptions& options);

  // Errors: kInvalidArgument if set_model_names() cannot take `names`: the first must stay.
  [[nodiscard]] Status check_model_names(const std::vector<std::string>& names) const;
  // Exchanges the names under which the model is served for requests that come from now on.
  // Thread-safe. REQUIRES: check_model_names(names).
  void set_model_names(std::vector<std::string> names);

  // From now on /health and new generations answer 503. Thread-safe.
  void start_draining();
  // Ends batches, whose rest is for the next start, joins the threads that prepare requests and
  // compile grammars, sends the rest of what telemetry has, and waits for the usage ledger: for ten
  // seconds, and no less than until `until`. Entries that are not written by then are logged.
  // REQUIRES: the server is stopped, not yet destroyed.
  void stop_workers(std::chrono::steady_clock::time_point until = {});

 private:
  explicit Service(std::unique_ptr<Context> context);
  Status start_batches();
  void record(const http::AccessRecord& record);
  void finish_ledger(std::chrono::steady_clock::time_point deadline);

  std::unique_ptr<Context> context_;
  std::unique_ptr<BatchService> batches_;  // null: this server has none
};

}  // namespace daybreak::api
