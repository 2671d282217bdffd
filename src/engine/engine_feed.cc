// SPDX-License-Identifier: Apache-2.0
// What each request feeds to a step.
#include "engine/engine.h"
#include "engine/prompt_logprobs.h"

namespace daybreak::engine {

std::vector<std::size_t> Engine::may_feed(std::span<Job* const> ready) const {
  std::vector<std::size_t> wanted;
  for (const Job* job : ready) {
    wanted.push_back(job->rates_pending() ? job->pending().size() : 0);
  }
  std::vector<std::size_t> counts = share_rows(wanted, options_.prompt_rows);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (wanted[i] == 0) {
      counts[i] = ready[i]->pending().size();
    }
  }
  return counts;
}

StepChunk Engine::chunk_of(Job& job, std::size_t count, std::span<float>& rows) {
  StepChunk chunk{.sequence = &job.sequence(), .ids = job.pending().first(count), .logits = {}};
  if (job.rates_pending()) {
    chunk.logits = rows.first(count * vocab_size_);
    rows = rows.subspan(chunk.logits.size());
  } else if (count == job.pending().size()) {
    chunk.logits = job.logits();
  }
  return chunk;
}

void Engine::record_feed(const Job& job, const StepChunk& chunk) {
  timeline_.feed({.request = static_cast<std::uint64_t>(job.id()),
                  .slot = static_cast<std::uint32_t>(job.slot()),
                  .tokens = static_cast<std::uint32_t>(chunk.ids.size()),
                  .prefill = job.reading()});
}

}  // namespace daybreak::engine
