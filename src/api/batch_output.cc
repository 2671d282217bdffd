// SPDX-License-Identifier: Apache-2.0
#include "api/batch_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/line_reader.h"

namespace daybreak::api {
namespace {

constexpr std::size_t kMaxOutcomeBytes = std::size_t{1} << 30U;

Error io_error(const std::string& path) { return {Errc::kIo, path + ": " + std::strerror(errno)}; }

Error invalid(const std::string& path, const char* what) {
  return {Errc::kInvalidArgument, path + ": " + what};
}

// Whether `path` names the open file.
bool same_file(const std::string& path, const struct stat& file) {
  struct stat other{};
  return ::stat(path.c_str(), &other) == 0 && other.st_dev == file.st_dev &&
         other.st_ino == file.st_ino;
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return io_error("write");
    }
    bytes.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return ok();
}

}  // namespace

Result<std::unique_ptr<BatchOutput>> BatchOutput::open(const BatchPaths& paths, Start start) {
  std::unique_ptr<BatchOutput> out(new BatchOutput());  // NOLINT: private constructor
  DAYBREAK_CHECK_OK(out->open_file(out->files_[0], paths.output, start, paths));
  if (!paths.errors.empty()) {
    // The lock would refuse it too, but with words that do not tell why.
    struct stat output{};
    if (::fstat(out->files_[0].fd, &output) == 0 && same_file(paths.errors, output)) {
      return invalid(paths.errors, "is the output too: leave --errors out, or name another file");
    }
    DAYBREAK_CHECK_OK(out->open_file(out->files_[1], paths.errors, start, paths));
  }
  return out;
}

BatchOutput::~BatchOutput() {
  for (const File& file : files_) {
    if (file.fd >= 0) {
      ::close(file.fd);
    }
  }
}

Status BatchOutput::open_file(File& file, const std::string& path, Start start,
                              const BatchPaths& paths) {
  file.path = path;
  file.fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, paths.mode);
  struct stat info{};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) {
    return io_error(path);
  }
  if (!S_ISREG(info.st_mode)) {
    return invalid(path, "expected a file that can be read again to go on");
  }
  if (same_file(paths.input, info)) {
    return invalid(path, "is the input");
  }
  if (::flock(file.fd, LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK ? invalid(path, "is being written by another process")
                                : io_error(path);
  }
  // Only now: before the lock, another process might have been writing still.
  if (::fstat(file.fd, &info) != 0) {
    return io_error(path);
  }
  if (start == Start::kNew && info.st_size != 0) {
    return invalid(path, "is there already: go on with it (--resume), or name another file");
  }
  return recover(file);
}

// Reads the lines an earlier run has written and cuts off one that it did not finish.
Status BatchOutput::recover(File& file) {
  struct stat info{};
  if (::fstat(file.fd, &info) != 0) {
    return io_error(file.path);
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  LineReader reader(file.fd, kMaxOutcomeBytes);
  while (const auto line = reader.next()) {
    if (!*line) {
      return Error{line->error()}.in(file.path);
    }
    if (file.bytes + (*line)->size() + 1 > size) {
      break;  // no line break: torn
    }
    if (Status status = note(**line); !status) {
      return std::move(status).error().in(file.path);
    }
    file.bytes += (*line)->size() + 1;
  }
  if (::ftruncate(file.fd, static_cast<off_t>(file.bytes)) != 0 ||
      ::lseek(file.fd, static_cast<off_t>(file.bytes), SEEK_SET) < 0) {
    return io_error(file.path);
  }
  return ok();
}

Status BatchOutput::note(std::string_view line) {
  DAYBREAK_TRY(const BatchOutcome outcome, parse_batch_outcome(line));
  if (!done_.emplace(outcome.id.line, outcome.id.hash).second) {
    return Error{Errc::kCorrupt, "line " + std::to_string(outcome.id.line) + " is answered twice"};
  }
  ++(outcome.completed ? counts_.completed : counts_.failed);
  return ok();
}

Result<bool> BatchOutput::has(const BatchLineId& id) const {
  const auto found = done_.find(id.line);
  if (found == done_.end()) {
    return false;
  }
  if (found->second != id.hash) {
    return Error{Errc::kInvalidArgument,
                 files_[0].path + ": answers another line " + std::to_string(id.line) +
                     ": the input has changed, or is not the one this output was begun with"};
  }
  return true;
}

Status BatchOutput::write(std::string_view line, bool completed) {
  File& file = files_[completed || files_[1].fd < 0 ? 0 : 1];
  if (Status status = write_all(file.fd, std::string(line) + "\n"); !status) {
    // The part that was written would make the next line unreadable.
    if (::ftruncate(file.fd, static_cast<off_t>(file.bytes)) == 0) {
      ::lseek(file.fd, static_cast<off_t>(file.bytes), SEEK_SET);
    }
    return std::move(status).error().in(file.path);
  }
  file.bytes += line.size() + 1;
  ++(completed ? counts_.completed : counts_.failed);
  return ok();
}

Status BatchOutput::sync() {
  for (const File& file : files_) {
    if (file.fd >= 0 && ::fsync(file.fd) != 0) {
      return io_error(file.path);
    }
  }
  return ok();
}

}  // namespace daybreak::api
