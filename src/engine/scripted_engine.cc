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
  std::optional<std::multimap<TimePoint, Answer*>::iterator> place;  // in due_
  bool advancing = false;  // on the engine's thread, which holds no lock
  bool prompt_rated = false;
  std::optional<FinishReason> ends_early;  // by cancel() or complete()
  bool finished = false;

  [[nodiscard]] std::size_t length() const {
    return script.ids.empty() || script.length == 0 ? script.ids.size() : script.length;
  }
  // Nothing will happen until cancel() or stop().
  [[nodiscard]] bool silent() const {
    return script.hang && usage.completion_tokens == length() && !ends_early;
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
    return Error{Errc::kUnavailable, "the server is shutting down, no new requests"};
  }
  if (answers_.size() >= options_.max_sequences + options_.max_queue) {
    ++stats_.rejected;
    return Error{Errc::kResourceLimit,
                 fmt::format("the server is busy: {} requests wait already, as many as may; try "
                             "again later",
                             options_.max_queue)};
  }
  ++stats_.submitted;
  const RequestId id{next_id_++};
  answer->id = id;
  answer->times.submitted = SteadyClock::now();
  if (options_.keep_requests) {
    requests_.push_back(answer->request);
  }
  const auto number = static_cast<std::uint64_t>(id);
  waiting_.emplace(number, answer.get());
  answers_.emplace(number, std::move(answer));
  start_waiting();
  return id;
}

void ScriptedEngine::end_early(RequestId id, FinishReason reason) {
  const std::lock_guard lock(mutex_);
  if (const auto found = answers_.find(static_cast<std::uint64_t>(id)); found != answers_.end()) {
    if (!found->second->ends_early) {
      found->second->ends_early = reason;
      schedule(*found->second, TimePoint::min());
    }
  }
}

Stats ScriptedEngine::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.running = answers_.size() - waiting_.size();
  stats.queued = waiting_.size();
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
    for (const auto& [number, answer] : answers_) {
      answer->ends_early = FinishReason::kCancelled;
      schedule(*answer, TimePoint::min());
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

void ScriptedEngine::schedule(Answer& answer, TimePoint when) {
  if (answer.advancing) {
    return;  // settle() looks at what changed meanwhile
  }
  if (answer.place) {
    due_.erase(*answer.place);
  }
  answer.place = due_.emplace(when, &answer);
  if (answer.place == due_.begin()) {
    wake_.notify_one();
  }
}

void ScriptedEngine::start_waiting() {
  while (!waiting_.empty() && answers_.size() - waiting_.size() < options_.max_sequences) {
    Answer& answer = *waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    answer.due = SteadyClock::now() + answer.script.delay_per_token;
    if (!answer.ends_early && !answer.silent()) {
      schedule(answer, answer.due);
    }
  }
}

void ScriptedEngine::settle(Answer& answer) {
  answer.advancing = false;
  if (answer.finished) {
    const auto number = static_cast<std::uint64_t>(answer.id);
    waiting_.erase(number);
    answers_.erase(number);
    start_waiting();
  } else if (answer.ends_early) {
    schedule(answer, TimePoint::min());
  } else if (!answer.silent()) {
    // Not before those that are due already: answers without delay take turns.
    schedule(answer, std::max(answer.due, SteadyClock::now()));
  }
}

void ScriptedEngine::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (answers_.empty()) {
      idle_.notify_all();
      if (stopping_) {
        return;
      }
    }
    if (due_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const TimePoint when = due_.begin()->first;
    if (when > SteadyClock::now()) {
      wake_.wait_until(lock, when);
      continue;
    }
    // Its address stays valid while unlocked: only this thread removes answers.
    Answer& answer = *due_.begin()->second;
    due_.erase(due_.begin());
    answer.place.reset();
    const auto ends_early = answer.ends_early;
    if (!ends_early && answer.script.held != nullptr && *answer.script.held) {
      schedule(answer, SteadyClock::now() + std::chrono::milliseconds(1));
      continue;
    }
    answer.advancing = true;
    lock.unlock();
    advance(answer, ends_early);
    lock.lock();
    settle(answer);
  }
}

void ScriptedEngine::advance(Answer& answer, std::optional<FinishReason> ends_early) {
  const Script& script = answer.script;
  if (ends_early) {
    return finish(answer, *ends_early, nullptr);
  }
  const bool gave_up = script.error && (script.error->code == Errc::kResourceLimit ||
                                        script.error->code == Errc::kUnauthenticated);
  if (gave_up && script.ids.empty()) {
    if (script.displaced) {
      answer.times.displaced = SteadyClock::now();
    }
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
  if (answer.usage.completion_tokens < answer.length()) {
    GeneratedToken token{.id = script.ids[answer.usage.completion_tokens++ % script.ids.size()],
                         .top = {}};
    if (const auto& wanted = answer.request.sampling.logprobs; wanted.has_value()) {
      token.logprob = script.logprob;
      token.top.assign(std::min<std::size_t>(*wanted, 1), {token.id, script.logprob});
    }
    const bool cut = answer.usage.completion_tokens == answer.request.max_tokens &&
                     answer.usage.completion_tokens < answer.length();
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
  answer.on_update(
      {.tokens = {}, .prompt = rated, .finish = {}, .usage = answer.usage, .times = answer.times});
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
