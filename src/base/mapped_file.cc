// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace daybreak {
namespace {

Error system_error(const std::filesystem::path& path, std::string_view what, int code) {
  const Errc kind = code == ENOENT || code == ENOTDIR ? Errc::kNotFound
                    : code == EACCES || code == EPERM ? Errc::kPermission
                                                      : Errc::kIo;
  return {kind,
          path.string() + ": " + std::string(what) + ": " + std::generic_category().message(code)};
}

// Closes on every way out; a mapping outlives its descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

void* page_pointer(const std::byte* address) {
  // The madvise interface takes void*, although a hint changes nothing.
  return const_cast<std::byte*>(address);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a FIFO by mistake must not hang; it means nothing for a regular file.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return system_error(path, "cannot open", errno);
  }
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) {
    return system_error(path, "cannot stat", errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{Errc::kIo, path.string() + ": not a regular file"};
  }
  MappedFile mapped;
  mapped.path_ = path;
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > 0) {  // mmap refuses a length of zero
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (address == MAP_FAILED) {
      return system_error(path, "cannot map " + std::to_string(size) + " bytes", errno);
    }
    mapped.bytes_ = {static_cast<const std::byte*>(address), size};
  }
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), path_(std::move(other.path_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(path_, other.path_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(page_pointer(bytes_.data()), bytes_.size());
  }
}

void MappedFile::advise(Access access) const {
  if (bytes_.empty()) {
    return;
  }
  const int advice = access == Access::kSequential ? MADV_SEQUENTIAL
                     : access == Access::kRandom   ? MADV_RANDOM
                                                   : MADV_NORMAL;
  ::madvise(page_pointer(bytes_.data()), bytes_.size(), advice);
}

void MappedFile::will_need(std::size_t offset, std::size_t length) const {
  if (offset >= bytes_.size() || length == 0) {
    return;
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = offset - offset % page;
  const std::size_t end = offset + std::min(length, bytes_.size() - offset);
  ::madvise(page_pointer(bytes_.data() + begin), end - begin, MADV_WILLNEED);
}

Result<std::string> read_small_file(const std::filesystem::path& path, std::size_t max_bytes) {
  DAYBREAK_TRY(const MappedFile file, MappedFile::open(path));
  if (file.bytes().size() > max_bytes) {
    return Error{Errc::kTooLarge, path.string() + ": " + std::to_string(file.bytes().size()) +
                                      " bytes, at most " + std::to_string(max_bytes) + " are read"};
  }
  std::string text(file.bytes().size(), '\0');
  std::transform(file.bytes().begin(), file.bytes().end(), text.begin(),
                 [](std::byte b) { return static_cast<char>(b); });
  return text;
}

}  // namespace daybreak
