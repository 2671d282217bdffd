// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file mapped read-only into memory. Opening costs no reads; pages come in when touched and can
// be dropped by the system at any time, so a checkpoint larger than the RAM can be open.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace daybreak {

// Movable; unmaps when destroyed. Safe to read from many threads. If another process truncates the
// file, touching a page past its new end raises SIGBUS: writers must replace files by rename.
class MappedFile {
 public:
  // An empty file gives empty bytes().
  // Errors: kNotFound    no such file
  //         kPermission  not readable
  //         kIo          not a regular file, or the system refused; with errno's text
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Hints how the whole mapping will be read; never fails, a kernel may ignore it.
  enum class Access { kNormal, kSequential, kRandom };
  void advise(Access access) const;

  // Asks the kernel to read [offset, offset + length) ahead, without waiting. Clamped to the file.
  void will_need(std::size_t offset, std::size_t length) const;

 private:
  std::span<const std::byte> bytes_;
  std::filesystem::path path_;
};

// Returns the whole of a small file.
// Errors: as MappedFile::open; kTooLarge if it is longer than `max_bytes`.
[[nodiscard]] Result<std::string> read_small_file(const std::filesystem::path& path,
                                                  std::size_t max_bytes);

}  // namespace daybreak
