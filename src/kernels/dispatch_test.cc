// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>

#include "kernels/elementary.h"
#include "kernels/float_environment.h"
#include "kernels/kernel_testing.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace daybreak::kernels {
namespace {

TEST(Dispatch, ScalarIsAlwaysThereAndFirst) {
  ASSERT_FALSE(available().empty());
  EXPECT_EQ(available().front()->isa, "scalar");
  EXPECT_EQ(active().isa, available().back()->isa);
}

TEST(Dispatch, UseMakesTheNamedTableActive) {
  for (const KernelTable* table : available()) {
    ASSERT_TRUE(use(table->isa));
    EXPECT_EQ(&active(), table);
  }
}

TEST(Dispatch, AnUnknownNameListsWhatThereIsAndChangesNothing) {
  const KernelTable& before = active();
  for (const char* name : {"", "AVX2", "sse9"}) {
    const Status status = use(name);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Errc::kInvalidArgument);
    EXPECT_NE(status.error().message.find("scalar"), std::string::npos) << status.error().message;
    EXPECT_NE(status.error().message.find("'" + std::string(name) + "'"), std::string::npos);
  }
  EXPECT_EQ(&active(), &before);
}

// A field added to the struct and forgotten in a table would be null.
TEST(Dispatch, NoFieldOfAnyTableIsNull) {
  constexpr std::size_t kPointers =
      (sizeof(KernelTable) - sizeof(std::string_view)) / sizeof(void*);
  for (const KernelTable* table : available()) {
    void* fields[kPointers];
    std::memcpy(fields, reinterpret_cast<const std::byte*>(table) + sizeof(std::string_view),
                sizeof fields);
    for (std::size_t i = 0; i < kPointers; ++i) {
      EXPECT_NE(fields[i], nullptr) << table->isa << " field " << i;
    }
  }
}

TEST(WeightFormats, ConversionsAreExactForEveryBitPattern) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float bf16 = bf16_to_f32(half);
    if (!std::isnan(bf16)) {
      ASSERT_EQ(f32_to_bf16(bf16), half);
    }
    const std::uint32_t exponent = (bits >> 10) & 31u;
    const double mantissa = (bits & 1023u) / 1024.0;
    double expected = exponent == 0 ? std::ldexp(mantissa, -14)
                                    : std::ldexp(1 + mantissa, static_cast<int>(exponent) - 15);
    expected = bits >> 15 != 0 ? -expected : expected;
    if (exponent == 31) {
      ASSERT_EQ(std::isnan(f16_to_f32(half)), mantissa != 0);
      ASSERT_EQ(std::isinf(f16_to_f32(half)), mantissa == 0);
    } else {
      ASSERT_EQ(double{f16_to_f32(half)}, expected) << bits;
    }
  }
  EXPECT_EQ(f8_e4m3_to_f32(0x7e), 448.0f);
  EXPECT_EQ(f8_e4m3_to_f32(0x01), 0x1p-9f);
  EXPECT_EQ(f8_e4m3_to_f32(0x08), 0x1p-6f);
  EXPECT_EQ(f8_e4m3_to_f32(0xb8), -1.0f);
  EXPECT_TRUE(std::isnan(f8_e4m3_to_f32(0x7f)) && std::isnan(f8_e4m3_to_f32(0xff)));
  for (int e = 0; e < 255; ++e) {
    ASSERT_EQ(double{e8m0_to_f32(static_cast<std::uint8_t>(e))}, std::ldexp(1.0, e - 127));
  }
  EXPECT_TRUE(std::isnan(e8m0_to_f32(255)));
}

TEST(WeightFormats, Bf16RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(f32_to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // tie: to even
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7f800001u)))));
}

#if defined(__x86_64__)
// A library loaded into the process may have set flush-to-zero; results must not show it.
TEST(FloatEnvironment, UndoesFlushToZeroAndRoundingModes) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040u | 0x6000u);  // FTZ, DAZ, toward zero
  volatile float tiny = 0x1p-126f;
  const float flushed = tiny * 0.5f;
  set_float_environment();
  const float kept = tiny * 0.5f;
  volatile float third = 1.0f;
  const float rounded = third / 3.0f;
  EXPECT_EQ(_mm_getcsr() & 0xffc0u, 0x1f80u);
  _mm_setcsr(before);
  EXPECT_EQ(flushed, 0.0f);
  EXPECT_EQ(kept, 0x1p-127f);
  EXPECT_EQ(rounded, std::bit_cast<float>(0x3eaaaaabu));
}
#endif

}  // namespace
}  // namespace daybreak::kernels
