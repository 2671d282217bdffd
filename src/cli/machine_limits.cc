// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_limits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/aligned_buffer.h"
#include "base/thread_team.h"
#include "kernels/dispatch.h"
#include "kernels/target_region.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 30;
constexpr std::size_t kFmaSteps = 4'000'000;  // some 10 ms
constexpr int kRuns = 6;

// Results go here, so that no loop can be removed.
std::atomic<std::uint64_t> g_sink{0};

// Read from memory, so that no chain can be computed ahead.
volatile float g_factor = 0.5f;

// Independent chains: enough for latency 4 on two ports.
constexpr std::size_t kChains = 12;

// Returns the multiply-adds it made.
double fma_scalar() {
  constexpr std::size_t kSteps = kFmaSteps / 8;
  std::array<float, kChains> acc{};
  const float half = g_factor;
  for (std::size_t i = 0; i < kSteps; ++i) {
    for (float& a : acc) {
      a = std::fma(a, half, half);
    }
  }
  float sum = 0;
  for (const float a : acc) {
    sum += a;
  }
  g_sink += static_cast<std::uint64_t>(sum);
  return static_cast<double>(kSteps * kChains);
}

}  // namespace
}  // namespace daybreak::cli

#if defined(__x86_64__)
DAYBREAK_TARGET_BEGIN("avx2,fma")
namespace daybreak::cli {
namespace {

double fma_avx2() {
  __m256 acc[kChains];
  for (__m256& a : acc) {
    a = _mm256_set1_ps(1.0f);
  }
  const __m256 half = _mm256_set1_ps(g_factor);
  for (std::size_t i = 0; i < kFmaSteps; ++i) {
    for (__m256& a : acc) {
      a = _mm256_fmadd_ps(a, half, half);
    }
  }
  __m256 sum = acc[0];
  for (const __m256 a : acc) {
    sum = _mm256_add_ps(sum, a);
  }
  g_sink += static_cast<std::uint64_t>(_mm256_cvtss_f32(sum));
  return static_cast<double>(kFmaSteps * kChains * 8);
}

}  // namespace
}  // namespace daybreak::cli
DAYBREAK_TARGET_END

DAYBREAK_TARGET_BEGIN("avx512f")
namespace daybreak::cli {
namespace {

double fma_avx512() {
  __m512 acc[kChains];
  for (__m512& a : acc) {
    a = _mm512_set1_ps(1.0f);
  }
  const __m512 half = _mm512_set1_ps(g_factor);
  for (std::size_t i = 0; i < kFmaSteps; ++i) {
    for (__m512& a : acc) {
      a = _mm512_fmadd_ps(a, half, half);
    }
  }
  __m512 sum = acc[0];
  for (const __m512 a : acc) {
    sum = _mm512_add_ps(sum, a);
  }
  g_sink += static_cast<std::uint64_t>(_mm512_cvtss_f32(sum));
  return static_cast<double>(kFmaSteps * kChains * 16);
}

}  // namespace
}  // namespace daybreak::cli
DAYBREAK_TARGET_END
#endif

namespace daybreak::cli {
namespace {

double fma_of_active_table() {
  [[maybe_unused]] const std::string_view isa = kernels::active().isa;
#if defined(__x86_64__)
  if (isa == "avx512") {
    return fma_avx512();
  }
  if (isa == "avx2") {
    return fma_avx2();
  }
#endif
  return fma_scalar();
}

// Reads eight streams at once: one stream alone leaves half of the bandwidth unused, because a
// hardware prefetcher stops at each 4 KiB page.
void read_words(const std::uint64_t* words, std::size_t count) {
  constexpr std::size_t kStreams = 8;
  constexpr std::size_t kLine = 8;  // words of one cache line
  const std::size_t length = count / kStreams / kLine * kLine;
  std::array<std::uint64_t, kLine> sum{};
  for (std::size_t i = 0; i < length; i += kLine) {
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      const std::uint64_t* line = words + stream * length + i;
      for (std::size_t j = 0; j < kLine; ++j) {
        sum[j] += line[j];
      }
    }
  }
  for (const std::uint64_t s : sum) {
    g_sink += s;
  }
}

// Returns the smallest of several timings of fn, in seconds.
template <class F>
double best_seconds(F fn) {
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = run == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

}  // namespace

MachineLimits measure_machine_limits(ThreadTeam& team) {
  // Written once: untouched pages would all be the one zero page.
  AlignedBuffer<std::uint64_t> memory(kReadBytes / sizeof(std::uint64_t));
  team.for_ranges(memory.size(), 512, [&](std::size_t begin, std::size_t end) {
    std::fill(memory.data() + begin, memory.data() + end, std::uint64_t{1});
  });
  const double read = best_seconds([&] {
    team.for_ranges(memory.size(), 512, [&](std::size_t begin, std::size_t end) {
      read_words(memory.data() + begin, end - begin);
    });
  });
  double macs = 0;
  const double fma = best_seconds([&] {
    std::atomic<double> total{0};
    team.run([&](std::size_t /*worker*/, std::size_t /*workers*/) {
      total.fetch_add(fma_of_active_table());
    });
    macs = total;
  });
  return {.read_gb_s = static_cast<double>(kReadBytes) / read / 1e9,
          .fma_gmac_s = macs / fma / 1e9};
}

}  // namespace daybreak::cli
