// SPDX-License-Identifier: Apache-2.0
#include "exam/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace daybreak::exam {
namespace {

std::size_t bytes_of(const Answer& answer) {
  std::size_t bytes = answer.content.size() + answer.reasoning.size();
  for (const Call& call : answer.calls) {
    bytes += call.name.size() + call.arguments.size();
  }
  return bytes + answer.ids.size() * sizeof(TokenId);
}

// What the next question will not change: no connection, a wrong key, an unknown model.
bool hopeless(Errc code) {
  return code == Errc::kIo || code == Errc::kUnauthenticated || code == Errc::kNotFound;
}

// What the threads of a run share.
class Work {
 public:
  Work(std::span<const Question> questions, const RunOptions& options)
      : questions_(questions), options_(options) {
    run_.answers.assign(questions.size(), Error{Errc::kCancelled, "not asked"});
  }

  void ask_all(Endpoint endpoint) {
    const auto give_up = [this] { return ended_.load(); };
    for (std::size_t at = 0; !ended_ && (at = next_++) < questions_.size();) {
      note(at, endpoint.ask(questions_[at].request, give_up));
    }
  }

  ExamRun take() { return std::move(run_); }

 private:
  void note(std::size_t at, Result<Answer> answer) {
    const std::lock_guard lock(mutex_);
    const bool lost = !answer && hopeless(answer.error().code);
    lost_ = lost ? lost_ + 1 : 0;
    bytes_ += answer ? bytes_of(*answer) : 0;
    if (lost_ == kMaxLostInARow) {
      end({Errc::kUnavailable,
           fmt::format("{}: {} questions in a row {}: {}", options_.endpoint.url, lost_,
                       answer.error().code == Errc::kIo ? "found no connection" : "were refused",
                       answer.error().message)});
    } else if (bytes_ > kMaxRunBytes) {
      end({Errc::kTooLarge, "expected at most 1 GiB of answers"});
    }
    run_.answers[at] = std::move(answer);
    ++done_;
    if (options_.on_done) {
      options_.on_done(done_);
    }
  }

  void end(Error why) {
    if (!ended_) {
      run_.status = std::move(why);
      ended_ = true;
    }
  }

  const std::span<const Question> questions_;
  const RunOptions& options_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  // Under mutex_ from here on.
  ExamRun run_;
  std::size_t lost_ = 0;
  std::size_t bytes_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

Result<ExamRun> run_exam(std::span<const Question> questions, const RunOptions& options) {
  const std::size_t count =
      std::clamp<std::size_t>(std::min(options.concurrency, questions.size()), 1, kMaxConcurrency);
  std::vector<Endpoint> endpoints;
  for (std::size_t i = 0; i < count; ++i) {
    DAYBREAK_TRY(Endpoint endpoint, Endpoint::create(options.endpoint));
    endpoints.push_back(std::move(endpoint));
  }
  Work work(questions, options);
  const Clock::TimePoint began = Clock::steady().now();
  {
    std::vector<std::jthread> threads;
    for (Endpoint& endpoint : endpoints) {
      threads.emplace_back([&] { work.ask_all(std::move(endpoint)); });
    }
  }
  ExamRun run = work.take();
  run.seconds = seconds_between(began, Clock::steady().now());
  return run;
}

}  // namespace daybreak::exam
