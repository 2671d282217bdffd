// SPDX-License-Identifier: Apache-2.0
#pragma once

// ThreadTeam: a fixed set of threads that run one function together and meet at one barrier.
// Waiting spins for some ten microseconds and then sleeps, so that a team on a shared machine gives
// the core to whoever holds up the barrier instead of fighting it for the core.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace daybreak {

inline constexpr std::size_t kMaxTeamThreads = 1024;

// One owner thread calls run() and for_ranges(); calls must not nest or overlap (asserted).
// Functions passed in must not throw. What the owner wrote before run() is visible to the workers,
// and what they wrote is visible to the owner after it.
class ThreadTeam {
 public:
  // Runs once on every new thread before its first work; not on the owner's thread.
  using StartHook = void (*)();

  // Returns a team of `threads`, the calling one included.
  // Errors: kInvalidArgument  not 1 to kMaxTeamThreads
  //         kIo               the system does not start that many; none is left behind
  [[nodiscard]] static Result<std::unique_ptr<ThreadTeam>> start(std::size_t threads,
                                                                 StartHook on_start = nullptr);

  // threads >= 1; the calling thread is worker 0, so `threads - 1` are started. Throws
  // std::system_error if one cannot be: start() is for numbers that come from outside.
  explicit ThreadTeam(std::size_t threads, StartHook on_start = nullptr);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  [[nodiscard]] std::size_t size() const { return workers_; }

  // Runs fn(worker, workers) on all workers and returns when all are done.
  template <class F>
  void run(F&& fn) {
    using Fn = std::remove_reference_t<F>;
    run_task([](void* context, std::size_t worker,
                std::size_t workers) { (*static_cast<Fn*>(context))(worker, workers); },
             const_cast<void*>(static_cast<const void*>(std::addressof(fn))));  // NOLINT
  }

  // Splits [0, n) into at most size() contiguous ranges whose bounds are multiples of `grain`
  // (the last may be shorter) and runs fn(begin, end) for each, at most one per worker. Which
  // ranges appear depends on size(), so what fn computes for an index must not depend on its range.
  // REQUIRES: grain >= 1.
  template <class F>
  void for_ranges(std::size_t n, std::size_t grain, F&& fn) {
    const std::size_t grains = (n + grain - 1) / grain;
    if (grains <= 1 || size() == 1) {
      if (n != 0) {
        fn(std::size_t{0}, n);
      }
      return;
    }
    run([&](std::size_t worker, std::size_t workers) {
      const std::size_t begin = std::min(n, grains * worker / workers * grain);
      const std::size_t end = std::min(n, grains * (worker + 1) / workers * grain);
      if (begin < end) {
        fn(begin, end);
      }
    });
  }

 private:
  using Task = void (*)(void* context, std::size_t worker, std::size_t workers);

  void run_task(Task task, void* context);
  void stop();
  void worker_main(std::size_t worker, StartHook on_start);

  const std::size_t workers_;

  // Written by the owner before epoch_ advances, read by workers after they saw it advance.
  Task task_ = nullptr;
  void* context_ = nullptr;
  bool stopping_ = false;
  bool running_ = false;  // owner only: catches nested calls

  alignas(64) std::atomic<std::uint32_t> epoch_{0};    // one step per run()
  alignas(64) std::atomic<std::uint32_t> pending_{0};  // workers not yet done with this epoch
  std::vector<std::thread> threads_;
};

}  // namespace daybreak
