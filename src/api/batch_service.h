// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchService: runs the batches of /v1/batches on a thread of its own, one batch at a time in the
// order they came, a few requests in flight, and nothing new while other requests wait. A batch
// whose caller has reached a rate makes room for the next. Whatever ends the process, the next
// server goes on with what is not done.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "access/api_key.h"
#include "api/batch_options.h"
#include "api/batch_run.h"
#include "api/batch_store.h"
#include "api/file_store.h"
#include "base/log.h"
#include "base/result.h"

namespace daybreak::api {

// Who answers the requests of batches. All are called on the service's thread.
struct BatchWorker {
  BatchRun::Handlers handlers;           // of every url that can be batched
  std::function<bool()> busy = nullptr;  // whether others wait for the generator; empty: never
  // Whether requests of batches may be made for a key, at this moment; empty: for any.
  std::function<Status(access::KeyId)> may_run = nullptr;
};

// Every public function is thread-safe, but stop() and the destructor.
class BatchService {
 public:
  // `log` must outlive the service. Errors: those of FileStore::open() and BatchStore::open();
  // kInvalidArgument: another server has the directory.
  [[nodiscard]] static Result<std::unique_ptr<BatchService>> start(
      const BatchOptions& options, BatchWorker worker, std::function<std::uint64_t()> random,
      Log& log);
  ~BatchService();
  BatchService(const BatchService&) = delete;
  BatchService& operator=(const BatchService&) = delete;

  [[nodiscard]] FileStore& files() { return *files_; }
  [[nodiscard]] const BatchStore& batches() const { return *batches_; }

  // Makes a batch whose requests are made for `caller`, and accounted to him, whenever they are.
  // `metadata` is JSON. `outputs_last`: seconds from the creation of each file of outcomes to its
  // end; 0: until it is removed. Errors: kNotFound (the file is not there, or not his),
  // kInvalidArgument (its purpose, the endpoint), kResourceLimit, kIo.
  Result<BatchRecord> create(const access::ApiKey& caller, std::string_view input_file_id,
                             std::string_view endpoint, std::string metadata,
                             std::int64_t outputs_last);
  // Errors: kNotFound, kInvalidArgument (it is finished).
  Result<BatchRecord> cancel(std::string_view owner, std::string_view id);
  // Errors: kNotFound, kInvalidArgument (an unfinished batch needs it).
  Status remove_file(std::string_view owner, std::string_view id);

  // Begins no more requests; those in flight go on.
  void drain();
  // Cuts what is in flight, leaves it to the next start, and joins the thread. Idempotent.
  void stop();

 private:
  BatchService(const BatchOptions& options, BatchWorker worker,
               std::function<std::uint64_t()> random, Log& log);
  http::Task<void> serve();
  http::Task<void> sweep();
  http::Task<void> run_batch(std::string id);
  http::Task<Status> run_lines(const BatchRecord& batch, bool& complete);
  Status lock_directory();
  void count_outcomes();
  Status remove_expired();
  void expire(BatchRun& run);
  Status validate(const BatchRecord& batch);
  Status finalize(const std::string& id, const Status& ended);
  void fail(const std::string& id, const Error& error);
  void pause(const Error& error);
  void wake();

  const BatchOptions options_;
  const BatchWorker worker_;
  const std::function<std::uint64_t()> random_;
  Log& log_;
  int lock_ = -1;  // the directory, against a second server
  // Held from finding an input to adding its batch, and wherever files are removed: none goes
  // before the batch that needs it is known.
  std::mutex inputs_mutex_;
  std::unique_ptr<FileStore> files_;
  std::unique_ptr<BatchStore> batches_;
  std::atomic<bool> draining_{false};
  boost::asio::io_context loop_{1};
  boost::asio::steady_timer idle_{loop_};  // this and the rest: on the service's thread
  boost::asio::steady_timer next_sweep_{loop_};
  BatchRun* running_ = nullptr;
  std::string running_id_;
  std::string last_id_;  // the batch that made room for others; empty: none did
  std::thread thread_;
};

}  // namespace daybreak::api
