// SPDX-License-Identifier: Apache-2.0
#include "cache/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace daybreak::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "parts are stored as they lie in memory");

constexpr std::array<char, 8> kLetters = {'D', 'A', 'Y', 'C', 'A', 'C', 'H', 'E'};
constexpr std::uint32_t kBlockNumber = 1;
constexpr std::uint32_t kCheckpointNumber = 2;

// As it lies in the file.
struct RawHeader {
  std::array<char, 8> letters;
  std::uint32_t version;
  std::uint32_t part;
  StoreId id;
  BlockHash hash;
  BlockHash parent;
  std::uint64_t depth;
  std::uint64_t scope_bytes;
  std::uint64_t bytes;
  std::uint64_t checksum;
  std::uint64_t header_checksum;
};
static_assert(sizeof(RawHeader) == kPartHeaderBytes && sizeof(BlockHash) == 16);

std::uint64_t checksum_of(const RawHeader& raw, std::string_view scope) {
  const auto fixed = std::as_bytes(std::span(&raw, 1)).first(offsetof(RawHeader, header_checksum));
  return word_checksum64(std::as_bytes(std::span(scope)), word_checksum64(fixed, 0));
}

RawHeader raw_of(const PartHeader& header, const StoreId& id) {
  RawHeader raw{.letters = kLetters,
                .version = kPartFileVersion,
                .part = header.part == Part::kBlock ? kBlockNumber : kCheckpointNumber,
                .id = id,
                .hash = header.hash,
                .parent = header.parent.value_or(BlockHash{}),
                .depth = header.depth,
                .scope_bytes = header.scope.size(),
                .bytes = header.bytes,
                .checksum = header.checksum,
                .header_checksum = 0};
  raw.header_checksum = checksum_of(raw, header.scope);
  return raw;
}

Error corrupt(std::string what) { return {Errc::kCorrupt, std::move(what)}; }

Error system_error(const char* what) {
  return {errno == ENOENT ? Errc::kNotFound : Errc::kIo,
          fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

// An open file; closed in the end.
class PartDescriptor {
 public:
  PartDescriptor(const std::filesystem::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)) {}
  ~PartDescriptor() { close(); }
  PartDescriptor(const PartDescriptor&) = delete;
  PartDescriptor& operator=(const PartDescriptor&) = delete;

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }
  bool write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) {
        return false;
      }
      bytes = bytes.subspan(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    return true;
  }
  // Waits until it is on the disk, and gives back what it has of the system's cache.
  bool finish() { return ::fdatasync(fd_) == 0 && give_cache_back() && close(); }
  bool give_cache_back() {
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED);  // advice: may fail
    return true;
  }
  // Returns how many bytes there were, fewer only at the end of the file; nothing: errno says why.
  std::optional<std::size_t> read(std::uint64_t offset, std::span<std::byte> out) {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t count =
          ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno != EINTR) {
        return std::nullopt;
      }
      if (count == 0) {
        break;
      }
      done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    return done;
  }
  [[nodiscard]] std::optional<std::uint64_t> size() const {
    struct stat info{};
    if (::fstat(fd_, &info) != 0) {
      return std::nullopt;
    }
    return S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
  }

 private:
  int fd_;
};

bool write_all(PartDescriptor& file, const RawHeader& raw, std::string_view scope,
               std::span<const std::byte> payload, const WritePointFn& at) {
  const auto reached = [&](WritePoint point) {
    if (at) {
      at(point);
    }
    return true;
  };
  const std::size_t half = payload.size() / 2;
  return reached(WritePoint::kCreated) && file.write(std::as_bytes(std::span(&raw, 1))) &&
         file.write(std::as_bytes(std::span(scope))) && reached(WritePoint::kHeader) &&
         file.write(payload.first(half)) && reached(WritePoint::kHalf) &&
         file.write(payload.subspan(half)) && file.finish() && reached(WritePoint::kWhole);
}

// Reads the header of an open file.
Result<PartHeader> header_of(PartDescriptor& file, const StoreId& id) {
  const auto size = file.size();
  if (!size) {
    return system_error("look at the file");
  }
  std::vector<std::byte> bytes(kPartHeaderBytes);
  auto got = file.read(0, bytes);
  if (got == kPartHeaderBytes) {
    RawHeader raw{};
    std::memcpy(&raw, bytes.data(), sizeof raw);
    bytes.resize(kPartHeaderBytes + std::min<std::uint64_t>(raw.scope_bytes, kMaxScopeBytes));
    got = file.read(0, bytes);
  }
  if (!got) {
    return system_error("read");
  }
  bytes.resize(*got);
  return parse_part_header(bytes, *size, id);
}

}  // namespace

