// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace daybreak {
namespace {

Error io_error(const std::string& path) {
  return {errno == ENOENT ? Errc::kNotFound : Errc::kIo, path + ": " + std::strerror(errno)};
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return true;
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".new";
  Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.fd() < 0 || !write_all(file.fd(), bytes) || ::fsync(file.fd()) != 0 || !file.close() ||
      std::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error{Errc::kIo, path + ": " + std::strerror(errno)};
    ::unlink(temporary.c_str());
    return error;
  }
  // The name, too, must outlast a loss of power.
  return sync_directory_of(path);
}

Status sync_directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const Descriptor directory(parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY);
  if (directory.fd() < 0 || ::fsync(directory.fd()) != 0) {
    return Error{Errc::kIo, path + ": " + std::strerror(errno)};
  }
  return ok();
}

Result<std::string> read_whole_file(const std::string& path, std::size_t max_bytes) {
  const Descriptor file(path, O_RDONLY);
  const off_t size = file.fd() < 0 ? -1 : ::lseek(file.fd(), 0, SEEK_END);
  if (size < 0) {
    return io_error(path);
  }
  if (static_cast<std::size_t>(size) > max_bytes) {
    return Error{Errc::kTooLarge, path + ": at most " + std::to_string(max_bytes) +
                                      " bytes expected, found " + std::to_string(size)};
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(file.fd(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno != EINTR) {
      return io_error(path);
    }
    if (count == 0) {
      return Error{Errc::kIo, path + ": became shorter while it was read"};
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return bytes;
}

}  // namespace daybreak
