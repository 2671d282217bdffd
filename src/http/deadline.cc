// SPDX-License-Identifier: Apache-2.0
#include "http/deadline.h"

#include <boost/system/error_code.hpp>

namespace daybreak::http {

void Deadline::start(std::function<void()> on_expired) { on_expired_ = std::move(on_expired); }

void Deadline::set(Clock::duration from_now) {
  due_ = Clock::now() + from_now;
  if (due_ < armed_) {
    wait();
  }
}

void Deadline::stop() {
  clear();
  on_expired_ = nullptr;
  timer_.cancel();
}

void Deadline::wait() {
  armed_ = due_;
  timer_.expires_at(due_);  // ends an earlier wait, which then sees operation_aborted
  timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (error) {
      return;
    }
    self->armed_ = Clock::time_point::max();
    if (self->due_ == Clock::time_point::max()) {
      return;
    }
    if (Clock::now() < self->due_) {
      return self->wait();
    }
    self->clear();
    if (self->on_expired_) {
      self->on_expired_();
    }
  });
}

}  // namespace daybreak::http
