// SPDX-License-Identifier: Apache-2.0
#pragma once

// UpdateMailbox: carries what the engine's thread produces to the coroutine that answers a client.
// The engine never waits for it; the coroutine sleeps until there is something.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/generator.h"

namespace daybreak::api {

// A copy of one or more consecutive Updates of one choice.
struct Batch {
  std::size_t choice = 0;
  std::vector<engine::GeneratedToken> tokens;
  std::vector<engine::PromptLogprob> prompt;
  std::optional<engine::FinishReason> finish;
  std::optional<Error> error;
  std::size_t cached_tokens = 0;
  std::size_t dropped_tokens = 0;  // that came after `tokens` and found no room
  engine::RequestTimes times;
};

// Tokens, and rated ids of prompts, that may wait for a client that reads too slowly. Past it the
// answer is given up, and what comes is counted only.
inline constexpr std::size_t kMaxWaitingTokens = 65'536;
// Of those, so many are handed over at once, a few more if the last Update had several: what is
// made of them for a client that reads slowly stays small. The rated ids of a prompt come in one.
inline constexpr std::size_t kMaxTokensAtOnce = 256;

using TimePoint = std::chrono::steady_clock::time_point;

class UpdateMailbox : public std::enable_shared_from_this<UpdateMailbox> {
 public:
  explicit UpdateMailbox(const boost::asio::any_io_executor& strand)
      : ready_(std::in_place, strand) {}

  // Adds a copy of `update`. Any thread; never blocks.
  void push(std::size_t choice, const engine::Update& update);

  // Returns what has arrived, in order and up to kMaxTokensAtOnce, waiting until there is
  // something, or nothing at all at `until`. On the strand, one caller at a time. Errors:
  // kResourceLimit, once, when more than kMaxWaitingTokens were waiting; the calls after it return
  // what there was and how many tokens were dropped.
  boost::asio::awaitable<Result<std::vector<Batch>>> next(TimePoint until = TimePoint::max());

  // Ignores every later push, also once the strand is gone. To be called by whoever calls next(),
  // at his end.
  void close();

 private:
  void add(std::size_t choice, const engine::Update& update);
  Batch& batch_for(std::size_t choice);
  void wake();
  std::vector<Batch> take();

  std::mutex mutex_;                                // guards what follows
  std::optional<boost::asio::steady_timer> ready_;  // empty: closed
  std::deque<Batch> batches_;
  std::size_t waiting_tokens_ = 0;
  bool reader_sleeps_ = false;
  bool overflowed_ = false;
  bool told_ = false;  // of it
};

}  // namespace daybreak::api