StoreId store_id_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();  // the only reason there can be
  }
  StoreId id{};
  std::memcpy(id.data(), digest.data(), sizeof id);
  return id;
}

std::uint64_t part_file_bytes(const PartHeader& header) {
  return kPartHeaderBytes + header.scope.size() + header.bytes;
}

Result<PartHeader> write_part_file(const std::filesystem::path& path, const StoreId& id,
                                   PartHeader header, std::span<const std::byte> payload,
                                   const WritePointFn& at) {
  header.bytes = payload.size();
  header.checksum = word_checksum64(payload, 0);
  const std::filesystem::path temporary = path.string() + ".new";
  ::unlink(temporary.c_str());  // what a crash left, perhaps with other permissions
  PartDescriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open() || !write_all(file, raw_of(header, id), header.scope, payload, at) ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error{Errc::kIo, fmt::format("cannot write: {}", std::strerror(errno))};
    ::unlink(temporary.c_str());
    return error;
  }
  if (at) {
    at(WritePoint::kRenamed);
  }
  return header;
}

Result<PartHeader> parse_part_header(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                                     const StoreId& id) {
  RawHeader raw{};
  if (bytes.size() < sizeof raw) {
    return corrupt(
        fmt::format("expected a header of {} bytes, found {} bytes", sizeof raw, bytes.size()));
  }
  std::memcpy(&raw, bytes.data(), sizeof raw);
  if (raw.letters != kLetters) {
    return corrupt("does not start with DAYCACHE");
  }
  if (raw.version != kPartFileVersion) {
    return Error{Errc::kUnsupported, fmt::format("expected format version {}, found {}",
                                                 kPartFileVersion, raw.version)};
  }
  if (raw.scope_bytes > kMaxScopeBytes || bytes.size() - sizeof raw < raw.scope_bytes) {
    return corrupt(fmt::format("expected a scope of {} bytes at most, found {}",
                               std::min(kMaxScopeBytes, bytes.size() - sizeof raw),
                               raw.scope_bytes));
  }
  PartHeader header;
  header.scope.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof raw, raw.scope_bytes);
  if (raw.header_checksum != checksum_of(raw, header.scope)) {
    return corrupt("the checksum of its header does not match");
  }
  if (raw.id != id) {
    return Error{Errc::kInvalidArgument, "was made by another model or another version"};
  }
  const bool is_first = raw.parent == BlockHash{};
  if ((raw.part != kBlockNumber && raw.part != kCheckpointNumber) || raw.depth == 0 ||
      raw.depth > kMaxPartDepth || is_first != (raw.depth == 1) || raw.bytes > kMaxPartBytes) {
    return corrupt("its header says what no header may");
  }
  header.part = raw.part == kBlockNumber ? Part::kBlock : Part::kCheckpoint;
  header.hash = raw.hash;
  header.parent = is_first ? std::nullopt : std::optional(raw.parent);
  header.depth = raw.depth;
  header.bytes = raw.bytes;
  header.checksum = raw.checksum;
  if (part_file_bytes(header) != file_bytes) {
    return corrupt(fmt::format("expected {} bytes, found {}", part_file_bytes(header), file_bytes));
  }
  return header;
}

Result<PartHeader> read_part_header(const std::filesystem::path& path, const StoreId& id) {
  PartDescriptor file(path, O_RDONLY | O_NONBLOCK);
  if (!file.is_open()) {
    return system_error("open");
  }
  return header_of(file, id);
}

Status read_part_payload(const std::filesystem::path& path, const StoreId& id,
                         const PartHeader& expected, std::span<std::byte> out) {
  PartDescriptor file(path, O_RDONLY | O_NONBLOCK);
  if (!file.is_open()) {
    return system_error("open");
  }
  DAYBREAK_TRY(const PartHeader header, header_of(file, id));
  if (header != expected) {
    return corrupt("holds another part than was stored there");
  }
  const auto got = file.read(kPartHeaderBytes + header.scope.size(), out);
  file.give_cache_back();
  if (!got) {
    return system_error("read");
  }
  if (*got != out.size()) {
    return corrupt(fmt::format("expected {} bytes of payload, found {}", out.size(), *got));
  }
  if (word_checksum64(out, 0) != header.checksum) {
    return corrupt("the checksum of its payload does not match");
  }
  return ok();
}

}  // namespace daybreak::cache
