// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <cassert>
#include <string>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace daybreak {
namespace {

// A pause takes 40 to 140 cycles, so this is roughly 10 to 40 microseconds: longer than the gap
// between two layers' barriers, shorter than a scheduler's time slice.
constexpr int kSpins = 800;

void cpu_pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Returns the first value seen in `word` that differs from `old`.
std::uint32_t wait_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (const std::uint32_t now = word.load(std::memory_order_acquire); now != old) {
      return now;
    }
    cpu_pause();
  }
  std::uint32_t now = word.load(std::memory_order_acquire);
  while (now == old) {
    word.wait(old, std::memory_order_acquire);
    now = word.load(std::memory_order_acquire);
  }
  return now;
}

}  // namespace

ThreadTeam::ThreadTeam(std::size_t threads, StartHook on_start) : workers_(threads) {
  assert(threads >= 1);
  threads_.reserve(threads - 1);
  try {
    for (std::size_t worker = 1; worker < threads; ++worker) {
      threads_.emplace_back([this, worker, on_start] { worker_main(worker, on_start); });
    }
  } catch (...) {
    stop();  // a thread that is not joined would end the process
    throw;
  }
}

Result<std::unique_ptr<ThreadTeam>> ThreadTeam::start(std::size_t threads, StartHook on_start) {
  if (threads < 1 || threads > kMaxTeamThreads) {
    return Error{Errc::kInvalidArgument, "threads: expected 1 to " +
                                             std::to_string(kMaxTeamThreads) + ", found " +
                                             std::to_string(threads)};
  }
  try {
    return std::make_unique<ThreadTeam>(threads, on_start);
  } catch (const std::system_error& error) {
    return Error{Errc::kIo, "threads: cannot start " + std::to_string(threads) + ": " +
                                error.code().message()};
  }
}

ThreadTeam::~ThreadTeam() {
  assert(!running_);
  stop();
}

void ThreadTeam::stop() {
  stopping_ = true;
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void ThreadTeam::run_task(Task task, void* context) {
  assert(!running_ && "ThreadTeam::run must not nest");
  running_ = true;
  if (!threads_.empty()) {
    task_ = task;
    context_ = context;
    pending_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
  }
  // An exception must not unwind past workers that still use the caller's data.
  [&]() noexcept { task(context, 0, size()); }();
  if (!threads_.empty()) {
    std::uint32_t left = pending_.load(std::memory_order_acquire);
    while (left != 0) {
      left = wait_while_equal(pending_, left);
    }
  }
  running_ = false;
}

void ThreadTeam::worker_main(std::size_t worker, StartHook on_start) {
  if (on_start != nullptr) {
    on_start();
  }
  std::uint32_t seen = 0;
  while (true) {
    seen = wait_while_equal(epoch_, seen);
    if (stopping_) {
      return;
    }
    // The owner starts no epoch before this one's pending_ is 0, so seen never skips one.
    task_(context_, worker, size());
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      pending_.notify_one();
    }
  }
}

}  // namespace daybreak
