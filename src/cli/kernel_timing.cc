// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_timing.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>

#include "base/aligned_buffer.h"
#include "base/thread_team.h"
#include "kernels/float_environment.h"
#include "kernels/kda.h"
#include "kernels/matmul.h"
#include "kernels/mla.h"

namespace daybreak::cli {
namespace {

namespace k = daybreak::kernels;

constexpr std::size_t kMemoryBytes = std::size_t{1} << 30;  // no cache holds it
constexpr std::size_t kBatchBytes = std::size_t{16} << 20;
constexpr std::size_t kCols = 3584;  // the latent width of the experts
constexpr std::size_t kBatchTokens = 64;
constexpr std::size_t kHeads = 96;
constexpr std::size_t kHeadSize = 128;
constexpr std::size_t kLatentWidth = 576;
constexpr std::size_t kLatentRank = 512;
constexpr int kRuns = 5;

struct Format {
  k::WeightFormat format;
  const char* name;
};
constexpr Format kFormats[] = {{k::WeightFormat::kF32, "f32"},
                               {k::WeightFormat::kF16, "f16"},
                               {k::WeightFormat::kBf16, "bf16"},
                               {k::WeightFormat::kF8E4M3, "f8_e4m3"},
                               {k::WeightFormat::kMxfp4, "mxfp4"}};

template <class F>
double best_seconds(F fn) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
  }
  return best;
}

KernelTiming timing(std::string kernel, std::string format, std::size_t tokens, std::size_t threads,
                    double bytes, double macs, double seconds) {
  return {.kernel = std::move(kernel),
          .format = std::move(format),
          .tokens = tokens,
          .threads = threads,
          .gb_s = bytes / seconds / 1e9,
          .gmac_s = macs / seconds / 1e9};
}

// Bytes that are ordinary numbers in every format.
void fill(std::span<std::byte> bytes, ThreadTeam& team) {
  team.for_ranges(bytes.size(), 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      bytes[i] = static_cast<std::byte>(0x30u | ((i * 2654435761u >> 13) & 0xfu));
    }
  });
}

KernelTiming time_matmul(const Format& format, std::span<const std::byte> memory, std::size_t bytes,
                         std::size_t tokens, ThreadTeam& team) {
  const std::size_t row_bytes = k::bytes_per_row(format.format, kCols);
  const std::size_t rows = bytes / row_bytes / k::kMatmulRowGrain * k::kMatmulRowGrain;
  const bool mxfp4 = format.format == k::WeightFormat::kMxfp4;
  AlignedBuffer<std::uint8_t> scales(mxfp4 ? rows * kCols / k::kMxGroup : 0);
  std::ranges::fill(scales.span(), std::uint8_t{121});
  const k::MatrixView w = {format.format, memory.data(), scales.data(), rows, kCols};
  AlignedBuffer<float> x(tokens * kCols);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 17) - 8.0f;
  }
  AlignedBuffer<float> y(tokens * rows);
  const double seconds = best_seconds([&] {
    team.for_ranges(rows, k::kMatmulRowGrain, [&](std::size_t begin, std::size_t end) {
      k::matmul(w, begin, end, x.data(), kCols, tokens, y.data(), rows);
    });
  });
  return timing("matmul", format.name, tokens, team.size(),
                static_cast<double>(rows * row_bytes + scales.size()),
                static_cast<double>(rows * kCols * tokens), seconds);
}

// One token through the heads of one layer.
KernelTiming time_kda(ThreadTeam& team) {
  const std::size_t state_size = kHeadSize * kHeadSize;
  AlignedBuffer<float> state(kHeads * state_size);
  AlignedBuffer<float> vectors(kHeadSize);
  AlignedBuffer<float> out(kHeads * kHeadSize);
  std::ranges::fill(vectors.span(), 0.05f);
  const k::KdaInputs in = {.q = vectors.data(),
                           .k = vectors.data(),
                           .decay = vectors.data(),
                           .v = vectors.data(),
                           .beta = 0.5f};
  const double seconds = best_seconds([&] {
    team.for_ranges(kHeads, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t h = begin; h < end; ++h) {
        k::kda_step(state.data() + h * state_size, in, kHeadSize, kHeadSize,
                    out.data() + h * kHeadSize);
      }
    });
  });
  // Read and write of each element; decay twice, read, write and output are its multiply-adds.
  return timing("kda_step", "f32", 1, team.size(),
                static_cast<double>(2 * sizeof(float) * state.size()),
                static_cast<double>(5 * state.size()), seconds);
}

// All heads of one token over one tile.
KernelTiming time_mla(ThreadTeam& team) {
  AlignedBuffer<float> rows(k::kMlaTile * kLatentWidth);
  AlignedBuffer<float> q(kHeads * kLatentWidth);
  AlignedBuffer<float> max(kHeads);
  AlignedBuffer<float> sum(kHeads);
  AlignedBuffer<float> values(kHeads * kLatentRank);
  std::vector<k::MlaAccumulator> acc;
  for (std::size_t h = 0; h < kHeads; ++h) {
    acc.push_back({&max[h], &sum[h], &values[h * kLatentRank]});
    k::mla_reset(acc.back(), kLatentRank);
  }
  std::ranges::fill(rows.span(), 0.1f);
  std::ranges::fill(q.span(), 0.1f);
  const double seconds = best_seconds([&] {
    team.for_ranges(kHeads, 4, [&](std::size_t begin, std::size_t end) {
      k::mla_tile({q.data() + begin * kLatentWidth, kLatentWidth, end - begin, 0.07f},
                  {rows.data(), kLatentWidth, kLatentWidth, kLatentRank, k::kMlaTile},
                  acc.data() + begin);
    });
  });
  return timing("mla_tile", "f32", 1, team.size(), static_cast<double>(sizeof(float) * rows.size()),
                static_cast<double>(kHeads * k::kMlaTile * (kLatentWidth + kLatentRank)), seconds);
}

}  // namespace

std::vector<KernelTiming> time_kernels(ThreadTeam& team,
                                       const std::function<void(const std::string&)>& progress) {
  k::set_float_environment();
  AlignedBuffer<std::byte> memory(kMemoryBytes);
  fill(memory.span(), team);
  std::vector<KernelTiming> timings;
  for (const Format& format : kFormats) {
    progress(std::string("matmul ") + format.name);
    timings.push_back(time_matmul(format, memory.span(), kMemoryBytes, 1, team));
    timings.push_back(time_matmul(format, memory.span(), kBatchBytes, kBatchTokens, team));
  }
  progress("kda_step");
  timings.push_back(time_kda(team));
  progress("mla_tile");
  timings.push_back(time_mla(team));
  return timings;
}

}  // namespace daybreak::cli
