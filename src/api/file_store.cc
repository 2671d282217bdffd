// SPDX-License-Identifier: Apache-2.0
#include "api/file_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/atomic_file.h"
#include "base/json_document.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "file-";
constexpr std::string_view kDescription = ".json";
constexpr std::size_t kMaxDescriptionBytes = 16'384;

bool is_id(std::string_view text) {
  return text.size() == kPrefix.size() + 32 && text.starts_with(kPrefix) &&
         text.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

Result<StoredFile> parse_description(std::string_view text, const std::string& name) {
  DAYBREAK_TRY(const JsonDocument document, JsonDocument::parse(text, name));
  const JsonValue root = document.root();
  const auto id = root.find("id");
  const auto bytes = root.find("bytes");
  const auto created = root.find("created_at");
  const auto filename = root.find("filename");
  const auto purpose = root.find("purpose");
  if (!id || !bytes || !created || !filename || !purpose) {
    return root.expected("id, bytes, created_at, filename and purpose");
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  StoredFile file;
  DAYBREAK_TRY(file.id, id->string());
  DAYBREAK_TRY(file.bytes, bytes->integer(0, kMost));
  DAYBREAK_TRY(const std::uint64_t seconds, created->integer(0, kMost));
  DAYBREAK_TRY(file.filename, filename->string());
  DAYBREAK_TRY(file.purpose, purpose->string());
  file.created_at = static_cast<std::int64_t>(seconds);
  if (const auto expires = root.find_set("expires_at")) {
    DAYBREAK_TRY(const std::uint64_t end, expires->integer(0, kMost));
    file.expires_at = static_cast<std::int64_t>(end);
  }
  if (const auto owner = root.find("owner")) {
    DAYBREAK_TRY(file.owner, owner->string());
  }
  return file;
}

// What a server reads back: the object of the API and whose it is.
std::string description_of(const StoredFile& file) {
  std::string out = file.json();
  out.pop_back();
  out += ",\"owner\":";
  chat::append_json_text(out, file.owner);
  return out + "}";
}

Error not_found(std::string_view id) {
  return {Errc::kNotFound, "no file '" + printable(id, 64) + "' here"};
}

}  // namespace

std::string StoredFile::json() const {
  std::string out = "{\"id\":\"" + id +
                    "\",\"object\":\"file\",\"bytes\":" + std::to_string(bytes) +
                    ",\"created_at\":" + std::to_string(created_at) + ",\"filename\":";
  chat::append_json_text(out, filename);
  out += ",\"purpose\":";
  chat::append_json_text(out, purpose);
  return out + ",\"status\":\"processed\",\"expires_at\":" +
         (expires_at == 0 ? "null" : std::to_string(expires_at)) + ",\"status_details\":null}";
}

Result<std::unique_ptr<FileStore>> FileStore::open(FileStoreOptions options,
                                                   std::function<std::uint64_t()> random) {
  std::error_code fault;
  fs::create_directories(options.directory, fault);
  if (fault) {
    return Error{Errc::kIo, options.directory + ": " + fault.message()};
  }
  std::unique_ptr<FileStore> store(  // NOLINT: private constructor
      new FileStore(std::move(options), std::move(random)));
  DAYBREAK_CHECK_OK(store->load());
  return store;
}

Status FileStore::load() {
  std::error_code fault;
  for (fs::directory_iterator at(options_.directory, fault), end; !fault && at != end;
       at.increment(fault)) {
    const fs::path path = at->path();
    const std::string id = path.stem().string();
    if (path.extension() != kDescription || !is_id(id)) {
      continue;
    }
    DAYBREAK_TRY(const std::string text, read_whole_file(path.string(), kMaxDescriptionBytes));
    auto file = parse_description(text, path.string());
    std::error_code missing;
    if (!file || file->id != id || fs::file_size(this->path(id), missing) != file->bytes) {
      return Error{Errc::kCorrupt,
                   path.string() + ": " +
                       (file ? "does not describe the file beside it" : file.error().message)};
    }
    hold(file->owner, {1, file->bytes});
    files_.emplace(id, *std::move(file));
  }
  return fault ? Status(Error{Errc::kIo, options_.directory + ": " + fault.message()}) : ok();
}

std::int64_t FileStore::now_seconds() const {
  return options_.utc->now() / access::kMicrosPerSecond;
}

bool FileStore::expired(const StoredFile& file) const {
  return file.expires_at != 0 && file.expires_at <= now_seconds();
}

std::string FileStore::new_id() {
  const std::lock_guard lock(mutex_);
  return new_id_locked();
}

std::string FileStore::new_id_locked() {
  for (;;) {
    const std::uint64_t high = random_();
    std::string id = fmt::format("{}{:016x}{:016x}", kPrefix, high, random_());
    if (!files_.contains(id)) {
      return id;
    }
  }
}

std::string FileStore::path(std::string_view id) const {
  return (fs::path(options_.directory) / id).string();
}

Status FileStore::check_room(const std::string& owner, Held more) const {
  const auto fits = [&](const Held& held, std::uint64_t max_files, std::uint64_t max_bytes) {
    return (more.files == 0 || held.files + more.files <= max_files) &&
           more.bytes <= max_bytes - std::min(held.bytes, max_bytes);
  };
  if (!fits(all_, options_.max_files, options_.max_bytes)) {
    return Error{
        Errc::kResourceLimit,
        fmt::format("this server keeps at most {} files and {} bytes (files_mb), found {} files "
                    "and {} bytes, {} bytes more do not fit: delete some first",
                    options_.max_files, options_.max_bytes, all_.files, all_.bytes, more.bytes)};
  }
  const std::uint64_t max_files = options_.owner_share.of(options_.max_files, owner);
  const std::uint64_t max_bytes = options_.owner_share.of(options_.max_bytes, owner);
  const auto found = owners_.find(owner);
  const Held held = found == owners_.end() ? Held{} : found->second;
  if (!fits(held, max_files, max_bytes)) {
    return Error{Errc::kResourceLimit,
                 fmt::format("a tenant or key has at most {} files and {} bytes on this server "
                             "(files_owner_percent of all), found {} files and {} bytes, {} bytes "
                             "more do not fit: delete some first",
                             max_files, max_bytes, held.files, held.bytes, more.bytes)};
  }
  return ok();
}

void FileStore::hold(const std::string& owner, Held more) {
  for (Held* const held : {&all_, &owners_[owner]}) {
    held->files += more.files;
    held->bytes += more.bytes;
  }
}

void FileStore::release(const std::string& owner, Held less) {
  const auto of_owner = owners_.find(owner);
  for (Held* const held : {&all_, &of_owner->second}) {
    held->files -= less.files;
    held->bytes -= less.bytes;
  }
  if (of_owner->second.files == 0 && of_owner->second.bytes == 0) {
    owners_.erase(of_owner);
  }
}

void FileStore::set_growing(std::string_view id, const std::string& owner, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (const auto found = growing_.find(id); found != growing_.end()) {
    release(found->second.owner, {0, found->second.bytes});
    growing_.erase(found);
  }
  if (bytes > 0) {
    hold(owner, {0, bytes});
    growing_.emplace(id, Growing{owner, bytes});
  }
}

Status FileStore::grow(std::string_view id, const std::string& owner, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (Status room = check_room(owner, {0, bytes}); !room) {
    return std::move(room).error().in("output");
  }
  hold(owner, {0, bytes});
  growing_.try_emplace(std::string(id), Growing{owner, 0}).first->second.bytes += bytes;
  return ok();
}

Result<StoredFile> FileStore::put(std::string_view bytes, std::string filename, std::string purpose,
                                  std::string owner, std::int64_t expires_after) {
  const std::lock_guard lock(mutex_);
  if (Status room = check_room(owner, {1, bytes.size()}); !room) {
    return std::move(room).error().in("file");
  }
  const std::int64_t now = now_seconds();
  StoredFile file{.id = new_id_locked(),
                  .bytes = bytes.size(),
                  .created_at = now,
                  .expires_at = expires_after == 0 ? 0 : now + expires_after,
                  .filename = std::move(filename),
                  .purpose = std::move(purpose),
                  .owner = std::move(owner)};
  Status kept = write_file_atomically(path(file.id), bytes);
  if (kept) {
    kept = describe(file);
  }
  if (!kept) {
    // On a full disk, bytes that nothing describes would keep it full until the next start.
    std::error_code ignored;
    fs::remove(path(file.id) + std::string(kDescription), ignored);
    fs::remove(path(file.id), ignored);
    return std::move(kept).error();
  }
  return file;
}

// Beyond the bound of files, if need be: their work is done, and uploads wait.
Result<StoredFile> FileStore::adopt(const std::string& id, std::string filename,
                                    std::string purpose, std::string owner,
                                    std::int64_t expires_after) {
  const std::lock_guard lock(mutex_);
  if (const auto found = files_.find(id); found != files_.end()) {
    return found->second;
  }
  std::error_code fault;
  const std::uint64_t size = fs::file_size(path(id), fault);
  if (fault) {
    return Error{Errc::kIo, path(id) + ": " + fault.message()};
  }
  const std::int64_t now = now_seconds();
  StoredFile file{.id = id,
                  .bytes = size,
                  .created_at = now,
                  .expires_at = expires_after == 0 ? 0 : now + expires_after,
                  .filename = std::move(filename),
                  .purpose = std::move(purpose),
                  .owner = std::move(owner)};
  DAYBREAK_CHECK_OK(describe(file));
  return file;
}

Status FileStore::describe(const StoredFile& file) {
  DAYBREAK_CHECK_OK(
      write_file_atomically(path(file.id) + std::string(kDescription), description_of(file)));
  hold(file.owner, {1, file.bytes});
  files_.emplace(file.id, file);
  return ok();
}

Result<StoredFile> FileStore::find(std::string_view owner, std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(id);
  const bool there =
      found != files_.end() && found->second.owner == owner && !expired(found->second);
  return there ? found->second : Result<StoredFile>(not_found(id));
}

Result<std::string> FileStore::content(std::string_view owner, std::string_view id) const {
  DAYBREAK_TRY(const StoredFile file, find(owner, id));
  return read_whole_file(path(file.id), file.bytes);
}

Status FileStore::remove(std::string_view owner, std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(id);
  if (found == files_.end() || found->second.owner != owner || expired(found->second)) {
    return not_found(id);
  }
  return remove_locked(found->second);
}

Status FileStore::remove_locked(const StoredFile& file) {
  // The description first: bytes alone are an orphan, a description alone would be damage.
  const std::string bytes = path(file.id);
  std::error_code fault;
  fs::remove(bytes + std::string(kDescription), fault);
  if (fault) {
    return Error{Errc::kIo, bytes + ": " + fault.message()};
  }
  fs::remove(bytes, fault);
  release(file.owner, {1, file.bytes});
  files_.erase(files_.find(file.id));
  return ok();
}

Status FileStore::remove_expired(const std::function<bool(std::string_view id)>& wanted) {
  const std::lock_guard lock(mutex_);
  std::vector<StoredFile> over;
  for (const auto& [id, file] : files_) {
    if (expired(file) && !wanted(id)) {
      over.push_back(file);
    }
  }
  Status first = ok();
  for (const StoredFile& file : over) {
    if (Status removed = remove_locked(file); !removed && first) {
      first = std::move(removed);
    }
  }
  return first;
}

std::vector<StoredFile> FileStore::list(std::string_view owner) const {
  std::vector<StoredFile> out;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, file] : files_) {
      if (file.owner == owner && !expired(file)) {
        out.push_back(file);
      }
    }
  }
  std::ranges::sort(out, std::greater{}, [](const StoredFile& file) {
    return std::make_tuple(file.created_at, file.id);
  });
  return out;
}

void FileStore::remove_orphans(const std::function<bool(std::string_view id)>& wanted) const {
  const std::lock_guard lock(mutex_);
  std::vector<fs::path> orphans;
  std::error_code fault;
  for (fs::directory_iterator at(options_.directory, fault), end; !fault && at != end;
       at.increment(fault)) {
    const std::string name = at->path().filename().string();
    const std::string id = name.substr(0, name.find('.'));
    const bool temporary = name.ends_with(".new");
    if (is_id(id) && (temporary || (!files_.contains(id) && name == id && !wanted(id)))) {
      orphans.push_back(at->path());
    }
  }
  for (const fs::path& orphan : orphans) {
    fs::remove(orphan, fault);
  }
}

}  // namespace daybreak::api
