// SPDX-License-Identifier: Apache-2.0
// What each request feeds to a step.
#include <algorithm>

#include "base/out_of_memory.h"
#include "cache/block_hash.h"
#include "engine/engine.h"
#include "engine/prompt_logprobs.h"
#include "engine/step_planner.h"

namespace daybreak::engine {
namespace {

// While somebody reads a prompt, one in so many of a step's ids may be a guess.
constexpr std::size_t kGuessShare = 4;

}  // namespace

std::vector<std::size_t> Engine::plan(std::vector<Job*>& ready) {
  const std::size_t guesses = guess(ready);
  std::vector<std::size_t> pending = may_feed(ready);
  for (std::size_t i = ready.size(); i > 0; --i) {
    if (pending[i - 1] == 0) {  // no row is left for it in this step
      pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i - 1));
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
  }
  std::vector<std::size_t> share = pending;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    share[i] = ready[i]->reading() ? pending[i] : 1;
  }
  share = plan_step(share, options_.step_tokens - guesses);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    share[i] = SlotTable::cut(*ready[i], ready[i]->reading() ? share[i] : pending[i]);
  }
  return share;
}

std::size_t Engine::guess(std::span<Job* const> ready) {
  if (options_.speculation.method == SpeculationMethod::kNone) {
    return 0;
  }
  const auto reading = static_cast<std::size_t>(std::ranges::count_if(ready, &Job::reading));
  const std::size_t free = options_.step_tokens - std::min(options_.step_tokens, ready.size());
  std::size_t budget = reading > 0 ? free / kGuessShare : free;
  std::size_t guesses = 0;
  for (Job* job : ready) {
    if (!job->reading()) {
      // Those who were admitted first guess first; over time everybody moves up.
      const std::size_t made = guess(*job, budget);
      guesses += made;
      budget -= made;
    }
  }
  return guesses;
}

std::size_t Engine::guess(Job& job, std::size_t budget) {
  const std::size_t to_come = job.request().max_tokens - job.generated();
  // Not past the end of a block, where the prefix cache may want the state.
  const std::size_t in_block = cache::kBlockTokens - job.position() % cache::kBlockTokens;
  const std::size_t room = job.reserved - job.position();
  const std::size_t most =
      std::min({options_.speculation.most, budget, to_come - 1, in_block - 1, room - 1});
  if (most == 0) {
    return 0;
  }
  const Status guessed = or_out_of_memory(Errc::kResourceLimit, "guesses", [&] {
    job.guess(options_.speculation, most);
    return ok();
  });
  // What guesses need is a lot, and most texts make none.
  const bool any = job.pending().size() > 1;
  if (!guessed || (any && !job.sequence().prepare_guesses())) {
    job.guess_nothing();
  }
  return job.pending().size() - 1;
}

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
  StepChunk chunk{.sequence = &job.sequence(),
                  .ids = job.pending().first(count),
                  .logits = {},
                  .guesses = job.guesses(count),
                  .adapter = job.request().adapter.get()};
  if (job.rates_pending()) {
    chunk.logits = rows.first(count * vocab_size_);
    rows = rows.subspan(chunk.logits.size());
  } else if (!job.reading() || count == job.pending().size()) {
    chunk.logits = job.logits(count);
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
