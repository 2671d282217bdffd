// SPDX-License-Identifier: Apache-2.0
#pragma once

// AlignedBuffer<T>: an owned, fixed-size, zero-filled array on a 64-byte boundary, for activations,
// states and caches. Large buffers ask for 2 MiB pages, which is worth about a tenth of the memory
// bandwidth of a long sequential read.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace daybreak {

inline constexpr std::size_t kBufferAlignment = 64;

namespace detail {

// Returns `bytes` zero bytes (rounded up to the alignment), to be released with std::free.
// Throws std::bad_alloc.
void* allocate_zeroed(std::size_t bytes);

struct FreeBytes {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

}  // namespace detail

// Movable, not copyable; a moved-from buffer is empty. Not thread-safe; the elements may be used
// from several threads as any array's may.
template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kBufferAlignment);

 public:
  AlignedBuffer() = default;

  // `size` elements, all bytes zero. Throws std::bad_alloc, which ends the process unless
  // or_out_of_memory() is around: a server's buffers after its start need that.
  explicit AlignedBuffer(std::size_t size) {
    if (size > std::numeric_limits<std::size_t>::max() / (2 * sizeof(T))) {
      throw std::bad_alloc();
    }
    if (size != 0) {
      data_.reset(static_cast<T*>(detail::allocate_zeroed(size * sizeof(T))));
      size_ = size;
    }
  }

  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::span<T> span() { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_.get(), size_}; }

  // REQUIRES: i < size().
  [[nodiscard]] T& operator[](std::size_t i) { return data_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  std::unique_ptr<T, detail::FreeBytes> data_;
  std::size_t size_ = 0;
};

}  // namespace daybreak
