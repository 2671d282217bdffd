// SPDX-License-Identifier: Apache-2.0
#include "engine/scripted_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/admission.h"

namespace daybreak::engine {

using SteadyClock = std::chrono::steady_clock;

struct ScriptedEngine::Answer {
  RequestId id{};
  Script script;
  GenerateRequest request;
  UpdateFn on_update;
  Usage usage;
  RequestTimes times;
  SteadyClock::time_point due;
  bool prompt_rated = false;
  bool cancelled = false;
  bool finished = false;

  // Nothing will happen until cancel() or stop().
  [[nodiscard]] bool silent() const {
    return script.hang && usage.completion_tokens == script.ids.size() && !cancelled;
  }
};

ScriptedEngine::ScriptedEngine(ScriptFn script, ScriptedEngineOptions options)
    : script_(std::move(script)), options_(options), thread_([this] { run(); }) {}

ScriptedEngine::~ScriptedEngine() { stop(std::chrono::milliseconds(0)); }

Result<RequestId> ScriptedEngine::submit(GenerateRequest request, UpdateFn on_update) {
  const auto refuse = [this](Error error) {
    const std::lock_guard lock(mutex_);
    ++stats_.rejected;
    return error;
  };
  if (Status status = check_admissible(request, {options_.vocab_size, options_.context_tokens});
      !status) {
    return refuse(std::move(status).error());
  }
  auto answer = std::make_unique<Answer>();
  answer->script = script_(request);
  answer->usage.prompt_tokens = request.prompt.size();
  answer->usage.cached_tokens = std::min(answer->script.cached_tokens, request.prompt.size());
  answer->request = std::move(request);
  answer->on_update = std::move(on_update);
  const std::lock_guard lock(mutex_);
  if (draining_) {
    ++stats_.rejected;
    return Error{Errc::kUnavailable, "engine: shutting down, no new requests"};
  }
  if (answers_.size() >= options_.max_sequences + options_.max_queue) {
    ++stats_.rejected;
    return Error{Errc::kResourceLimit,
                 fmt::format("engine: expected at most {} waiting requests, try again later",
                             options_.max_queue)};
  }
  ++stats_.submitted;
  const RequestId id{next_id_++};
  answer->id = id;
  answer->times.submitted = SteadyClock::now();
  answer->due = SteadyClock::now() + answer->script.delay_per_token;
  if (options_.keep_requests) {
    requests_.push_back(answer->request);
  }
  answers_.push_back(std::move(answer));
  wake_.notify_one();
  return id;
}

void ScriptedEngine::cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  for (const auto& answer : answers_) {
    if (answer->id == id) {
      answer->cancelled = true;
      wake_.notify_one();
    }
  }
}

Stats ScriptedEngine::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.running = std::min(answers_.size(), options_.max_sequences);
  stats.queued = answers_.size() - stats.running;
  stats.slots = options_.max_sequences;
  stats.block_positions = 1;
  stats.draining = draining_;
  return stats;
}

void ScriptedEngine::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

std::size_t ScriptedEngine::stop(std::chrono::milliseconds deadline) {
  std::size_t cut = 0;
  {
    std::unique_lock lock(mutex_);
    draining_ = true;
    idle_.wait_for(lock, deadline, [this] { return answers_.empty(); });
    cut = answers_.size();
    for (const auto& answer : answers_) {
      answer->cancelled = true;
    }
    stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
  return cut;
}

std::vector<GenerateRequest> ScriptedEngine::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedEngine::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    const SteadyClock::time_point now = SteadyClock::now();
    // Addresses stay valid while unlocked: only this thread removes answers.
    std::vector<Answer*> due;
    SteadyClock::time_point next = SteadyClock::time_point::max();
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      Answer& answer = *answers_[i];
      const bool runs = i < options_.max_sequences && !answer.silent();
      const bool held = answer.script.held != nullptr && *answer.script.held;
      if (answer.cancelled || (runs && !held && answer.due <= now)) {
        due.push_back(&answer);
      } else if (runs) {
        next = std::min(next, held ? now + std::chrono::milliseconds(1) : answer.due);
      }
    }
    for (Answer* answer : due) {
      const bool cancelled = answer->cancelled;
      lock.unlock();
      advance(*answer, cancelled);
      lock.lock();
    }
    std::erase_if(answers_, [](const auto& answer) { return answer->finished; });
    if (answers_.empty()) {
      idle_.notify_all();
      if (stopping_) {
        return;
      }
    }
    if (!due.empty()) {
      continue;
    }
    if (next == SteadyClock::time_point::max()) {
      wake_.wait(lock);
    } else {
      wake_.wait_until(lock, next);
    }
  }
}

void ScriptedEngine::advance(Answer& answer, bool cancelled) {
  const Script& script = answer.script;
  if (cancelled) {
    return finish(answer, FinishReason::kCancelled, nullptr);
  }
  if (script.error && script.error->code == Errc::kResourceLimit && script.ids.empty()) {
    return finish(answer, FinishReason::kError, &*script.error);
  }
  if (!answer.times.started) {
    answer.times.started = SteadyClock::now();
  }
  if (answer.request.prompt_logprobs.has_value() && !std::exchange(answer.prompt_rated, true)) {
    rate_prompt(answer);
  }
  if (answer.request.max_tokens == 0) {
    return finish(answer, FinishReason::kLength, nullptr);
  }
  if (answer.usage.completion_tokens < script.ids.size()) {
    GeneratedToken token{.id = script.ids[answer.usage.completion_tokens++], .top = {}};
    if (const auto& wanted = answer.request.sampling.logprobs; wanted.has_value()) {
      token.logprob = script.logprob;
      token.top.assign(std::min<std::size_t>(*wanted, 1), {token.id, script.logprob});
    }
    const bool cut = answer.usage.completion_tokens == answer.request.max_tokens &&
                     answer.usage.completion_tokens < script.ids.size();
    answer.due += script.delay_per_token;
    if (!answer.times.first_token) {
      answer.times.first_token = SteadyClock::now();
    }
    {
      const std::lock_guard lock(mutex_);
      ++stats_.generated_tokens;
    }
    answer.on_update(
        {.tokens = {&token, 1}, .finish = {}, .usage = answer.usage, .times = answer.times});
    if (cut) {
      finish(answer, FinishReason::kLength, nullptr);
    }
    return;
  }
  if (script.error.has_value()) {
    return finish(answer, FinishReason::kError, &*script.error);
  }
  finish(answer, script.finish, nullptr);
}

void ScriptedEngine::rate_prompt(const Answer& answer) {
  std::vector<PromptLogprob> rated;
  for (std::size_t position = 1; position < answer.request.prompt.size(); ++position) {
    PromptLogprob one{.id = answer.request.prompt[position],
                      .logprob = answer.script.logprob * static_cast<float>(position),
                      .rank = static_cast<std::uint32_t>(position),
                      .top = {}};
    if (*answer.request.prompt_logprobs > 0) {
      one.top = {{one.id, one.logprob}};
    }
    rated.push_back(std::move(one));
  }
  answer.on_update({.tokens = {}, .prompt = rated, .finish = {}, .usage = answer.usage});
}

void ScriptedEngine::finish(Answer& answer, FinishReason reason, const Error* error) {
  {
    const std::lock_guard lock(mutex_);
    ++ended(stats_, reason);
    answer.finished = true;
  }
  answer.times.finished = SteadyClock::now();
  answer.on_update({.tokens = {},
                    .finish = reason,
                    .error = error,
                    .usage = answer.usage,
                    .times = answer.times});
}

}  // namespace daybreak::engine
