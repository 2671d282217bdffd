// SPDX-License-Identifier: Apache-2.0
#pragma once

// GrammarService: compiles grammars in the background and keeps them. Requests for the same rules
// share one compilation and one grammar; the cache is bounded by bytes, and the least recently used
// grammar leaves first (who still answers with it keeps it alive).

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "grammar/grammar.h"
#include "grammar/message_rules.h"

namespace daybreak::grammar {

inline constexpr std::size_t kMaxGrammarThreads = 16;

struct GrammarServiceOptions {
  std::size_t threads = 1;         // 1 to kMaxGrammarThreads
  std::size_t max_waiting = 1024;  // requests waiting for a grammar; one more is refused
  std::size_t cache_bytes = std::size_t{64} << 20;
  CompileLimits limits = {};
};

struct GrammarServiceStats {
  static constexpr std::array<double, 12> kBoundsSeconds = {
      0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0};
  std::size_t waiting = 0;  // requests, now
  std::size_t cached = 0;   // grammars, now
  std::size_t cached_bytes = 0;
  std::uint64_t hits = 0;    // requests answered from the cache
  std::uint64_t joins = 0;   // requests that took the result of a compilation under way
  std::uint64_t misses = 0;  // requests that started a compilation
  std::uint64_t failures = 0;
  std::uint64_t evictions = 0;
  // Compilations by duration: counts[i] those of at most kBoundsSeconds[i], the last one the rest.
  std::array<std::uint64_t, kBoundsSeconds.size() + 1> compile_counts{};
  double compile_seconds = 0.0;
};

// Thread-safe.
class GrammarService {
 public:
  using Outcome = Result<std::shared_ptr<const Grammar>>;
  // Called once, on a thread of the service or the caller's own. Must not block, and must not call
  // stop().
  using DoneFn = std::function<void(const Outcome&)>;
  // compile(), or what stands for it in a test. Called by several threads.
  using CompileFn =
      std::function<Outcome(const MessageRules&, const MessageMarkers&, const CompileLimits&)>;
  enum class Ticket : std::uint64_t {};  // one request; never reused

  // Errors: kInvalidArgument naming an option out of its range.
  [[nodiscard]] static Result<std::unique_ptr<GrammarService>> start(
      const MessageMarkers& markers, const GrammarServiceOptions& options = {},
      CompileFn compile = nullptr);
  ~GrammarService();
  GrammarService(const GrammarService&) = delete;
  GrammarService& operator=(const GrammarService&) = delete;

  // Asks for the grammar of `rules`. A cached one is given to `done` before this returns.
  // Errors, without a call of `done`: kResourceLimit (too many wait), kUnavailable (stopped).
  // `done` gets compile()'s errors; they are not kept. kUnavailable if stop() came first.
  [[nodiscard]] Result<Ticket> compile(MessageRules rules, DoneFn done);

  // Takes a request back: its `done` is not called, unless that has begun already. A compilation
  // that nobody waits for any more and that has not begun is dropped. Ignores unknown tickets.
  void cancel(Ticket ticket);

  [[nodiscard]] GrammarServiceStats stats() const;

  // Refuses new requests, fails the waiting ones, and joins the threads: a compilation under way is
  // finished first, which its step budget bounds. Idempotent.
  void stop();

 private:
  struct Waiter {
    std::uint64_t ticket;
    DoneFn done;
  };
  struct Task {
    std::string key;
    MessageRules rules;
    std::vector<Waiter> waiters;
    bool begun = false;
  };
  struct Cached {
    std::string key;
    std::shared_ptr<const Grammar> grammar;
  };

  GrammarService(const MessageMarkers& markers, const GrammarServiceOptions& options,
                 CompileFn compile);
  void run();
  // All below REQUIRE the lock.
  std::shared_ptr<const Grammar> find(const std::string& key);
  void keep(const std::string& key, const std::shared_ptr<const Grammar>& grammar);
  // Fixed once a grammar is compiled.
  [[nodiscard]] static std::size_t bytes_of(const Cached& entry);
  void count(double seconds);
  std::vector<Waiter> take_waiters(Task& task);

  const MessageMarkers markers_;
  const GrammarServiceOptions options_;
  const CompileFn compile_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Task>> queue_;
  std::unordered_map<std::string, std::shared_ptr<Task>> tasks_;      // by key: queued or under way
  std::unordered_map<std::uint64_t, std::shared_ptr<Task>> tickets_;  // of waiters
  std::list<Cached> cache_;                                           // latest used first
  std::size_t cached_bytes_ = 0;                                      // of cache_
  std::unordered_map<std::string_view, std::list<Cached>::iterator> by_key_;
  GrammarServiceStats stats_;
  std::uint64_t next_ticket_ = 1;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace daybreak::grammar
