// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <optional>

namespace daybreak::grammar {
namespace {

using Outcome = GrammarService::Outcome;

MessageRules rules(const std::string& regex) {
  MessageRules r;
  r.body = MessageRules::Body::kRegex;
  r.body_source = regex;
  return r;
}

// Compiles anything, when let. "bad" fails, "long..." is large.
class Compiler {
 public:
  GrammarService::CompileFn fn() {
    return
        [this](const MessageRules& r, const MessageMarkers& markers, const CompileLimits& limits) {
          std::unique_lock lock(mutex_);
          EXPECT_EQ(markers.sep, 3U);
          EXPECT_EQ(limits.steps, 77U);
          begun_.push_back(r.body_source);
          changed_.notify_all();
          changed_.wait(lock, [this] { return open_; });
          if (r.body_source == "bad") {
            return Outcome(Error{Errc::kTooLarge, "bad: too large"});
          }
          return compile_choice(std::vector<std::string>{r.body_source});
        };
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_begun(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_.size() >= count; });
  }
  std::vector<std::string> begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  std::vector<std::string> begun_;
};

// What one request got.
class Answer {
 public:
  GrammarService::DoneFn fn() {
    return [this](const Outcome& outcome) {
      const std::lock_guard lock(mutex_);
      ++calls_;
      outcome_ = outcome;
      changed_.notify_all();
    };
  }
  Outcome wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return outcome_.has_value(); });
    return *outcome_;
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Outcome> outcome_;
  int calls_ = 0;
};

GrammarServiceOptions options(std::size_t threads = 1) {
  GrammarServiceOptions o;
  o.threads = threads;
  o.limits.steps = 77;
  return o;
}

std::unique_ptr<GrammarService> start(Compiler& compiler, const GrammarServiceOptions& o) {
  auto service =
      GrammarService::start({.open = 1, .close = 2, .sep = 3, .end_of_msg = 4}, o, compiler.fn());
  EXPECT_TRUE(service);
  return *std::move(service);
}

TEST(GrammarService, CompilesOnceAndKeepsTheGrammar) {
  Compiler compiler;
  const auto service = start(compiler, options());
  Answer first;
  ASSERT_TRUE(service->compile(rules("a"), first.fn()));
  ASSERT_TRUE(first.wait());
  Answer second;
  ASSERT_TRUE(service->compile(rules("a"), second.fn()));
  EXPECT_EQ(second.calls(), 1) << "a kept grammar comes at once";
  EXPECT_EQ(*second.wait(), *first.wait());
  Answer other;
  ASSERT_TRUE(service->compile(rules("b"), other.fn()));
  EXPECT_NE(*other.wait(), *first.wait());
  const GrammarServiceStats stats = service->stats();
  EXPECT_EQ(stats.hits, 1U);
  EXPECT_EQ(stats.misses, 2U);
  EXPECT_EQ(stats.cached, 2U);
  EXPECT_GT(stats.cached_bytes, 0U);
  std::uint64_t timed = 0;
  for (const std::uint64_t count : stats.compile_counts) {
    timed += count;
  }
  EXPECT_EQ(timed, 2U);
}

TEST(GrammarService, EqualRequestsShareOneCompilation) {
  Compiler compiler;
  compiler.close();
  const auto service = start(compiler, options(2));
  Answer answers[5];
  for (Answer& answer : answers) {
    ASSERT_TRUE(service->compile(rules("a"), answer.fn()));
  }
  compiler.wait_begun(1);
  EXPECT_EQ(service->stats().waiting, 5U);
  compiler.open();
  for (Answer& answer : answers) {
    EXPECT_EQ(*answer.wait(), *answers[0].wait());
    EXPECT_EQ(answer.calls(), 1);
  }
  EXPECT_EQ(compiler.begun().size(), 1U);
  EXPECT_EQ(service->stats().joins, 4U);
  EXPECT_EQ(service->stats().waiting, 0U);
}

