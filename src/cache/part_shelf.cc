// SPDX-License-Identifier: Apache-2.0
#include "cache/part_shelf.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/rand.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/atomic_file.h"

namespace daybreak::cache {
namespace {

constexpr std::string_view kStoreLetters = "DAYBREAK-CACHE-1\n";
constexpr std::size_t kMaxStoreBytes = 256;
constexpr std::size_t kHashDigits = 32;

Error shelf_error(const std::filesystem::path& path, const char* what) {
  return {Errc::kIo, fmt::format("{}: cannot {}: {}", path.string(), what, std::strerror(errno))};
}

// Only its owner may enter or read it.
Status check_private(const std::filesystem::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return shelf_error(path, "look at it");
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & 077U) != 0) {
    return Error{Errc::kPermission,
                 fmt::format("{}: expected this user's, with no permissions for others, found "
                             "user {} and mode {:04o}",
                             path.string(), info.st_uid, info.st_mode & 07777U)};
  }
  return ok();
}

std::string store_text(const BlockHasher::Key& key, const StoreId& id) {
  return fmt::format("{}{:02x}\n{:016x}{:016x}\n", kStoreLetters, fmt::join(key, ""), id[0], id[1]);
}

std::optional<BlockHasher::Key> key_in(std::string_view text, const StoreId& id) {
  BlockHasher::Key key{};
  if (text.size() != store_text(key, id).size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char* digits = text.data() + kStoreLetters.size() + 2 * i;
    if (std::from_chars(digits, digits + 2, key[i], 16).ptr != digits + 2) {
      return std::nullopt;
    }
  }
  // Letters, digits and the store id are those that this process writes.
  return store_text(key, id) == text ? std::optional(key) : std::nullopt;
}

struct PartName {
  std::uint64_t number = 0;
  bool finished = false;
};

// Nothing: the file is not ours.
std::optional<PartName> parse_name(std::string_view name) {
  PartName out{.number = 0, .finished = !name.ends_with(".new")};
  if (!out.finished) {
    name.remove_suffix(std::string_view(".new").size());
  }
  for (const std::string_view ending : {".block", ".checkpoint"}) {
    if (name.ends_with(ending)) {
      name.remove_suffix(ending.size());
      const bool hash = name.size() > kHashDigits + 1 && name[kHashDigits] == '-' &&
                        name.find_first_not_of("0123456789abcdef") == kHashDigits;
      const char* const end = name.data() + name.size();
      if (hash && std::from_chars(name.data() + kHashDigits + 1, end, out.number).ptr == end) {
        return out;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

template <class Visit>
void PartShelf::visit_parts(const Visit& visit) const {
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    if (const auto name = parse_name(at->path().filename().string())) {
      visit(at->path(), *name);
    }
  }
}

Status PartShelf::lock() {
  std::error_code error;
  std::filesystem::create_directories(directory_.parent_path(), error);
  if (::mkdir(directory_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return shelf_error(directory_, "make the directory");
  }
  DAYBREAK_CHECK_OK(check_private(directory_));
  const std::filesystem::path path = directory_ / "lock";
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (lock_ < 0) {
    return shelf_error(path, "open");
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    return ok();
  }
  if (errno == EWOULDBLOCK) {
    return Error{Errc::kUnavailable,
                 directory_.string() + ": expected a directory of its own, found another server's"};
  }
  return shelf_error(path, "lock");
}

PartShelf::~PartShelf() {
  if (lock_ >= 0) {
    ::close(lock_);
  }
}

Result<bool> PartShelf::take_key() {
  const std::filesystem::path path = directory_ / "store";
  const Result<std::string> text = read_whole_file(path.string(), kMaxStoreBytes);
  if (!text) {
    if (text.error().code != Errc::kNotFound && text.error().code != Errc::kTooLarge) {
      return text.error();
    }
    return false;
  }
  DAYBREAK_CHECK_OK(check_private(path));
  const auto key = key_in(*text, id_);
  key_ = key.value_or(key_);
  return key.has_value();
}

Status PartShelf::make_key(Keep keep) {
  if (RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1) {
    return Error{Errc::kIo, "the system's random generator gives nothing for the cache's key"};
  }
  const std::filesystem::path path = directory_ / "store";
  if (keep == Keep::kParts) {
    return write_file_atomically(path.string(), store_text(key_, id_));
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return shelf_error(path, "remove");
  }
  return ok();
}

void PartShelf::remove_parts() {
  std::size_t count = 0;
  visit_parts([&](const std::filesystem::path& path, const PartName&) {
    count += ::unlink(path.c_str()) == 0 ? 1 : 0;
  });
  if (count > 0 && log_ != nullptr) {
    log_->info("cache directory emptied", {{"directory", std::string_view(directory_.native())},
                                           {"files", static_cast<std::int64_t>(count)}});
  }
}

Result<std::shared_ptr<PartShelf>> PartShelf::open(const std::filesystem::path& directory,
                                                   Keep keep, const StoreId& id, Log* log) {
  const std::shared_ptr<PartShelf> shelf(new PartShelf(directory / "prefix-cache", id, log));
  DAYBREAK_CHECK_OK(shelf->lock());
  bool taken = false;
  if (keep == Keep::kParts) {
    DAYBREAK_TRY(taken, shelf->take_key());
  }
  if (!taken) {
    shelf->remove_parts();  // first: nothing is ever left that no key belongs to
    DAYBREAK_CHECK_OK(shelf->make_key(keep));
  }
  return shelf;
}

std::vector<PartShelf::FilePtr> PartShelf::take_left(const std::shared_ptr<PartShelf>& shelf,
                                                     std::size_t& damaged) {
  std::vector<FilePtr> out;
  shelf->visit_parts([&](const std::filesystem::path& path, const PartName& name) {
    shelf->next_number_ = std::max(shelf->next_number_, name.number + 1);
    if (!name.finished || out.size() == kMaxParts) {
      ::unlink(path.c_str());
      return;
    }
    Result<PartHeader> header = read_part_header(path, shelf->id_);
    if (!header) {
      ::unlink(path.c_str());
      ++damaged;
      return;
    }
    shelf->reserve(part_file_bytes(*header));
    out.push_back(std::make_shared<const File>(shelf, path, *std::move(header)));
  });
  return out;
}

std::filesystem::path PartShelf::new_path(Part part, const BlockHash& hash) {
  return directory_ / fmt::format("{:016x}{:016x}-{}.{}", hash.high, hash.low, next_number_++,
                                  part == Part::kBlock ? "block" : "checkpoint");
}

void PartShelf::doom(const std::filesystem::path& path, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  doomed_.push_back({path, bytes});
}

bool PartShelf::any_doomed() const {
  const std::lock_guard lock(mutex_);
  return !doomed_.empty();
}

void PartShelf::remove_doomed() {
  std::vector<Doomed> doomed;
  {
    const std::lock_guard lock(mutex_);
    doomed.swap(doomed_);
  }
  for (const Doomed& one : doomed) {
    if (::unlink(one.path.c_str()) == 0 || errno == ENOENT) {
      bytes_ -= one.bytes;  // else it is still there, and counts
    }
  }
}

void PartShelf::sync() const {
  const Status synced = sync_directory_of((directory_ / "store").string());
  if (!synced && log_ != nullptr) {
    log_->warning("cache directory", {{"error", std::string_view(synced.error().message)}});
  }
}

}  // namespace daybreak::cache
