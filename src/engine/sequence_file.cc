// SPDX-License-Identifier: Apache-2.0
#include "engine/sequence_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/mapped_file.h"

namespace daybreak::engine {
namespace {

static_assert(std::endian::native == std::endian::little);

struct Header {
  std::array<char, 16> letters;
  std::uint64_t text_bytes;
  std::uint64_t ids;
  std::uint64_t state_bytes;
};
static_assert(sizeof(Header) == 40);

struct File {
  const SequenceFileKind& kind;
  const std::filesystem::path& path;

  [[nodiscard]] Error error(Errc code, std::string_view what) const {
    return {code, fmt::format("{} {}: {}", kind.name, path.string(), what)};
  }
  // errno's.
  [[nodiscard]] Error io_error(int number) const { return error(Errc::kIo, std::strerror(number)); }

  [[nodiscard]] Status check_bounds(const Header& header) const {
    const auto check = [&](const char* part, std::uint64_t size, std::uint64_t max) -> Status {
      if (size <= max) {
        return ok();
      }
      return error(Errc::kTooLarge,
                   fmt::format("{}: expected at most {}, found {}", part, max, size));
    };
    DAYBREAK_CHECK_OK(check("text bytes", header.text_bytes, kMaxSequenceText));
    DAYBREAK_CHECK_OK(check("token ids", header.ids, kMaxSequenceIds));
    return check("state bytes", header.state_bytes, kMaxSequenceState);
  }
};

// Writes and hashes what it writes.
class HashingWriter {
 public:
  explicit HashingWriter(std::FILE* file) : file_(file) {}

  void write(std::span<const std::byte> bytes) {
    hash_ = fnv1a64(bytes, hash_);
    good_ = good_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  }
  // Appends the hash and forces everything to the disk.
  bool finish() {
    const std::uint64_t hash = hash_;
    write(std::as_bytes(std::span(&hash, 1)));
    return good_ && std::fflush(file_) == 0 && ::fsync(::fileno(file_)) == 0;
  }

 private:
  std::FILE* file_;
  std::uint64_t hash_ = kFnvOffset;
  bool good_ = true;
};

bool write_all(std::FILE* file, const Header& header, const SavedSequence& saved) {
  HashingWriter writer(file);
  writer.write(std::as_bytes(std::span(&header, 1)));
  writer.write(std::as_bytes(std::span(saved.text)));
  writer.write(std::as_bytes(std::span(saved.ids)));
  writer.write(saved.state);
  return writer.finish();
}

std::filesystem::path temporary_of(const std::filesystem::path& path) {
  return path.string() + ".new";
}

// Returns an empty file that only its owner may read, null with errno set if there is none.
std::FILE* create_private(const std::filesystem::path& path) {
  std::remove(path.c_str());  // what a crash left, perhaps with other permissions
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) {
    return nullptr;
  }
  std::FILE* file = ::fdopen(fd, "wb");
  if (file == nullptr) {
    ::close(fd);
  }
  return file;
}

}  // namespace

Status check_sequence_writable(const SequenceFileKind& kind, const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return File{kind, path}.io_error(EISDIR);
  }
  const std::filesystem::path temporary = temporary_of(path);
  std::FILE* file = create_private(temporary);
  if (file == nullptr) {
    return File{kind, path}.io_error(errno);
  }
  std::fclose(file);
  std::remove(temporary.c_str());
  return ok();
}

Status write_sequence_file(const SequenceFileKind& kind, const std::filesystem::path& path,
                           const SavedSequence& saved) {
  Header header{.letters = {},
                .text_bytes = saved.text.size(),
                .ids = saved.ids.size(),
                .state_bytes = saved.state.size()};
  std::memcpy(header.letters.data(), kind.letters.data(), header.letters.size());
  DAYBREAK_CHECK_OK((File{kind, path}.check_bounds(header)));
  const std::filesystem::path temporary = temporary_of(path);
  std::FILE* file = create_private(temporary);
  if (file == nullptr) {
    return File{kind, temporary}.io_error(errno);
  }
  const bool written = write_all(file, header, saved);
  const int written_errno = errno;
  if (std::fclose(file) != 0 || !written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = written ? errno : written_errno;
    std::remove(temporary.c_str());
    return File{kind, path}.io_error(reason);
  }
  return ok();
}

Result<SavedSequence> parse_sequence_file(const SequenceFileKind& kind,
                                          const std::filesystem::path& path,
                                          std::span<const std::byte> bytes) {
  const File file{kind, path};
  Header header{};
  if (bytes.size() < sizeof header + sizeof(std::uint64_t) ||
      std::memcmp(bytes.data(), kind.letters.data(), header.letters.size()) != 0) {
    return file.error(Errc::kCorrupt, fmt::format("this is not a {} of {}", kind.name, kind.owner));
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  DAYBREAK_CHECK_OK(file.check_bounds(header));
  const std::uint64_t expected = sizeof header + header.text_bytes + header.ids * sizeof(TokenId) +
                                 header.state_bytes + sizeof(std::uint64_t);
  if (bytes.size() != expected) {
    return file.error(Errc::kCorrupt,
                      fmt::format("expected {} bytes, found {}", expected, bytes.size()));
  }
  std::uint64_t hash = 0;
  std::memcpy(&hash, bytes.last(sizeof hash).data(), sizeof hash);
  if (fnv1a64(bytes.first(bytes.size() - sizeof hash)) != hash) {
    return file.error(Errc::kCorrupt, "damaged: its checksum does not match");
  }
  SavedSequence saved;
  std::span<const std::byte> rest = bytes.subspan(sizeof header);
  saved.text.resize(header.text_bytes);  // never null, even if empty
  std::memcpy(saved.text.data(), rest.data(), header.text_bytes);
  rest = rest.subspan(header.text_bytes);
  saved.ids.resize(header.ids);
  const std::size_t ids_bytes = header.ids * sizeof(TokenId);
  std::ranges::copy(rest.first(ids_bytes), std::as_writable_bytes(std::span(saved.ids)).begin());
  rest = rest.subspan(ids_bytes);
  saved.state.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(header.state_bytes));
  return saved;
}

Result<SavedSequence> read_sequence_file(const SequenceFileKind& kind,
                                         const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped) {
    return std::move(mapped).error().in(kind.name);
  }
  return parse_sequence_file(kind, path, mapped->bytes());
}

}  // namespace daybreak::engine
