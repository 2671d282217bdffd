// SPDX-License-Identifier: Apache-2.0
// Matrix products per format and table: one token from memory (GB/s of weights), and several tokens
// (GMAC/s). Each case first checks one row against the scalar twin.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/matmul.h"

namespace daybreak::kernels {
namespace {

constexpr std::size_t kCols = 3584;

struct Weights {
  AlignedBuffer<std::byte> data;
  AlignedBuffer<std::uint8_t> scales;
  MatrixView view;

  Weights(WeightFormat format, std::size_t rows, std::size_t cols)
      : data(rows * bytes_per_row(format, cols)), scales(rows * cols / kMxGroup) {
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < data.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      // 0x30..0x3f in the top byte keeps every format finite and near one.
      data[i] = static_cast<std::byte>(format == WeightFormat::kMxfp4 ? state >> 24
                                                                      : 0x30 | (state >> 28));
    }
    for (std::uint8_t& s : scales.span()) {
      s = 121;
    }
    view = {format, data.data(), scales.data(), rows, cols};
  }

  [[nodiscard]] std::size_t bytes() const {
    return data.size() + (view.format == WeightFormat::kMxfp4 ? scales.size() : 0);
  }
};

const char* name_of(WeightFormat format) {
  switch (format) {
    case WeightFormat::kF32:
      return "f32";
    case WeightFormat::kF16:
      return "f16";
    case WeightFormat::kBf16:
      return "bf16";
    case WeightFormat::kF8E4M3:
      return "f8_e4m3";
    case WeightFormat::kMxfp4:
      return "mxfp4";
  }
  return "?";
}

void run(benchmark::State& state, const KernelTable* table, WeightFormat format, std::size_t bytes,
         std::size_t tokens) {
  const std::size_t rows = bytes / bytes_per_row(format, kCols) / 8 * 8;
  const Weights w(format, rows, kCols);
  AlignedBuffer<float> x(tokens * kCols);
  AlignedBuffer<float> y(tokens * rows);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 17) - 8.0f;
  }
  float expected = 0.0f;
  available().front()->matmul(w.view, 0, 1, x.data(), kCols, 1, &expected, rows);
  table->matmul(w.view, 0, rows, x.data(), kCols, tokens, y.data(), rows);
  if (y[0] != expected) {
    state.SkipWithError("differs from the scalar twin");
    return;
  }
  for (auto _ : state) {
    table->matmul(w.view, 0, rows, x.data(), kCols, tokens, y.data(), rows);
    benchmark::ClobberMemory();
  }
  const auto iterations = static_cast<double>(state.iterations());
  state.counters["GB/s"] = benchmark::Counter(iterations * static_cast<double>(w.bytes()) * 1e-9,
                                              benchmark::Counter::kIsRate);
  state.counters["GMAC/s"] = benchmark::Counter(
      iterations * static_cast<double>(rows * kCols * tokens) * 1e-9, benchmark::Counter::kIsRate);
}

const bool kRegistered = [] {
  for (const KernelTable* table : available()) {
    for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kF16, WeightFormat::kBf16,
                                      WeightFormat::kF8E4M3, WeightFormat::kMxfp4}) {
      const std::string base = std::string(table->isa) + "/" + name_of(format);
      const bool slow = table->isa == "scalar";
      const std::size_t memory = std::size_t{slow ? 4u : 256u} << 20;
      benchmark::RegisterBenchmark((base + "/memory/1").c_str(), run, table, format, memory, 1);
      benchmark::RegisterBenchmark((base + "/cache/1").c_str(), run, table, format, 512 << 10, 1);
      for (const std::size_t tokens : {2U, 4U, 8U, 64U}) {  // guesses and small batches, prompts
        benchmark::RegisterBenchmark((base + "/memory/" + std::to_string(tokens)).c_str(), run,
                                     table, format, (slow ? 1 : 8) << 20, tokens);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace daybreak::kernels
