// SPDX-License-Identifier: Apache-2.0
#pragma once

// ScriptedEngine: a Generator that answers from a script instead of a model. What lies above the
// engine is tested against it: exact ids, delays, failures and answers that never end. A script is
// not held to the request's constraint.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/generator.h"

namespace daybreak::engine {

// One answer. Tokens come one per Update, `delay_per_token` apart from when it starts, cut at
// max_tokens (kLength).
struct Script {
  std::vector<TokenId> ids;
  std::size_t length = 0;                     // tokens, for which `ids` begin again; 0: ids.size()
  FinishReason finish = FinishReason::kStop;  // when the ids are exhausted: kStop or kLength
  // Instead of `finish`: fail with this after the ids. kResourceLimit and kUnauthenticated
  // without ids are those of a request that waited and never started.
  std::optional<Error> error;
  bool displaced = false;  // with an error of a request that never started: it lost its place
  bool hang = false;       // instead of `finish`: say nothing more until cancelled or stopped
  std::chrono::microseconds delay_per_token{0};
  // Nothing is said while this is true: looked at every millisecond. Null: never.
  std::shared_ptr<const std::atomic<bool>> held = nullptr;
  // Reported with each token when the request asks for log-probabilities. An id of the prompt at
  // position p has rank p and p times this.
  float logprob = -0.5F;
  std::size_t cached_tokens = 0;  // reported of the prompt, at most all of it
};

struct ScriptedEngineOptions {
  std::size_t vocab_size = 1 << 20;
  std::size_t context_tokens = 1 << 20;
  std::size_t max_sequences = 8;  // answered at the same time, token by token in turn
  std::size_t max_queue = 64;     // submitted beyond that: kResourceLimit
  bool keep_requests = true;      // for requests(); they grow with every request
};

class ScriptedEngine final : public Generator {
 public:
  // `script` is asked once per accepted request, on the submitting thread.
  using ScriptFn = std::function<Script(const GenerateRequest&)>;
  explicit ScriptedEngine(ScriptFn script, ScriptedEngineOptions options = {});
  ~ScriptedEngine() override;

  Result<RequestId> submit(GenerateRequest request, UpdateFn on_update) override;
  void cancel(RequestId id) override { end_early(id, FinishReason::kCancelled); }
  void complete(RequestId id) override { end_early(id, FinishReason::kStop); }
  Stats stats() const override;
  std::size_t vocab_size() const override { return options_.vocab_size; }
  std::size_t context_tokens() const override { return options_.context_tokens; }
  std::size_t queue_capacity() const override {
    return options_.max_sequences + options_.max_queue;
  }
  void drain() override;
  std::size_t stop(std::chrono::milliseconds deadline) override;

  // Returns copies of every accepted request, in order; none without keep_requests. Thread-safe.
  [[nodiscard]] std::vector<GenerateRequest> requests() const;

 private:
  struct Answer;

  using TimePoint = std::chrono::steady_clock::time_point;

  void run();
  void end_early(RequestId id, FinishReason reason);
  // The three below are called with the mutex held.
  void schedule(Answer& answer, TimePoint when);
  void start_waiting();
  // Puts an answer that was advanced back in line, or lets the next one start in its place.
  void settle(Answer& answer);
  // Delivers what is due for one answer. Called unlocked, on the engine's thread.
  void advance(Answer& answer, std::optional<FinishReason> ends_early);
  static void rate_prompt(const Answer& answer);
  void finish(Answer& answer, FinishReason reason, const Error* error);

  const ScriptFn script_;
  const ScriptedEngineOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::map<std::uint64_t, std::unique_ptr<Answer>> answers_;  // by id, which is their order
  std::multimap<TimePoint, Answer*> due_;     // those that have something to say, by when
  std::map<std::uint64_t, Answer*> waiting_;  // beyond max_sequences
  std::vector<GenerateRequest> requests_;
  Stats stats_;
  std::uint64_t next_id_ = 1;
  bool draining_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace daybreak::engine
