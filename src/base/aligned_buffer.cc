// SPDX-License-Identifier: Apache-2.0
#include "base/aligned_buffer.h"

#include <sys/mman.h>

namespace daybreak::detail {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void* allocate_zeroed(std::size_t bytes) {
  const bool large = bytes >= kHugePage;
  const std::size_t alignment = large ? kHugePage : kBufferAlignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  if (large) {
    // Advice only: without huge pages the buffer is slower, not wrong.
    (void)madvise(memory, rounded, MADV_HUGEPAGE);
  }
  std::memset(memory, 0, rounded);
  return memory;
}

}  // namespace daybreak::detail
