// SPDX-License-Identifier: Apache-2.0
#include "api/batch_service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <utility>

#include "api/batch_check.h"
#include "base/json_document.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

using http::Task;
namespace fs = std::filesystem;

std::int64_t now_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// A descriptor for as long as a batch reads it.
class Input {
 public:
  explicit Input(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Input() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

std::string single_error(const Error& error) {
  return batch_errors_json(
      {{.line = 0, .code = std::string(to_string(error.code)), .message = error.message}});
}

}  // namespace

BatchService::BatchService(const BatchOptions& options, BatchWorker worker,
                           std::function<std::uint64_t()> random, Log& log)
    : options_(options), worker_(std::move(worker)), random_(std::move(random)), log_(log) {}

Result<std::unique_ptr<BatchService>> BatchService::start(const BatchOptions& options,
                                                          BatchWorker worker,
                                                          std::function<std::uint64_t()> random,
                                                          Log& log) {
  std::unique_ptr<BatchService> service(  // NOLINT: private constructor
      new BatchService(options, std::move(worker), std::move(random), log));
  const fs::path directory(options.directory);
  DAYBREAK_CHECK_OK(service->lock_directory());
  DAYBREAK_TRY(service->files_, FileStore::open({.directory = (directory / "files").string(),
                                                 .max_bytes = options.max_bytes,
                                                 .max_files = options.max_files,
                                                 .owner_share = options.owner_share,
                                                 .utc = options.utc},
                                                service->random_));
  DAYBREAK_TRY(service->batches_,
               BatchStore::open((directory / "batches").string(), options.owner_share));
  service->files_->remove_orphans(
      [&](std::string_view id) { return service->batches_->user_of(id).has_value(); });
  service->count_outcomes();
  const auto ended = [](const std::exception_ptr& thrown) {
    if (thrown) {
      std::rethrow_exception(thrown);  // nothing in them throws but for want of memory
    }
  };
  boost::asio::co_spawn(service->loop_, service->sweep(), ended);
  boost::asio::co_spawn(service->loop_, service->serve(), ended);
  service->thread_ = std::thread([loop = &service->loop_] { loop->run(); });
  return service;
}

BatchService::~BatchService() {
  stop();
  if (lock_ >= 0) {
    ::close(lock_);
  }
}

Status BatchService::lock_directory() {
  std::error_code fault;
  fs::create_directories(options_.directory, fault);
  lock_ = ::open(options_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fault || lock_ < 0) {
    return Error{Errc::kIo,
                 options_.directory + ": " + (fault ? fault.message() : std::strerror(errno))};
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    return Error{Errc::kInvalidArgument,
                 options_.directory + ": another server has this files_dir"};
  }
  return ok();
}

// What unfinished batches have written takes room, also while others run.
void BatchService::count_outcomes() {
  for (const BatchRecord& batch : batches_->unfinished()) {
    std::uint64_t bytes = 0;
    for (const std::string& id : {batch.output_id, batch.error_id}) {
      std::error_code none;
      const std::uintmax_t size = fs::file_size(files_->path(id), none);
      bytes += none ? 0 : size;
    }
    files_->set_growing(batch.output_id, batch.owner, bytes);
  }
}

void BatchService::wake() {
  boost::asio::post(loop_, [this] { idle_.cancel(); });
}

void BatchService::drain() {
  draining_ = true;
  boost::asio::post(loop_, [this] {
    if (running_ != nullptr) {
      running_->stop(BatchRun::Stop::kLater);
    }
    idle_.cancel();
    next_sweep_.cancel();
  });
}

void BatchService::stop() {
  if (!thread_.joinable()) {
    return;
  }
  drain();
  boost::asio::post(loop_, [this] {
    if (running_ != nullptr) {
      running_->cut();
    }
  });
  thread_.join();
}

Result<BatchRecord> BatchService::create(const access::ApiKey& caller,
                                         std::string_view input_file_id, std::string_view endpoint,
                                         std::string metadata, std::int64_t outputs_last) {
  if (!can_be_batched(endpoint)) {
    return Error{Errc::kInvalidArgument, "endpoint: expected " + batch_urls() + ", found '" +
                                             printable(endpoint, 64) + "'"};
  }
  const std::lock_guard lock(inputs_mutex_);
  auto found = files_->find(access::owner_of(caller), input_file_id);
  if (!found) {
    return std::move(found).error().in("input_file_id");
  }
  const StoredFile input = *std::move(found);
  if (input.purpose != "batch") {
    return Error{Errc::kInvalidArgument,
                 "input_file_id: expected a file of purpose batch, found " + input.purpose};
  }
  BatchRecord record;
  const std::uint64_t high = random_();
  record.id = fmt::format("batch_{:016x}{:016x}", high, random_());
  record.endpoint = endpoint;
  record.input_file_id = input_file_id;
  record.metadata = std::move(metadata);
  record.outputs_last = outputs_last;
  record.owner = input.owner;
  record.key = static_cast<std::int64_t>(caller.id);
  record.output_id = files_->new_id();
  record.error_id = files_->new_id();
  record.time(BatchTime::kCreated) = now_seconds();
  record.time(BatchTime::kExpires) = now_seconds() + options_.window_seconds;
  DAYBREAK_CHECK_OK(batches_->add(record));
  wake();
  return record;
}

Result<BatchRecord> BatchService::cancel(std::string_view owner, std::string_view id) {
  DAYBREAK_TRY(const BatchRecord before, batches_->find(owner, id));
  if (finished(before.status)) {
    return Error{Errc::kInvalidArgument,
                 "the batch is " + std::string(to_string(before.status)) + " already"};
  }
  auto changed = batches_->update(id, [](BatchRecord& batch) {
    if (!finished(batch.status) && batch.status != BatchStatus::kCancelling) {
      batch.status = BatchStatus::kCancelling;
      batch.time(BatchTime::kCancelling) = now_seconds();
    }
  });
  boost::asio::post(loop_, [this, which = std::string(id)] {
    if (running_ != nullptr && running_id_ == which) {
      running_->stop(BatchRun::Stop::kCancelled);
    }
  });
  return changed;
}

Status BatchService::remove_file(std::string_view owner, std::string_view id) {
  const std::lock_guard lock(inputs_mutex_);
  DAYBREAK_TRY(const StoredFile file, files_->find(owner, id));
  if (const auto batch = batches_->user_of(file.id)) {
    return Error{Errc::kInvalidArgument, "the file belongs to " + *batch + ", cancel that first"};
  }
  return files_->remove(owner, id);
}

// What a batch needs stays until that is finished, and is found by nobody else meanwhile.
Status BatchService::remove_expired() {
  const std::lock_guard lock(inputs_mutex_);
  return files_->remove_expired(
      [this](std::string_view id) { return batches_->user_of(id).has_value(); });
}

Task<void> BatchService::sweep() {
  while (!draining_) {
    if (const Status removed = remove_expired(); !removed) {
      log_.warning("expired files not removed", {{"error", removed.error().message}});
    }
    next_sweep_.expires_after(options_.sweep);
    boost::system::error_code ignored;
    co_await next_sweep_.async_wait(
        boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
}

Task<void> BatchService::serve() {
  while (!draining_) {
    auto id = batches_->next(std::exchange(last_id_, {}));
    if (!id) {
      idle_.expires_at(boost::asio::steady_timer::time_point::max());
      boost::system::error_code ignored;
      co_await idle_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
      continue;
    }
    co_await run_batch(*std::move(id));
  }
}

Task<void> BatchService::run_batch(std::string id) {
  auto found = batches_->find(id);
  if (!found) {
    co_return;
  }
  if (found->status == BatchStatus::kValidating) {
    if (const Status valid = validate(*found); !valid) {
      co_return fail(id, valid.error());
    }
    found = batches_->find(id);
    if (draining_ || !found || finished(found->status)) {
      co_return;
    }
  }
  bool complete = false;
  const BatchRecord batch = *found;
  const Status ended = co_await run_lines(batch, complete);
  if (ended && !complete) {
    co_return;  // for the next start
  }
  if (const Status status = finalize(id, ended); !status) {
    pause(status.error());  // it must not look failed: its outcomes would be removed as orphans
  }
}

// Reads the whole input once. A batch whose input is wrong fails here and costs nothing.
Status BatchService::validate(const BatchRecord& batch) {
  const Input input(files_->path(batch.input_file_id));
  if (input.fd() < 0) {
    return Error{Errc::kIo, "input: " + std::string(std::strerror(errno))};
  }
  const BatchCheck check = check_batch(input.fd(), batch.endpoint, options_.max_lines, draining_);
  if (!check.ended) {
    return ok();  // shutting down: it is read again after the next start
  }
  auto saved = batches_->update(batch.id, [&](BatchRecord& record) {
    record.total = check.lines;
    if (record.status != BatchStatus::kValidating) {
      return;  // cancelled meanwhile
    }
    const bool good = check.errors.empty();
    record.status = good ? BatchStatus::kInProgress : BatchStatus::kFailed;
    record.time(good ? BatchTime::kInProgress : BatchTime::kFailed) = now_seconds();
    record.errors = good ? "null" : batch_errors_json(check.errors);
  });
  return saved ? ok() : Status(std::move(saved).error());
}

Task<Status> BatchService::run_lines(const BatchRecord& batch, bool& complete) {
  const Input input(files_->path(batch.input_file_id));
  if (input.fd() < 0) {
    co_return Error{Errc::kIo, "input: " + std::string(std::strerror(errno))};
  }
  auto output = BatchOutput::open({.input = files_->path(batch.input_file_id),
                                   .output = files_->path(batch.output_id),
                                   .errors = files_->path(batch.error_id),
                                   .mode = S_IRUSR | S_IWUSR},
                                  BatchOutput::Start::kResume);
  if (!output) {
    co_return std::move(output).error();
  }
  files_->set_growing(batch.output_id, batch.owner, (*output)->bytes());
  BatchRunOptions options{.endpoint = batch.endpoint,
                          .max_in_flight = options_.in_flight,
                          .max_lines = options_.max_lines,
                          .busy = worker_.busy,
                          .principal = batch.key};
  options.may_go_on = [&] {
    return worker_.may_run ? worker_.may_run(access::KeyId{batch.key}) : ok();
  };
  options.may_write = [&](std::size_t bytes) {
    return files_->grow(batch.output_id, batch.owner, bytes);
  };
  options.on_rate_limit = [&] {
    if (batches_->next(batch.id) != batch.id) {  // somebody else waits
      last_id_ = batch.id;
      running_->stop(BatchRun::Stop::kLater);
    }
  };
  options.on_line = [&] { batches_->count(batch.id, (*output)->counts()); };
  BatchRun run(input.fd(), **output, worker_.handlers, std::move(options), loop_.get_executor());
  running_ = &run;
  running_id_ = batch.id;
  boost::asio::steady_timer expiry(loop_);
  if (batch.status != BatchStatus::kFinalizing) {  // else everything was answered in time
    const std::int64_t left = batch.time(BatchTime::kExpires) - now_seconds();
    expiry.expires_after(std::chrono::seconds(std::max<std::int64_t>(left, 0)));
    expiry.async_wait([this, &run](const boost::system::error_code& cancelled) {
      if (!cancelled && running_ == &run) {
        expire(run);
      }
    });
  }
  // A cancellation may have come before there was anything to stop.
  const auto now = batches_->find(batch.id);
  if (now && now->time(BatchTime::kCancelling) != 0) {
    run.stop(BatchRun::Stop::kCancelled);
  }
  if (draining_) {
    run.stop(BatchRun::Stop::kLater);
  }
  Status status = co_await run.run();
  running_ = nullptr;
  complete = run.complete();
  batches_->count(batch.id, (*output)->counts());
  co_return status;
}

// Marked first: after a crash the batch must not look as if all of it had been answered.
void BatchService::expire(BatchRun& run) {
  const auto saved = batches_->update(
      running_id_, [](BatchRecord& record) { record.time(BatchTime::kExpired) = now_seconds(); });
  if (!saved) {
    log_.warning("batch not saved", {{"error", std::string_view(saved.error().message)}});
  }
  run.stop(BatchRun::Stop::kExpired);
}

// Makes files of the outcomes and says how the batch ended.
Status BatchService::finalize(const std::string& id, const Status& ended) {
  DAYBREAK_TRY(const BatchRecord batch, batches_->update(id, [](BatchRecord& record) {
    if (record.status == BatchStatus::kInProgress) {
      record.status = BatchStatus::kFinalizing;
      record.time(BatchTime::kFinalizing) = now_seconds();
    }
  }));
  const auto take_in = [&](const std::string& file, const char* kind) -> Result<bool> {
    std::error_code fault;
    if (fs::file_size(files_->path(file), fault) == 0 || fault) {
      fs::remove(files_->path(file), fault);
      return false;
    }
    DAYBREAK_TRY(const StoredFile taken,
                 files_->adopt(file, id + kind, "batch_output", batch.owner, batch.outputs_last));
    return true;
  };
  files_->set_growing(batch.output_id, batch.owner, 0);
  DAYBREAK_TRY(const bool has_output, take_in(batch.output_id, "_output.jsonl"));
  DAYBREAK_TRY(const bool has_errors, take_in(batch.error_id, "_error.jsonl"));
  DAYBREAK_TRY(const BatchRecord done, batches_->update(id, [&](BatchRecord& record) {
    record.has_output = has_output;
    record.has_errors = has_errors;
    // One that was cancelled before it was read has no total yet.
    record.total = std::max(record.total, record.counts.completed + record.counts.failed);
    const std::int64_t now = now_seconds();
    if (!ended) {
      record.status = BatchStatus::kFailed;
      record.time(BatchTime::kFailed) = now;
      record.errors = single_error(ended.error());
    } else if (record.time(BatchTime::kExpired) != 0) {
      record.status = BatchStatus::kExpired;
    } else if (record.time(BatchTime::kCancelling) != 0) {
      record.status = BatchStatus::kCancelled;
      record.time(BatchTime::kCancelled) = now;
    } else {
      record.status = BatchStatus::kCompleted;
      record.time(BatchTime::kCompleted) = now;
    }
  }));
  log_.info("batch", {{"id", std::string_view(done.id)},
                      {"status", to_string(done.status)},
                      {"completed", static_cast<std::int64_t>(done.counts.completed)},
                      {"failed", static_cast<std::int64_t>(done.counts.failed)}});
  return ok();
}

void BatchService::fail(const std::string& id, const Error& error) {
  log_.warning("batch failed",
               {{"id", std::string_view(id)}, {"error", std::string_view(error.message)}});
  const auto saved = batches_->update(id, [&](BatchRecord& record) {
    record.status = BatchStatus::kFailed;
    record.time(BatchTime::kFailed) = now_seconds();
    record.errors = single_error(error);
  });
  if (!saved) {
    pause(saved.error());
  }
}

// When the disk takes nothing: without an end here a batch would be tried again without pause.
void BatchService::pause(const Error& error) {
  log_.warning("batches stop until the next start", {{"error", std::string_view(error.message)}});
  draining_ = true;
}

}  // namespace daybreak::api
