// SPDX-License-Identifier: Apache-2.0
#include "access/pepper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "access/crypto.h"

namespace daybreak::access {
namespace {

constexpr std::size_t kFileBytes = 2 * std::tuple_size_v<Pepper> + 1;

class File {
 public:
  File(const std::filesystem::path& path, int flags) : fd_(::open(path.c_str(), flags, 0600)) {}
  ~File() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

Error io_error(const std::filesystem::path& path, const char* what) {
  return {Errc::kIo, fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno))};
}

std::optional<unsigned> hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return static_cast<unsigned>(c - '0');
  }
  if (c >= 'a' && c <= 'f') {
    return static_cast<unsigned>(c - 'a') + 10;
  }
  return std::nullopt;
}

std::optional<Pepper> decode(std::string_view text) {
  if (text.size() != kFileBytes || text.back() != '\n') {
    return std::nullopt;
  }
  Pepper out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto high = hex_value(text[2 * i]);
    const auto low = hex_value(text[2 * i + 1]);
    if (!high || !low) {
      return std::nullopt;
    }
    out[i] = static_cast<unsigned char>(*high * 16 + *low);
  }
  return out;
}

Status check_mode(const std::filesystem::path& path, int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return io_error(path, "cannot stat");
  }
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) {
    return Error{Errc::kPermission,
                 fmt::format("{}: expected a regular file owned by this user", path.string())};
  }
  if ((info.st_mode & 077U) != 0) {
    return Error{Errc::kPermission, fmt::format("{}: expected mode 0600, found {:04o}",
                                                path.string(), info.st_mode & 07777U)};
  }
  return ok();
}

// Returns nothing if the file is missing.
Result<std::optional<Pepper>> read(const std::filesystem::path& path) {
  // O_NONBLOCK: a FIFO must be refused, not waited for.
  const File file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.fd() < 0) {
    if (errno == ENOENT) {
      return std::optional<Pepper>();
    }
    return io_error(path, "cannot open");
  }
  DAYBREAK_CHECK_OK(check_mode(path, file.fd()));
  std::array<char, kFileBytes + 1> buffer{};  // one more shows a longer file
  const ssize_t got = ::read(file.fd(), buffer.data(), buffer.size());
  if (got < 0) {
    return io_error(path, "cannot read");
  }
  auto pepper = decode({buffer.data(), static_cast<std::size_t>(got)});
  if (!pepper) {
    return Error{Errc::kCorrupt,
                 fmt::format("{}: expected 64 hexadecimal digits and a line end", path.string())};
  }
  return pepper;
}

Status sync_directory(const std::filesystem::path& path) {
  const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const File directory(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory.fd() < 0 || ::fsync(directory.fd()) != 0) {
    return io_error(parent, "cannot sync");
  }
  return ok();
}

// Written beside and linked into place: nobody ever sees half of it, and nobody's is replaced.
Status create(const std::filesystem::path& path) {
  Pepper pepper;
  DAYBREAK_CHECK_OK(random_bytes(pepper));
  std::array<unsigned char, 8> tag{};
  DAYBREAK_CHECK_OK(random_bytes(tag));
  std::filesystem::path beside = path;
  beside += fmt::format(".{:02x}", fmt::join(tag, ""));
  const std::string text = fmt::format("{:02x}\n", fmt::join(pepper, ""));
  Status written = ok();
  {
    const File file(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
    if (file.fd() < 0) {
      return io_error(path, "cannot create");
    }
    if (::write(file.fd(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fsync(file.fd()) != 0) {
      written = io_error(path, "cannot write");
    } else if (::link(beside.c_str(), path.c_str()) != 0 && errno != EEXIST) {
      written = io_error(path, "cannot create");
    }
  }
  ::unlink(beside.c_str());
  DAYBREAK_CHECK_OK(std::move(written));
  return sync_directory(path);
}

}  // namespace

Result<Pepper> load_pepper(const std::filesystem::path& path, MissingPepper missing) {
  DAYBREAK_TRY(auto found, read(path));
  if (!found && missing == MissingPepper::kCreate) {
    DAYBREAK_CHECK_OK(create(path));
    DAYBREAK_TRY(found, read(path));
  }
  if (!found) {
    return Error{Errc::kNotFound, fmt::format("{}: no such pepper file", path.string())};
  }
  return *found;
}

}  // namespace daybreak::access
