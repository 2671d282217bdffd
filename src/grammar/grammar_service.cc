// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "grammar/rules_key.h"

namespace daybreak::grammar {
namespace {

Error stopped() { return {Errc::kUnavailable, "grammars: shutting down, no new requests"}; }

}  // namespace

Result<std::unique_ptr<GrammarService>> GrammarService::start(const MessageMarkers& markers,
                                                              const GrammarServiceOptions& options,
                                                              CompileFn compile) {
  if (options.threads < 1 || options.threads > kMaxGrammarThreads) {
    return Error{Errc::kInvalidArgument, "grammar_threads: expected 1 to " +
                                             std::to_string(kMaxGrammarThreads) + ", found " +
                                             std::to_string(options.threads)};
  }
  if (!compile) {
    compile = [](const MessageRules& rules, const MessageMarkers& ids,
                 const CompileLimits& limits) { return grammar::compile(rules, ids, limits); };
  }
  return std::unique_ptr<GrammarService>(
      new GrammarService(markers, options, std::move(compile)));  // NOLINT: private constructor
}

GrammarService::GrammarService(const MessageMarkers& markers, const GrammarServiceOptions& options,
                               CompileFn compile)
    : markers_(markers), options_(options), compile_(std::move(compile)) {
  for (std::size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] { run(); });
  }
}

GrammarService::~GrammarService() { stop(); }

Result<GrammarService::Ticket> GrammarService::compile(MessageRules rules, DoneFn done) {
  std::string key = rules_key(rules);
  std::unique_lock lock(mutex_);
  if (stopping_) {
    return stopped();
  }
  const std::uint64_t ticket = next_ticket_++;
  if (std::shared_ptr<const Grammar> grammar = find(key)) {
    ++stats_.hits;
    lock.unlock();
    done(grammar);
    return Ticket{ticket};
  }
  if (tickets_.size() >= options_.max_waiting) {
    return Error{Errc::kResourceLimit, "grammars: expected at most " +
                                           std::to_string(options_.max_waiting) +
                                           " requests waiting for one, try again later"};
  }
  std::shared_ptr<Task>& task = tasks_[key];
  if (task == nullptr) {
    ++stats_.misses;
    task = std::make_shared<Task>(
        Task{.key = std::move(key), .rules = std::move(rules), .waiters = {}});
    queue_.push_back(task);
    wake_.notify_one();
  } else {
    ++stats_.joins;
  }
  task->waiters.push_back({ticket, std::move(done)});
  tickets_.emplace(ticket, task);
  return Ticket{ticket};
}

void GrammarService::cancel(Ticket ticket) {
  DoneFn dropped;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = tickets_.find(static_cast<std::uint64_t>(ticket));
  if (found == tickets_.end()) {
    return;
  }
  const std::shared_ptr<Task> task = found->second;
  tickets_.erase(found);
  const auto waiter =
      std::ranges::find(task->waiters, static_cast<std::uint64_t>(ticket), &Waiter::ticket);
  dropped = std::move(waiter->done);
  task->waiters.erase(waiter);
  if (task->waiters.empty() && !task->begun) {
    std::erase(queue_, task);
    tasks_.erase(task->key);
  }
}

GrammarServiceStats GrammarService::stats() const {
  const std::lock_guard lock(mutex_);
  GrammarServiceStats stats = stats_;
  stats.waiting = tickets_.size();
  stats.cached = cache_.size();
  stats.cached_bytes = cached_bytes_;
  return stats;
}

void GrammarService::stop() {
  std::vector<Waiter> waiters;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& [key, task] : tasks_) {
      std::ranges::move(take_waiters(*task), std::back_inserter(waiters));
    }
    queue_.clear();
    wake_.notify_all();
  }
  for (const Waiter& waiter : waiters) {
    waiter.done(stopped());
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) {
      thread.join();
    }
  }
}

void GrammarService::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) {
      return;
    }
    const std::shared_ptr<Task> task = std::move(queue_.front());
    queue_.pop_front();
    task->begun = true;
    lock.unlock();
    const auto began = std::chrono::steady_clock::now();
    const Outcome outcome = compile_(task->rules, markers_, options_.limits);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    lock.lock();
    count(took.count());
    if (outcome) {
      keep(task->key, *outcome);
    } else {
      ++stats_.failures;
    }
    const std::vector<Waiter> waiters = take_waiters(*task);
    tasks_.erase(task->key);
    lock.unlock();
    for (const Waiter& waiter : waiters) {
      waiter.done(outcome);
    }
    lock.lock();
  }
}

std::vector<GrammarService::Waiter> GrammarService::take_waiters(Task& task) {
  for (const Waiter& waiter : task.waiters) {
    tickets_.erase(waiter.ticket);
  }
  return std::exchange(task.waiters, {});
}

std::shared_ptr<const Grammar> GrammarService::find(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    return nullptr;
  }
  cache_.splice(cache_.begin(), cache_, found->second);
  return found->second->grammar;
}

void GrammarService::keep(const std::string& key, const std::shared_ptr<const Grammar>& grammar) {
  if (bytes_of({key, grammar}) > options_.cache_bytes) {
    return;  // would push out all others, and then itself
  }
  cache_.push_front({key, grammar});
  by_key_.emplace(cache_.front().key, cache_.begin());
  cached_bytes_ += bytes_of(cache_.front());
  while (cached_bytes_ > options_.cache_bytes) {
    const Cached& oldest = cache_.back();
    cached_bytes_ -= bytes_of(oldest);
    by_key_.erase(oldest.key);
    cache_.pop_back();
    ++stats_.evictions;
  }
}

std::size_t GrammarService::bytes_of(const Cached& entry) {
  return entry.key.size() + entry.grammar->bytes();
}

void GrammarService::count(double seconds) {
  const auto& bounds = GrammarServiceStats::kBoundsSeconds;
  const auto bucket = std::ranges::lower_bound(bounds, seconds) - bounds.begin();
  ++stats_.compile_counts[static_cast<std::size_t>(bucket)];
  stats_.compile_seconds += seconds;
}

}  // namespace daybreak::grammar
