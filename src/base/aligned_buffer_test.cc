// SPDX-License-Identifier: Apache-2.0
#include "base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace daybreak {
namespace {

TEST(AlignedBuffer, IsAlignedAndZeroAtEverySize) {
  for (const std::size_t size :
       {1u, 15u, 16u, 17u, 1000u, (2u << 20) / 4 - 1, (2u << 20) / 4 + 1}) {
    const AlignedBuffer<float> buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kBufferAlignment, 0u);
    EXPECT_TRUE(std::ranges::all_of(buffer.span(), [](float x) { return x == 0.0f; }));
  }
}

TEST(AlignedBuffer, EmptyHasNoMemory) {
  const AlignedBuffer<float> none;
  const AlignedBuffer<float> zero(0);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(zero.data(), nullptr);
  EXPECT_TRUE(zero.span().empty());
}

TEST(AlignedBuffer, MovingLeavesTheSourceEmpty) {
  AlignedBuffer<int> a(3);
  a[2] = 7;
  AlignedBuffer<int> b = std::move(a);
  EXPECT_EQ(b[2], 7);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(a.data(), nullptr);
  a = std::move(b);
  EXPECT_EQ(a.span()[2], 7);
  EXPECT_EQ(b.size(), 0u);  // NOLINT(bugprone-use-after-move)
}

TEST(AlignedBuffer, ASizeThatCannotBeHeldThrows) {
  EXPECT_THROW(AlignedBuffer<float>(std::numeric_limits<std::size_t>::max() / 4), std::bad_alloc);
}

}  // namespace
}  // namespace daybreak