TEST(GrammarService, ErrorsGoToEveryoneWhoWaitsAndAreNotKept) {
  Compiler compiler;
  compiler.close();
  const auto service = start(compiler, options());
  Answer answers[2];
  for (Answer& answer : answers) {
    ASSERT_TRUE(service->compile(rules("bad"), answer.fn()));
  }
  compiler.open();
  for (Answer& answer : answers) {
    const Outcome outcome = answer.wait();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error(), (Error{Errc::kTooLarge, "bad: too large"}));
  }
  Answer again;
  ASSERT_TRUE(service->compile(rules("bad"), again.fn()));
  EXPECT_FALSE(again.wait());
  EXPECT_EQ(service->stats().cached, 0U);
  EXPECT_EQ(service->stats().failures, compiler.begun().size());
  EXPECT_EQ(compiler.begun().size(), 2U);
}

TEST(GrammarService, TheNumberThatWaitsIsBounded) {
  Compiler compiler;
  compiler.close();
  GrammarServiceOptions o = options();
  o.max_waiting = 2;
  const auto service = start(compiler, o);
  Answer answers[3];
  ASSERT_TRUE(service->compile(rules("a"), answers[0].fn()));
  ASSERT_TRUE(service->compile(rules("b"), answers[1].fn()));
  for (const char* regex : {"a", "c"}) {  // one that would join counts too
    const auto refused = service->compile(rules(regex), answers[2].fn());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kResourceLimit);
  }
  compiler.open();
  EXPECT_TRUE(answers[0].wait());
  EXPECT_TRUE(answers[1].wait());
  ASSERT_TRUE(service->compile(rules("c"), answers[2].fn()));
  EXPECT_TRUE(answers[2].wait());
}

TEST(GrammarService, TheLeastRecentlyUsedGrammarLeavesFirstAndLivesOnWhereUsed) {
  Compiler compiler;
  std::size_t one = 0;
  {
    const auto service = start(compiler, options());
    Answer answer;
    ASSERT_TRUE(service->compile(rules("a"), answer.fn()));
    ASSERT_TRUE(answer.wait());
    one = service->stats().cached_bytes;
  }
  GrammarServiceOptions o = options();
  o.cache_bytes = one * 5 / 2;  // room for two
  const auto service = start(compiler, o);
  const auto get = [&](const char* regex) {
    Answer answer;
    EXPECT_TRUE(service->compile(rules(regex), answer.fn()));
    return *answer.wait();
  };
  const auto a = get("a");
  const auto b = get("b");
  EXPECT_EQ(get("a"), a);  // b is now the oldest
  get("c");
  EXPECT_EQ(service->stats().cached, 2U);
  EXPECT_EQ(service->stats().evictions, 1U);
  EXPECT_LE(service->stats().cached_bytes, o.cache_bytes);
  EXPECT_EQ(get("a"), a);
  EXPECT_NE(get("b"), b) << "compiled anew";
  EXPECT_GT(b->bytes(), 0U);
}

TEST(GrammarService, AGrammarLargerThanTheCacheIsUsedAndNotKept) {
  Compiler compiler;
  GrammarServiceOptions o = options();
  o.cache_bytes = 0;
  const auto service = start(compiler, o);
  Answer answer;
  ASSERT_TRUE(service->compile(rules("a"), answer.fn()));
  EXPECT_TRUE(answer.wait());
  EXPECT_EQ(service->stats().cached, 0U);
  EXPECT_EQ(service->stats().cached_bytes, 0U);
}

