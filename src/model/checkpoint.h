// SPDX-License-Identifier: Apache-2.0
#pragma once

// A checkpoint directory: one model.safetensors, or the shards named by
// model.safetensors.index.json. Files are memory-mapped, so opening reads only the headers and a
// tensor's pages come in when first touched.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/dtype.h"

namespace daybreak::model {

// One tensor inside a mapped file: bytes are row-major, little-endian, and valid while the
// Checkpoint lives.
struct TensorView {
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;
};

// Bytes read so far of all bytes, and the shard being read. Returns false to stop.
struct ReadProgress {
  std::uint64_t done_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::size_t shard = 0;  // from 0
  std::size_t shards = 0;
  std::string_view file;  // name of the shard, without its directory
};
using ReadCallback = std::function<bool(const ReadProgress&)>;

// Const after open() and safe to share between threads. If another process truncates a shard while
// it is mapped, reading past the new end is SIGBUS: like every mapping reader we require that files
// are replaced by rename, never rewritten in place.
class Checkpoint {
 public:
  // Opens every shard and checks every header. Errors name the file and the tensor:
  //   kNotFound  no checkpoint in `dir`, or a shard of the index is missing
  //   kCorrupt   a header or the index breaks the format, or they disagree
  //   kTooLarge  a header or the index exceeds its bound
  //   kIo        the operating system refused
  [[nodiscard]] static Result<Checkpoint> open(const std::filesystem::path& dir);

  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  [[nodiscard]] bool contains(std::string_view name) const;

  // Errors: kNotFound  no such tensor.
  [[nodiscard]] Result<TensorView> tensor(std::string_view name) const;

  // Returns the tensor if its shape is `shape` and its dtype one of `dtypes`.
  // Errors: kNotFound  no such tensor
  //         kCorrupt   another shape or dtype; the message has file, tensor, expected and found
  [[nodiscard]] Result<TensorView> tensor(std::string_view name, std::span<const DType> dtypes,
                                          std::span<const std::uint64_t> shape) const;
  [[nodiscard]] Result<TensorView> tensor(std::string_view name,
                                          std::initializer_list<DType> dtypes,
                                          std::initializer_list<std::uint64_t> shape) const {
    return tensor(name, std::span(dtypes.begin(), dtypes.size()),
                  std::span(shape.begin(), shape.size()));
  }

  // Returns the file that holds `name`, without its directory, or "" if there is no such tensor.
  [[nodiscard]] std::string_view file_of(std::string_view name) const;

  // Returns every tensor's name in ascending byte order, valid while the Checkpoint lives.
  [[nodiscard]] std::vector<std::string_view> names() const;

  [[nodiscard]] std::size_t tensor_count() const;
  [[nodiscard]] std::size_t shard_count() const;
  [[nodiscard]] std::string_view shard_name(std::size_t shard) const;
  [[nodiscard]] std::uint64_t shard_bytes(std::size_t shard) const;  // whole file
  [[nodiscard]] std::uint64_t data_bytes() const;                    // sum of all tensors
  [[nodiscard]] std::uint64_t file_bytes() const;                    // sum of all files
  [[nodiscard]] const std::filesystem::path& directory() const;

  // Touches every page of every shard in file order, so that later reads come from memory.
  // Errors: kCancelled  the callback returned false.
  [[nodiscard]] Status read_through(const ReadCallback& progress) const;

  // Checks what open() leaves out because it would read everything or refuse harmless files: no
  // holes between tensors, no trailing bytes, the index's total_size, and no MXFP4 scale byte 255
  // (NaN). Every page is read.
  // Errors: kCorrupt    naming file, tensor and, for a scale, row and group
  //         kCancelled  the callback returned false
  [[nodiscard]] Status verify(const ReadCallback& progress) const;

  struct Impl;

 private:
  explicit Checkpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::model
