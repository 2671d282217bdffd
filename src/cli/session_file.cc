// SPDX-License-Identifier: Apache-2.0
#include "cli/session_file.h"

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

namespace daybreak::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "DAYBREAK-CHAT-1\n";

struct Header {
  std::array<char, 16> magic;
  std::uint64_t conversation_bytes;
  std::uint64_t ids;
  std::uint64_t state_bytes;
};
static_assert(sizeof(Header) == 40);

Error file_error(const std::filesystem::path& path, Errc code, std::string_view what) {
  return Error{code, fmt::format("session {}: {}", path.string(), what)};
}

Status check_bounds(const std::filesystem::path& path, const Header& header) {
  const auto check = [&](const char* part, std::uint64_t size, std::uint64_t max) -> Status {
    if (size <= max) {
      return ok();
    }
    return file_error(path, Errc::kTooLarge,
                      fmt::format("{}: expected at most {}, found {}", part, max, size));
  };
  DAYBREAK_CHECK_OK(check("conversation bytes", header.conversation_bytes, kMaxConversationBytes));
  DAYBREAK_CHECK_OK(check("token ids", header.ids, kMaxSessionIds));
  return check("state bytes", header.state_bytes, kMaxSessionStateBytes);
}

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

bool write_all(std::FILE* file, const Header& header, const SavedSession& session) {
  HashingWriter writer(file);
  writer.write(std::as_bytes(std::span(&header, 1)));
  writer.write(std::as_bytes(std::span(session.conversation)));
  writer.write(std::as_bytes(std::span(session.ids)));
  writer.write(session.state);
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

Status check_session_writable(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return file_error(path, Errc::kIo, std::strerror(EISDIR));
  }
  const std::filesystem::path temporary = temporary_of(path);
  std::FILE* file = create_private(temporary);
  if (file == nullptr) {
    return file_error(path, Errc::kIo, std::strerror(errno));
  }
  std::fclose(file);
  std::remove(temporary.c_str());
  return ok();
}

Status write_session(const std::filesystem::path& path, const SavedSession& session) {
  Header header{.magic = {},
                .conversation_bytes = session.conversation.size(),
                .ids = session.ids.size(),
                .state_bytes = session.state.size()};
  std::memcpy(header.magic.data(), kMagic.data(), header.magic.size());
  DAYBREAK_CHECK_OK(check_bounds(path, header));
  const std::filesystem::path temporary = temporary_of(path);
  std::FILE* file = create_private(temporary);
  if (file == nullptr) {
    return file_error(temporary, Errc::kIo, std::strerror(errno));
  }
  const bool written = write_all(file, header, session);
  const int written_errno = errno;
  if (std::fclose(file) != 0 || !written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = written ? errno : written_errno;
    std::remove(temporary.c_str());
    return file_error(path, Errc::kIo, std::strerror(reason));
  }
  return ok();
}

Result<std::optional<SavedSession>> read_session(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped) {
    if (mapped.error().code == Errc::kNotFound) {
      return std::optional<SavedSession>();
    }
    return std::move(mapped).error().in("session");
  }
  const std::span<const std::byte> bytes = mapped->bytes();
  Header header{};
  if (bytes.size() < sizeof header + sizeof(std::uint64_t) ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return file_error(path, Errc::kCorrupt, "this is not a session of daybreak chat");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  DAYBREAK_CHECK_OK(check_bounds(path, header));
  const std::uint64_t expected = sizeof header + header.conversation_bytes +
                                 header.ids * sizeof(TokenId) + header.state_bytes +
                                 sizeof(std::uint64_t);
  if (bytes.size() != expected) {
    return file_error(path, Errc::kCorrupt,
                      fmt::format("expected {} bytes, found {}", expected, bytes.size()));
  }
  std::uint64_t hash = 0;
  std::memcpy(&hash, bytes.last(sizeof hash).data(), sizeof hash);
  if (fnv1a64(bytes.first(bytes.size() - sizeof hash)) != hash) {
    return file_error(path, Errc::kCorrupt, "damaged: its checksum does not match");
  }
  SavedSession session;
  std::span<const std::byte> rest = bytes.subspan(sizeof header);
  session.conversation.resize(header.conversation_bytes);  // never null, even if empty
  std::memcpy(session.conversation.data(), rest.data(), header.conversation_bytes);
  rest = rest.subspan(header.conversation_bytes);
  session.ids.resize(header.ids);
  const std::size_t ids_bytes = header.ids * sizeof(TokenId);
  std::ranges::copy(rest.first(ids_bytes), std::as_writable_bytes(std::span(session.ids)).begin());
  rest = rest.subspan(ids_bytes);
  session.state.assign(rest.begin(),
                       rest.begin() + static_cast<std::ptrdiff_t>(header.state_bytes));
  return std::optional(std::move(session));
}

}  // namespace daybreak::cli
