// SPDX-License-Identifier: Apache-2.0
#pragma once

// Generation: all answers to one request, from submission to the last token. Leaving early is
// always safe: the destructor cancels whatever the generator is still working on.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "api/choice.h"
#include "api/context.h"
#include "api/prepare.h"
#include "api/update_mailbox.h"

namespace daybreak::api {

struct ChoiceDelta {
  std::size_t choice = 0;
  Delta delta;
};

// Every function runs on the connection's strand.
class Generation {
 public:
  Generation(Context& context, const PreparedChat& chat,
             const boost::asio::any_io_executor& strand);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  // Hands every choice to the generator, or none. Errors: those of Generator::submit().
  Status submit();

  // Waits for more, not longer than `until`: then there are no deltas. Errors: what went wrong in
  // the generator (then all choices are cancelled), kUnavailable when a shutdown cut the answer.
  // REQUIRES: !done().
  boost::asio::awaitable<Result<std::vector<ChoiceDelta>>> next(TimePoint until = TimePoint::max());

  // Makes the generator stop within one step. next() then ends with kCancelled.
  void cancel();

  [[nodiscard]] bool done() const;
  [[nodiscard]] chat::TokenUsage usage() const;
  [[nodiscard]] std::vector<chat::CompletionChoice> completions() const;
  // Set by the first token of any choice.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> first_token() const {
    return first_token_;
  }

 private:
  Status consume(const Batch& batch, std::vector<ChoiceDelta>& out);

  Context& context_;
  const PreparedChat& chat_;
  // Shared with the generator's callbacks, which may come after this object is gone.
  std::shared_ptr<UpdateMailbox> mailbox_;
  std::vector<Choice> choices_;
  std::vector<engine::RequestId> ids_;
  std::size_t cached_tokens_ = 0;
  std::optional<std::chrono::steady_clock::time_point> first_token_;
  bool cancelled_ = false;
};

}  // namespace daybreak::api
