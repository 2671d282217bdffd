// SPDX-License-Identifier: Apache-2.0
// Time to draw one token from a row as wide as K3's vocabulary.

#include <benchmark/benchmark.h>

#include <vector>

#include "base/rng.h"
#include "engine/mask.h"
#include "engine/sampler.h"

namespace daybreak::engine {
namespace {

constexpr std::size_t kVocab = 163'840;

void draw(benchmark::State& state, const SamplingParams& params) {
  Rng rng(1);
  std::vector<float> row(kVocab);
  for (float& logit : row) {
    logit = rng.uniform() * 20 - 10;
  }
  row[777] = 16;
  GenerateRequest request;
  request.prompt = {1};
  request.sampling = params;
  Sampler sampler(request);
  SamplerScratch scratch;
  std::vector<float> copy(kVocab);
  for (auto _ : state) {
    copy = row;
    benchmark::DoNotOptimize(sampler.next(copy, scratch));
  }
}

void greedy(benchmark::State& state) {
  SamplingParams params;
  params.temperature = 0;
  draw(state, params);
}
void plain(benchmark::State& state) { draw(state, {}); }
void top_p(benchmark::State& state) {
  SamplingParams params;
  params.top_p = 0.95F;
  draw(state, params);
}
void logprobs(benchmark::State& state) {
  SamplingParams params;
  params.logprobs = 20;
  draw(state, params);
}
// One id in `sparsity` is allowed, at random.
void mask(benchmark::State& state) {
  Rng rng(2);
  std::vector<std::uint32_t> mask(mask_words(kVocab));
  for (std::size_t id = 0; id < kVocab; ++id) {
    if (rng.below(static_cast<std::uint32_t>(state.range(0))) == 0) {
      mask[id / 32] |= std::uint32_t{1} << (id % 32);
    }
  }
  std::vector<float> row(kVocab, 1.0F);
  for (auto _ : state) {
    apply_mask(mask, row);
    benchmark::DoNotOptimize(row.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(mask)->Arg(1)->Arg(2)->Arg(10'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(greedy)->Unit(benchmark::kMicrosecond);
BENCHMARK(plain)->Unit(benchmark::kMicrosecond);
BENCHMARK(top_p)->Unit(benchmark::kMicrosecond);
BENCHMARK(logprobs)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace daybreak::engine
