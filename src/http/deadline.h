// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deadline: one movable point in time with one action. Moving it later, the common case on every
// write of a stream, costs an assignment: the timer finds out when it fires.

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>

namespace daybreak::http {

// Every function runs on the strand given to start().
class Deadline : public std::enable_shared_from_this<Deadline> {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(boost::asio::any_io_executor strand) : timer_(std::move(strand)) {}

  // Sets the action. It keeps alive whatever it captures until stop().
  void start(std::function<void()> on_expired);
  // Moves the deadline to `from_now`, in either direction.
  void set(Clock::duration from_now);
  void clear() { due_ = Clock::time_point::max(); }
  void stop();

 private:
  void wait();

  boost::asio::steady_timer timer_;
  Clock::time_point due_ = Clock::time_point::max();
  Clock::time_point armed_ = Clock::time_point::max();  // when the timer fires; max: not waiting
  std::function<void()> on_expired_;
};

}  // namespace daybreak::http
