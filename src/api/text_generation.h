// SPDX-License-Identifier: Apache-2.0
#pragma once

// TextGeneration: all raw texts of one completion request, from submission to the last token.
// Leaving early is always safe: the destructor cancels whatever the generator is still working on.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "api/context.h"
#include "api/prepare_completion.h"
#include "api/text_choice.h"
#include "api/update_mailbox.h"
#include "chat/response_json.h"

namespace daybreak::api {

struct TextChoiceDelta {
  std::size_t choice = 0;
  TextDelta delta;
};

// Every function runs on the connection's strand.
class TextGeneration {
 public:
  // `completion` must outlive this.
  TextGeneration(Context& context, const PreparedCompletion& completion,
                 const boost::asio::any_io_executor& strand);
  ~TextGeneration();
  TextGeneration(const TextGeneration&) = delete;
  TextGeneration& operator=(const TextGeneration&) = delete;

  // Hands every choice to the generator, or none. Errors: those of Generator::submit().
  Status submit();
  // Waits for more, not longer than `until`: then there are no deltas. Errors: what went wrong in
  // the generator (then all choices are cancelled), kUnavailable when a shutdown cut the answer.
  // REQUIRES: !done().
  boost::asio::awaitable<Result<std::vector<TextChoiceDelta>>> next(
      TimePoint until = TimePoint::max());
  // Makes the generator stop within one step. next() then ends with kCancelled.
  void cancel();

  [[nodiscard]] bool done() const;
  [[nodiscard]] chat::TokenUsage usage() const;
  [[nodiscard]] const PreparedCompletion& completion() const { return completion_; }
  [[nodiscard]] const TextAnswer& answer(std::size_t choice) const {
    return choices_[choice].answer();
  }
  // Set by the first token of any choice.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> first_token() const {
    return first_token_;
  }

 private:
  Status consume(const Batch& batch, std::vector<TextChoiceDelta>& out);

  Context& context_;
  const PreparedCompletion& completion_;
  // Shared with the generator's callbacks, which may come after this object is gone.
  std::shared_ptr<UpdateMailbox> mailbox_;
  std::vector<TextChoice> choices_;
  std::vector<engine::RequestId> ids_;
  std::vector<std::size_t> cached_tokens_;  // of each prompt
  std::optional<std::chrono::steady_clock::time_point> first_token_;
  bool cancelled_ = false;
};

}  // namespace daybreak::api
