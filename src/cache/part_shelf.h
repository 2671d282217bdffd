// SPDX-License-Identifier: Apache-2.0
#pragma once

// PartShelf: the directory of a DiskStore, of which it is the only user: the key of its names, its
// files, and how many bytes these have. A file goes in two moves: whoever drops it last dooms it,
// from any thread and at once; remove_doomed(), on a thread that may wait for the disk, removes it.
//
//   DIR/prefix-cache/lock                 held as long as a process uses the directory
//   DIR/prefix-cache/store                key and store id, if what is there shall outlive it
//   DIR/prefix-cache/HASH-NUMBER.block    see part_file.h; .checkpoint likewise, .new: unfinished
//
// Other files are never touched.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cache/block_hash.h"
#include "cache/part_file.h"

namespace daybreak::cache {

inline constexpr std::size_t kMaxParts = std::size_t{1} << 20;  // files of one store

// What becomes of parts when a process ends.
enum class Keep : std::uint8_t { kNothing, kParts };

class PartShelf {
 public:
  // A part that is whole. Doomed with its last reference, unless its shelf has closed.
  class File {
   public:
    File(std::shared_ptr<PartShelf> shelf, std::filesystem::path path, PartHeader header)
        : shelf_(std::move(shelf)), path_(std::move(path)), header_(std::move(header)) {}
    ~File() { shelf_->doom(path_, part_file_bytes(header_)); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] const PartHeader& header() const { return header_; }

   private:
    const std::shared_ptr<PartShelf> shelf_;
    const std::filesystem::path path_;
    const PartHeader header_;
  };
  using FilePtr = std::shared_ptr<const File>;

  // Makes the directory if need be. With Keep::kParts the key is the one of earlier processes if
  // what they left was kept for the same `id`; else all they left is removed.
  // Errors: kUnavailable (another process uses it), kPermission (others may enter it, or read the
  // key), kIo.
  [[nodiscard]] static Result<std::shared_ptr<PartShelf>> open(
      const std::filesystem::path& directory, Keep keep, const StoreId& id, Log* log);
  ~PartShelf();
  PartShelf(const PartShelf&) = delete;
  PartShelf& operator=(const PartShelf&) = delete;

  [[nodiscard]] const BlockHasher::Key& key() const { return key_; }
  [[nodiscard]] const StoreId& id() const { return id_; }

  // Returns what earlier processes left that is as it must be; removes the rest. The last argument
  // counts those that were damaged. To be called once, before new_path().
  [[nodiscard]] static std::vector<FilePtr> take_left(const std::shared_ptr<PartShelf>& shelf,
                                                      std::size_t& damaged);

  // Returns a path that no file has had.
  [[nodiscard]] std::filesystem::path new_path(Part part, const BlockHash& hash);

  // Bytes of files that are there, doomed or not, and of those that are reserved.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  void reserve(std::uint64_t bytes) { bytes_ += bytes; }
  void release(std::uint64_t bytes) { bytes_ -= bytes; }

  [[nodiscard]] bool any_doomed() const;
  void remove_doomed();
  // Waits until what has gone stays gone, whatever happens to the machine.
  void sync() const;

 private:
  struct Doomed {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
  };
  PartShelf(std::filesystem::path directory, const StoreId& id, Log* log)
      : directory_(std::move(directory)), id_(id), log_(log) {}
  Status lock();
  // Returns whether the key of an earlier process was taken over.
  Result<bool> take_key();
  Status make_key(Keep keep);
  void remove_parts();
  void doom(const std::filesystem::path& path, std::uint64_t bytes);
  template <class Visit>
  void visit_parts(const Visit& visit) const;

  const std::filesystem::path directory_;
  const StoreId id_;
  Log* const log_;  // may be null
  BlockHasher::Key key_{};
  int lock_ = -1;
  std::uint64_t next_number_ = 1;  // the writer's thread only
  std::atomic<std::uint64_t> bytes_{0};
  mutable std::mutex mutex_;
  std::vector<Doomed> doomed_;
};

}  // namespace daybreak::cache