TEST(GrammarService, AGrammarLargerThanTheCacheLeavesTheOthersThere) {
  Compiler compiler;
  GrammarServiceOptions o = options();
  o.cache_bytes = 20'000;
  const auto service = start(compiler, o);
  const auto get = [&](const std::string& choice) {
    Answer answer;
    EXPECT_TRUE(service->compile(rules(choice), answer.fn()));
    return *answer.wait();
  };
  const auto small = get("a");
  EXPECT_GT(get(std::string(20'000, 'x'))->bytes(), o.cache_bytes);
  EXPECT_EQ(get("a"), small);
  EXPECT_EQ(service->stats().hits, 1U);
  EXPECT_EQ(service->stats().evictions, 0U);
}

TEST(GrammarService, ACancelledRequestHearsNothingAndItsCompilationIsDropped) {
  Compiler compiler;
  compiler.close();
  const auto service = start(compiler, options());
  Answer busy;
  ASSERT_TRUE(service->compile(rules("busy"), busy.fn()));
  compiler.wait_begun(1);
  Answer left;
  Answer stays;
  Answer dropped;
  const auto left_ticket = service->compile(rules("shared"), left.fn());
  ASSERT_TRUE(service->compile(rules("shared"), stays.fn()));
  const auto dropped_ticket = service->compile(rules("dropped"), dropped.fn());
  ASSERT_TRUE(left_ticket && dropped_ticket);
  service->cancel(*left_ticket);
  service->cancel(*dropped_ticket);
  service->cancel(*dropped_ticket);  // unknown now
  service->cancel(GrammarService::Ticket{999});
  EXPECT_EQ(service->stats().waiting, 2U);
  compiler.open();
  EXPECT_TRUE(stays.wait());
  EXPECT_TRUE(busy.wait());
  EXPECT_EQ(compiler.begun(), (std::vector<std::string>{"busy", "shared"}));
  EXPECT_EQ(left.calls() + dropped.calls(), 0);
}

TEST(GrammarService, CancellingACompilationUnderWayStillKeepsItsGrammar) {
  Compiler compiler;
  compiler.close();
  const auto service = start(compiler, options());
  Answer left;
  const auto ticket = service->compile(rules("a"), left.fn());
  ASSERT_TRUE(ticket);
  compiler.wait_begun(1);
  service->cancel(*ticket);
  Answer joins;
  ASSERT_TRUE(service->compile(rules("a"), joins.fn()));
  compiler.open();
  EXPECT_TRUE(joins.wait());
  EXPECT_EQ(left.calls(), 0);
  EXPECT_EQ(compiler.begun().size(), 1U);
}

TEST(GrammarService, StopFailsWhoWaitsAndRefusesTheRest) {
  Compiler compiler;
  compiler.close();
  const auto service = start(compiler, options());
  Answer begun;
  Answer queued;
  ASSERT_TRUE(service->compile(rules("a"), begun.fn()));
  compiler.wait_begun(1);
  ASSERT_TRUE(service->compile(rules("b"), queued.fn()));
  std::thread stopper([&] { service->stop(); });
  for (Answer* answer : {&begun, &queued}) {
    const Outcome outcome = answer->wait();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Errc::kUnavailable);
  }
  compiler.open();
  stopper.join();
  EXPECT_EQ(compiler.begun().size(), 1U);
  Answer late;
  const auto refused = service->compile(rules("a"), late.fn());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  service->stop();
  EXPECT_EQ(begun.calls() + queued.calls(), 2);
}

TEST(GrammarService, ManyThreadsAskAndCancelAtOnce) {
  Compiler compiler;
  GrammarServiceOptions o = options(3);
  o.cache_bytes = 5000;
  const auto service = start(compiler, o);
  std::atomic<int> answered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto ticket =
            service->compile(rules(std::to_string((t + i) % 7)), [&](const Outcome& outcome) {
              EXPECT_TRUE(outcome);
              ++answered;
            });
        ASSERT_TRUE(ticket);
        if (i % 3 == 0) {
          service->cancel(*ticket);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  while (service->stats().waiting != 0) {
    std::this_thread::yield();
  }
  service->stop();
  EXPECT_GE(answered, 4 * 200 * 2 / 3 - 4);
  EXPECT_LE(answered, 4 * 200);
}

TEST(GrammarService, RefusesANumberOfThreadsOutOfRange) {
  for (const std::size_t threads : {std::size_t{0}, kMaxGrammarThreads + 1}) {
    const auto service = GrammarService::start({}, options(threads));
    ASSERT_FALSE(service);
    EXPECT_EQ(service.error().code, Errc::kInvalidArgument);
    EXPECT_TRUE(service.error().message.starts_with("grammar_threads: expected 1 to 16, found "));
  }
}

}  // namespace
}  // namespace daybreak::grammar
