// SPDX-License-Identifier: Apache-2.0
#include "cli/int8_limit.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/thread_team.h"
#include "kernels/dispatch.h"
#include "kernels/target_region.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kSteps = 2'000'000;
constexpr std::size_t kChains = 8;
constexpr int kRuns = 6;

// Results go here, so that no loop can be removed.
std::atomic<std::uint64_t> g_sink{0};

// Each returns the multiply-adds it made.
double int8_portable() {
  std::array<std::int32_t, kChains> sums{};
  for (std::size_t i = 0; i < kSteps; ++i) {
    const auto byte = static_cast<std::int8_t>(i);
    for (std::int32_t& sum : sums) {
      sum ^= sum + byte * (sum & 0x7f);
    }
  }
  g_sink += static_cast<std::uint64_t>(sums[0]);
  return static_cast<double>(kSteps * kChains);
}

}  // namespace
}  // namespace daybreak::cli

#if defined(__x86_64__)
DAYBREAK_TARGET_BEGIN("avx2")
namespace daybreak::cli {
namespace {

double int8_avx2() {
  __m256i sums[kChains];
  for (__m256i& sum : sums) {
    sum = _mm256_set1_epi8(3);
  }
  const __m256i bytes = _mm256_set1_epi8(1);
  for (std::size_t i = 0; i < kSteps; ++i) {
    for (__m256i& sum : sums) {
      // The sum feeds the product, so that the compiler cannot take it out of the loop.
      sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(sum, bytes));
    }
  }
  __m256i total = sums[0];
  for (const __m256i sum : sums) {
    total = _mm256_xor_si256(total, sum);
  }
  g_sink += static_cast<std::uint64_t>(_mm256_extract_epi64(total, 0));
  return static_cast<double>(kSteps * kChains * 32);
}

}  // namespace
}  // namespace daybreak::cli
DAYBREAK_TARGET_END
#endif

namespace daybreak::cli {

double measure_int8_gmac_s(ThreadTeam& team) {
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::atomic<double> macs{0};
    const auto start = std::chrono::steady_clock::now();
    team.run([&](std::size_t /*worker*/, std::size_t /*workers*/) {
#if defined(__x86_64__)
      if (kernels::active().isa != "scalar") {
        macs.fetch_add(int8_avx2());
        return;
      }
#endif
      macs.fetch_add(int8_portable());
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, macs.load() / seconds.count() / 1e9);
  }
  return best;
}

}  // namespace daybreak::cli
