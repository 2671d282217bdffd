// SPDX-License-Identifier: Apache-2.0
#pragma once

// FileStore: the files behind /v1/files, kept in one directory, each until it is removed or
// expires. Each is two files: the bytes, and a JSON description, written last, without which the
// bytes do not count. Names on disk are ids of ours; what clients call a file is only described.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "access/utc_time.h"
#include "api/owner_share.h"
#include "base/result.h"

namespace daybreak::api {

inline constexpr std::size_t kMaxFileNameBytes = 255;

struct FileStoreOptions {
  std::string directory;                                // is made if it is not there
  std::uint64_t max_bytes = std::uint64_t{256} << 20U;  // of all files together
  std::size_t max_files = 10'000;
  OwnerShare owner_share = {};  // of both, in what put() and grow() take
  const access::UtcClock* utc = &access::UtcClock::system();  // outlives the store
};

struct StoredFile {
  std::string id;  // "file-" and 32 hexadecimal digits
  std::uint64_t bytes = 0;
  std::int64_t created_at = 0;  // seconds since 1970
  std::int64_t expires_at = 0;  // the same; 0: never
  std::string filename;         // what the client calls it
  std::string purpose;
  std::string owner = {};  // access::owner_of() who made it

  // The object of OpenAI's API.
  [[nodiscard]] std::string json() const;
};

// Every function is thread-safe.
class FileStore {
 public:
  // Reads what an earlier server has left. `random` gives 64 unguessable bits a call.
  // Errors: kIo, kCorrupt naming the file.
  [[nodiscard]] static Result<std::unique_ptr<FileStore>> open(
      FileStoreOptions options, std::function<std::uint64_t()> random);

  // An id that no file has.
  [[nodiscard]] std::string new_id();
  // Where the bytes of such an id are, or will be. REQUIRES: an id of new_id() or list().
  [[nodiscard]] std::string path(std::string_view id) const;

  // Keeps an upload, for so many seconds (0: until it is removed). Errors: kResourceLimit naming
  // the bound, its owner's or that of all, kIo.
  Result<StoredFile> put(std::string_view bytes, std::string filename, std::string purpose,
                         std::string owner, std::int64_t expires_after = 0);
  // What a batch has written so far takes room as files do, until it is set to 0: before its files
  // are adopted, or nobody will.
  void set_growing(std::string_view id, const std::string& owner, std::uint64_t bytes);
  // Takes room for so many bytes more of that. Errors: kResourceLimit as put(); as before then.
  Status grow(std::string_view id, const std::string& owner, std::uint64_t bytes);

  // Takes in bytes already written to path(id), for so long. Errors: kIo.
  Result<StoredFile> adopt(const std::string& id, std::string filename, std::string purpose,
                           std::string owner, std::int64_t expires_after = 0);

  // Errors of these: kNotFound (also where it is another owner's, or has expired), kIo.
  [[nodiscard]] Result<StoredFile> find(std::string_view owner, std::string_view id) const;
  [[nodiscard]] Result<std::string> content(std::string_view owner, std::string_view id) const;
  Status remove(std::string_view owner, std::string_view id);

  // All of an owner that have not expired, newest first.
  [[nodiscard]] std::vector<StoredFile> list(std::string_view owner) const;
  // Removes bytes without description, but for the ids that `wanted` is true for.
  void remove_orphans(const std::function<bool(std::string_view id)>& wanted) const;
  // Removes the files that have expired, but for the ids that `wanted` is true for: until then they
  // are found no more and still take room. Tries all; returns the first failure. Errors: kIo.
  Status remove_expired(const std::function<bool(std::string_view id)>& wanted);

 private:
  FileStore(FileStoreOptions options, std::function<std::uint64_t()> random)
      : options_(std::move(options)), random_(std::move(random)) {}
  struct Held {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
  };
  struct Growing {
    std::string owner;
    std::uint64_t bytes = 0;
  };
  Status load();
  [[nodiscard]] std::int64_t now_seconds() const;
  [[nodiscard]] bool expired(const StoredFile& file) const;
  Status remove_locked(const StoredFile& file);
  Status describe(const StoredFile& file);
  [[nodiscard]] Status check_room(const std::string& owner, Held more) const;
  void hold(const std::string& owner, Held more);
  void release(const std::string& owner, Held less);
  std::string new_id_locked();

  const FileStoreOptions options_;
  const std::function<std::uint64_t()> random_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, StoredFile, std::less<>> files_;
  std::map<std::string, Growing, std::less<>> growing_;  // by id
  Held all_;                                             // of both
  std::map<std::string, Held, std::less<>> owners_;      // the same by owner; nothing: no entry
};

}  // namespace daybreak::api
