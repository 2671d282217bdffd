// SPDX-License-Identifier: Apache-2.0
#include "api/replay_store.h"

#include <algorithm>
#include <utility>

namespace daybreak::api {
namespace {

// What a kept answer costs beside its text: nodes of the indexes and allocations.
constexpr std::size_t kOverhead = 1024;

// All that is held for an answer. The owner's name is also in the index of owners.
std::size_t cost(const ReplayKey& key, const http::Response& answer) {
  std::size_t bytes = kOverhead + key.path.capacity() + key.name.capacity() +
                      2 * key.owner.capacity() + answer.body.capacity() +
                      answer.content_type.capacity() +
                      answer.headers.capacity() * sizeof(http::Header);
  for (const http::Header& header : answer.headers) {
    bytes += header.name.capacity() + header.value.capacity();
  }
  return bytes;
}

}  // namespace

ReplayStore::Place ReplayStore::place_of(const ReplayKey& key) {
  return {key.caller, key.path, key.name, key.name.empty() ? key.body : access::Digest{}};
}

ReplayStore::Claim ReplayStore::claim(const ReplayKey& key, bool is_retry) {
  const std::lock_guard lock(mutex_);
  drop_old();
  const bool named = !key.name.empty();
  auto [at, end] = calls_.equal_range(place_of(key));
  for (; at != end; ++at) {
    Call& call = *at->second;
    if (named && call.key_.body != key.body) {
      return {};
    }
    if (named && call.listeners_ >= kMaxListeners) {
      return {.call = nullptr, .crowded = true};
    }
    if (named || (is_retry && call.listeners_ == 0)) {
      ++call.listeners_;
      return {.call = at->second, .listener = call.next_listener_++};
    }
  }
  auto call = std::make_shared<Call>(key);
  calls_.emplace(place_of(call->key_), call);
  return {.call = std::move(call)};
}

void ReplayStore::on_silence(const CallPtr& call, std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  call->on_silence_ = std::move(callback);
}

bool ReplayStore::give_up(const CallPtr& call) {
  const std::lock_guard lock(mutex_);
  if (call->over_ || call->listeners_ > 0) {
    return false;
  }
  forget(call);
  return true;
}

void ReplayStore::finish(const CallPtr& call, Answer answer) {
  std::map<std::uint64_t, std::function<void()>> listeners;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(call->over_, true)) {
      return;
    }
    call->on_silence_ = nullptr;
    call->answer_ = std::move(answer);
    listeners = std::exchange(call->on_over_, {});
    if (call->answer_ == nullptr) {
      forget(call);
    } else {
      keep(call);
    }
  }
  for (const auto& [listener, callback] : listeners) {
    callback();
  }
}

void ReplayStore::on_over(const CallPtr& call, std::uint64_t listener,
                          std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!call->over_) {
      call->on_over_[listener] = std::move(callback);
      return;
    }
  }
  callback();
}

ReplayStore::Answer ReplayStore::answer(const CallPtr& call) {
  const std::lock_guard lock(mutex_);
  return call->answer_;
}

void ReplayStore::leave(const CallPtr& call, std::uint64_t listener, bool heard) {
  std::function<void()> silence;
  {
    const std::lock_guard lock(mutex_);
    --call->listeners_;
    call->on_over_.erase(listener);
    if (heard && call->key_.name.empty()) {
      forget(call);
    }
    if (call->listeners_ == 0) {
      silence = call->on_silence_;
    }
  }
  if (silence) {
    silence();
  }
}

void ReplayStore::count_replay() {
  const std::lock_guard lock(mutex_);
  ++replayed_;
}

ReplayStore::Stats ReplayStore::stats() {
  const std::lock_guard lock(mutex_);
  drop_old();
  Stats stats{.kept = kept_.size(), .bytes = bytes_, .replayed = replayed_};
  for (const auto& [place, call] : calls_) {
    stats.waiting += call->on_over_.size();
    stats.abandoned += !call->over_ && call->listeners_ == 0 ? 1 : 0;
  }
  return stats;
}

void ReplayStore::keep(const CallPtr& call) {
  const std::size_t bytes = cost(call->key_, *call->answer_);
  if (bytes > options_.max_bytes) {
    return forget(call);  // not at the cost of all others
  }
  const std::uint64_t number = next_kept_++;
  kept_[number] = {.call = call, .since = options_.clock->now(), .bytes = bytes};
  call->kept_ = number;
  bytes_ += bytes;
  Owned& owned = owned_[call->key_.owner];
  owned.bytes += bytes;
  owned.answers.insert(number);
  drop_old();
}

// Takes the call out of all indexes; those who listen keep it until they leave.
void ReplayStore::forget(const CallPtr& call) {
  auto [at, end] = calls_.equal_range(place_of(call->key_));
  const auto found = std::find_if(at, end, [&](const auto& one) { return one.second == call; });
  if (found == end) {
    return;
  }
  if (call->kept_) {
    const auto kept = kept_.find(*call->kept_);
    bytes_ -= kept->second.bytes;
    const auto owned = owned_.find(call->key_.owner);
    owned->second.bytes -= kept->second.bytes;
    owned->second.answers.erase(kept->first);
    if (owned->second.answers.empty()) {
      owned_.erase(owned);
    }
    kept_.erase(kept);
    call->kept_.reset();
  }
  calls_.erase(found);
}

void ReplayStore::drop_old() {
  const Clock::TimePoint now = options_.clock->now();
  while (!kept_.empty() && now - kept_.begin()->second.since >= options_.max_age) {
    forget(CallPtr(kept_.begin()->second.call));
  }
  while (bytes_ > options_.max_bytes) {
    drop_one_of_the_heaviest();
  }
}

void ReplayStore::drop_one_of_the_heaviest() {
  const auto heaviest =
      std::ranges::max_element(owned_, {}, [](const auto& entry) { return entry.second.bytes; });
  forget(CallPtr(kept_.at(*heaviest->second.answers.begin()).call));
}

void report_replays(MetricsSink& sink, const ReplayStore::Stats& stats) {
  sink.counter("daybreak_replayed_answers_total",
               "Requests given the answer that was made for an earlier try",
               static_cast<double>(stats.replayed), {});
  sink.gauge("daybreak_waiting_retries",
             "Requests that wait for an answer being made for an earlier try",
             static_cast<double>(stats.waiting), {});
  sink.gauge("daybreak_abandoned_calls", "Answers being made though their client has left",
             static_cast<double>(stats.abandoned), {});
  sink.gauge("daybreak_kept_answers", "Answers kept for clients that ask again",
             static_cast<double>(stats.kept), {});
  sink.gauge("daybreak_kept_answer_bytes", "Memory of answers kept for clients that ask again",
             static_cast<double>(stats.bytes), {});
}

}  // namespace daybreak::api
