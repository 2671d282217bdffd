// SPDX-License-Identifier: Apache-2.0
#include "api/update_mailbox.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <string>
#include <utility>

namespace daybreak::api {

namespace {

std::size_t size_of(const Batch& batch) { return batch.tokens.size() + batch.prompt.size(); }

}  // namespace

void UpdateMailbox::push(std::size_t choice, const engine::Update& update) {
  const std::lock_guard lock(mutex_);
  if (!ready_) {
    return;
  }
  const std::size_t added = update.tokens.size() + update.prompt.size();
  overflowed_ = overflowed_ || waiting_tokens_ + added > kMaxWaitingTokens;
  add(choice, update);
  if (std::exchange(reader_sleeps_, false)) {
    boost::asio::post(ready_->get_executor(), [self = shared_from_this()] { self->wake(); });
  }
}

void UpdateMailbox::wake() {
  const std::lock_guard lock(mutex_);
  if (ready_) {
    ready_->cancel();
  }
}

// Where an update goes. What is counted only joins what the choice has, or there would be a batch
// for each update.
Batch& UpdateMailbox::batch_for(std::size_t choice) {
  if (overflowed_) {
    const auto last = std::find_if(batches_.rbegin(), batches_.rend(),
                                   [&](const Batch& batch) { return batch.choice == choice; });
    return last == batches_.rend() ? batches_.emplace_back() : *last;
  }
  const bool joins = !batches_.empty() && batches_.back().choice == choice &&
                     size_of(batches_.back()) < kMaxTokensAtOnce;
  return joins ? batches_.back() : batches_.emplace_back();
}

void UpdateMailbox::add(std::size_t choice, const engine::Update& update) {
  Batch& batch = batch_for(choice);
  batch.choice = choice;
  if (overflowed_) {
    batch.dropped_tokens += update.tokens.size();
  } else {
    waiting_tokens_ += update.tokens.size() + update.prompt.size();
    batch.tokens.insert(batch.tokens.end(), update.tokens.begin(), update.tokens.end());
    batch.prompt.insert(batch.prompt.end(), update.prompt.begin(), update.prompt.end());
  }
  batch.finish = update.finish;
  batch.cached_tokens = update.usage.cached_tokens;
  batch.times = update.times;
  if (update.error != nullptr) {
    batch.error = *update.error;
  }
}

std::vector<Batch> UpdateMailbox::take() {
  std::vector<Batch> out;
  for (std::size_t taken = 0; !batches_.empty() && taken < kMaxTokensAtOnce;) {
    taken += size_of(batches_.front());
    waiting_tokens_ -= size_of(batches_.front());
    out.push_back(std::move(batches_.front()));
    batches_.pop_front();
  }
  return out;
}

boost::asio::awaitable<Result<std::vector<Batch>>> UpdateMailbox::next(TimePoint until) {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (overflowed_ && !std::exchange(told_, true)) {
        co_return Error{Errc::kResourceLimit, "the client reads too slowly: more than " +
                                                  std::to_string(kMaxWaitingTokens) +
                                                  " tokens were waiting"};
      }
      if (!batches_.empty()) {
        co_return take();
      }
      if (std::chrono::steady_clock::now() >= until) {
        co_return std::vector<Batch>();
      }
      reader_sleeps_ = true;
      ready_->expires_at(until);
    }
    // A wake-up is posted to this strand, so it runs only once the wait has begun.
    co_await ready_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
}

void UpdateMailbox::close() {
  const std::lock_guard lock(mutex_);
  ready_.reset();
}

}  // namespace daybreak::api
