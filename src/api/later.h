// SPDX-License-Identifier: Apache-2.0
#pragma once

// Later: a value that comes from elsewhere, and the one coroutine that sleeps until it is there. It
// lives in that coroutine. Whoever makes the value has a Setter, which may outlive it and all that
// it ran on, such as the io_context of a server that is gone: then it does nothing.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace daybreak::api {

template <class T>
class Later {
  struct Shared {
    std::mutex mutex;
    // While the coroutine is there, and with it what it runs on: nothing is posted without a look
    // at this under the lock, and the end of the coroutine waits for the lock.
    std::optional<boost::asio::steady_timer> ready;
    std::optional<T> value;

    void wake() {
      const std::lock_guard lock(mutex);
      if (ready) {
        ready->cancel();
      }
    }
  };

 public:
  explicit Later(const boost::asio::any_io_executor& strand) : shared_(std::make_shared<Shared>()) {
    shared_->ready.emplace(strand);
  }
  ~Later() {
    const std::lock_guard lock(shared_->mutex);
    shared_->ready.reset();
  }
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;

  class Setter {
   public:
    // Gives the value; the first one counts. Any thread, at any time.
    void operator()(T value) const {
      const std::lock_guard lock(shared_->mutex);
      if (!shared_->ready || shared_->value) {
        return;
      }
      shared_->value.emplace(std::move(value));
      boost::asio::post(shared_->ready->get_executor(), [shared = shared_] { shared->wake(); });
    }

   private:
    friend class Later;
    explicit Setter(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
    std::shared_ptr<Shared> shared_;  // with the Later and other setters
  };
  [[nodiscard]] Setter setter() const { return Setter(shared_); }

  // Waits for the value and returns it. On the strand, at most once.
  boost::asio::awaitable<T> get() {
    for (;;) {
      {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->value) {
          co_return *std::move(shared_->value);
        }
        shared_->ready->expires_at(boost::asio::steady_timer::time_point::max());
      }
      // Wake-ups come to this strand, so they run only once the wait has begun.
      co_await shared_->ready->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

}  // namespace daybreak::api
