// SPDX-License-Identifier: Apache-2.0
#include "api/content_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "api/redaction.h"
#include "base/atomic_file.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

Error failure(const char* what, const std::filesystem::path& file) {
  return {Errc::kIo, "content_log: cannot " + std::string(what) + " " + file.string() + ": " +
                         std::strerror(errno)};  // NOLINT: of this thread
}

// To the millisecond: 2026-01-02T03:04:05.678Z.
std::string time_text(access::UtcMicros time) {
  return access::format_utc(time).substr(0, 23) + "Z";
}

std::string line_of(const ContentEntry& entry, access::UtcMicros time) {
  std::string line = R"({"time":")" + time_text(time) + R"(","request_id":)";
  // Clients choose their request ids.
  chat::append_json_text(line, redact(entry.request_id));
  line += R"(,"route":)";
  chat::append_json_text(line, entry.route);
  line += R"(,"request":)" + redact_request(entry.request);
  line += R"(,"choices":)" + redact_json(entry.choices) + "}\n";
  return line;
}

}  // namespace

Result<std::unique_ptr<ContentLog>> ContentLog::open(ContentLogOptions options, Metrics& metrics,
                                                     Log& log) {
  // The constructor is private.
  std::unique_ptr<ContentLog> made(new ContentLog(std::move(options), metrics, log));  // NOLINT
  DAYBREAK_CHECK_OK(made->open_file());
  made->thread_ = std::thread([self = made.get()] { self->run(); });
  return made;
}

ContentLog::ContentLog(ContentLogOptions options, Metrics& metrics, Log& log)
    : options_(std::move(options)),
      log_(log),
      written_(metrics.counter("daybreak_content_log_entries_total", "Entries of the content log",
                               {{"result", "written"}})),
      dropped_(metrics.counter("daybreak_content_log_entries_total", "Entries of the content log",
                               {{"result", "dropped"}})),
      failed_(metrics.counter("daybreak_content_log_entries_total", "Entries of the content log",
                              {{"result", "failed"}})) {}

ContentLog::~ContentLog() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
  close_file();
}

void ContentLog::write(ContentEntry entry) {
  Waiting waiting{.entry = std::move(entry), .time = access::UtcClock::system().now()};
  waiting.bytes = sizeof waiting + waiting.entry.request.size() + waiting.entry.choices.size();
  {
    const std::lock_guard lock(mutex_);
    if (waiting_bytes_ + waiting.bytes > options_.max_waiting_bytes) {
      return dropped_.add();
    }
    waiting_bytes_ += waiting.bytes;
    waiting_.push_back(std::move(waiting));
  }
  changed_.notify_one();
}

void ContentLog::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) {
      return;
    }
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const Status status = append(line_of(next.entry, next.time));
    (status ? written_ : failed_).add();
    // Told once, not once an entry.
    if (const bool was = std::exchange(failing_, !status); !status && !was) {
      log_.warning("content log", {{"error", std::string_view(status.error().message)}});
    }
    lock.lock();
    waiting_bytes_ -= next.bytes;
  }
}

Status ContentLog::open_file() {
  // No link and no pipe: whoever can write the directory must not choose where content goes.
  file_ = ::open(options_.file.c_str(),
                 O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kOwnerOnly);
  if (file_ < 0) {
    return failure("open", options_.file);
  }
  Status status = prepare_file();
  if (!status) {
    close_file();
  }
  return status;
}

// Makes the file one that lines may be appended to.
Status ContentLog::prepare_file() const {
  struct stat state{};
  if (::fstat(file_, &state) != 0 || !S_ISREG(state.st_mode)) {
    return Error{Errc::kIo, "content_log: expected a regular file, found something else: " +
                                options_.file.string()};
  }
  // It may have been there, made by who knows which program.
  if ((state.st_mode & (S_IRWXG | S_IRWXO)) != 0 && ::fchmod(file_, kOwnerOnly) != 0) {
    return failure("keep others from reading", options_.file);
  }
  // A server that was killed may have left half a line, which would spoil the next one.
  char last = '\n';
  if (state.st_size > 0 && (::pread(file_, &last, 1, state.st_size - 1) != 1 ||
                            (last != '\n' && ::write(file_, "\n", 1) != 1))) {
    return failure("end the last line of", options_.file);
  }
  return ok();
}

// Returns the size of the file to which a line of `bytes` can be appended.
Result<off_t> ContentLog::file_for(std::size_t bytes) {
  struct stat here{};
  struct stat there{};
  // Whoever rotates logs may have moved it.
  if (file_ >= 0 && (::stat(options_.file.c_str(), &there) != 0 || ::fstat(file_, &here) != 0 ||
                     here.st_ino != there.st_ino || here.st_dev != there.st_dev)) {
    close_file();
  }
  if (file_ < 0) {
    DAYBREAK_CHECK_OK(open_file());
  }
  if (::fstat(file_, &here) != 0) {
    return failure("read the size of", options_.file);
  }
  if (here.st_size == 0 ||
      static_cast<std::uint64_t>(here.st_size) + bytes <= options_.max_file_bytes) {
    return here.st_size;
  }
  std::filesystem::path old = options_.file;
  old += ".1";
  if (::rename(options_.file.c_str(), old.c_str()) != 0) {
    return failure("rename", options_.file);
  }
  close_file();
  DAYBREAK_CHECK_OK(open_file());
  // Both names, too, must outlast a loss of power.
  if (const Status synced = sync_directory_of(options_.file.string()); !synced) {
    log_.warning("content log", {{"error", std::string_view(synced.error().message)}});
  }
  return 0;
}

// Appends a line whole, or nothing.
Status ContentLog::append(const std::string& line) {
  DAYBREAK_TRY(const off_t before, file_for(line.size()));
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t got = ::write(file_, line.data() + done, line.size() - done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      Error error = failure("write", options_.file);
      // Half a line would spoil the next one.
      if (::ftruncate(file_, before) != 0) {
        close_file();
      }
      return error;
    }
    done += static_cast<std::size_t>(got);
  }
  return ok();
}

// What has been counted as written must outlast a loss of power once nobody writes to the file any
// more; while it is open that is left to the system. Its lines are there either way: only told.
void ContentLog::close_file() {
  if (file_ < 0) {
    return;
  }
  if (::fsync(file_) != 0 && errno != EINVAL) {  // EINVAL: a pipe, which is being refused
    const Error error = failure("wait for the disk with", options_.file);
    log_.warning("content log", {{"error", std::string_view(error.message)}});
  }
  ::close(std::exchange(file_, -1));
}

}  // namespace daybreak::api
