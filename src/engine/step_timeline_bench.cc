// SPDX-License-Identifier: Apache-2.0
// What watching an engine costs it: one step of eight requests on the timeline, and the counting of
// a request's end.

#include <benchmark/benchmark.h>

#include "engine/stats.h"
#include "engine/step_timeline.h"

namespace daybreak::engine {
namespace {

void BM_TimelineStep(benchmark::State& state) {
  StepTimeline timeline(static_cast<std::size_t>(state.range(0)), Clock::steady());
  for (auto _ : state) {
    timeline.begin();
    for (std::uint32_t slot = 0; slot < 8; ++slot) {
      timeline.feed({.request = slot, .slot = slot, .tokens = 1});
    }
    for (std::size_t i = 0; i < kStepPhases; ++i) {
      timeline.end(static_cast<StepPhase>(i));
    }
    timeline.commit(8, 0);
  }
}
BENCHMARK(BM_TimelineStep)->ArgName("kept")->Arg(0)->Arg(256);

void BM_RequestEnd(benchmark::State& state) {
  Stats stats;
  const Clock::TimePoint now = Clock::steady().now();
  const RequestEnd end{.times = {.submitted = now,
                                 .started = now,
                                 .displaced = {},
                                 .first_token = now + std::chrono::seconds(3),
                                 .finished = now + std::chrono::seconds(30)},
                       .prompt_tokens = 1000,
                       .generated_tokens = 300};
  for (auto _ : state) {
    stats.observe_answered(end);
    benchmark::DoNotOptimize(stats);
  }
}
BENCHMARK(BM_RequestEnd);

}  // namespace
}  // namespace daybreak::engine
