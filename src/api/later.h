// SPDX-License-Identifier: Apache-2.0
#pragma once

// Later: a value that comes from elsewhere, and the one coroutine that sleeps until it is there.
// Shared between the two, either of which may be gone first.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace daybreak::api {

template <class T>
class Later : public std::enable_shared_from_this<Later<T>> {
 public:
  explicit Later(const boost::asio::any_io_executor& strand) : strand_(strand), ready_(strand) {}

  // Gives the value; the first one counts. Any thread.
  void set(T value) {
    boost::asio::post(strand_,
                      [self = this->shared_from_this(), value = std::move(value)]() mutable {
                        if (!self->value_) {
                          self->value_.emplace(std::move(value));
                          self->ready_.cancel();
                        }
                      });
  }

  // Waits for the value and returns it. On the strand, at most once.
  boost::asio::awaitable<T> get() {
    while (!value_) {
      // Wake-ups come to this strand, so they run only once the wait below has begun.
      ready_.expires_at(boost::asio::steady_timer::time_point::max());
      co_await ready_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    co_return *std::move(value_);
  }

 private:
  const boost::asio::any_io_executor strand_;
  boost::asio::steady_timer ready_;  // this and what follows: on the strand
  std::optional<T> value_;
};

}  // namespace daybreak::api
