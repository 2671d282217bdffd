// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers: what all answers to one request share from submission to the last token, whatever a
// choice makes of its ids. Leaving early is always safe: the destructor cancels whatever the
// generator is still working on.
// Long because: a template, all of which is in its header.

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/context.h"
#include "api/held_logprobs.h"
#include "api/update_mailbox.h"

namespace daybreak::api {

// Every function runs on the connection's strand.
template <class Choice, class ChoiceDelta>
class Answers {
 public:
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  // To be called before submission, if the choices keep log-probabilities. Errors: those of
  // HeldLogprobs::grow().
  Status hold(HeldLogprobs logprobs) {
    logprobs_.emplace(std::move(logprobs));
    return logprobs_->grow(0);
  }

  // Waits for more, not longer than `until`: then there are no deltas. Errors: what went wrong in
  // the generator (then all choices are cancelled), kUnavailable when a shutdown cut the answer,
  // those of hold().
  // REQUIRES: !done().
  boost::asio::awaitable<Result<std::vector<ChoiceDelta>>> next(
      TimePoint until = TimePoint::max()) {
    auto batches = co_await mailbox_->next(until);
    if (!batches) {
      failure_ = batches.error().code;
      cancel();
      co_return std::move(batches).error();
    }
    std::vector<ChoiceDelta> out;
    if (Status status = take_over(*batches, out); !status) {
      failure_ = status.error().code;
      cancel();
      co_return std::move(status).error();
    }
    co_return out;
  }

  // Makes the generator stop within one step. next() then ends with kCancelled.
  void cancel() {
    cancelled_ = true;
    // The last one first: none that waits starts in the place of one that ends.
    for (std::size_t i = ids_.size(); i > 0; --i) {
      if (!choices_[i - 1].finished()) {
        context_.generator.cancel(ids_[i - 1]);
      }
    }
  }

  // Cancels what is still generated, and waits until the generator is through with it: from then on
  // started() and what was generated are final, read by a client or not, and no choice takes a
  // place in the generator. Within one step.
  boost::asio::awaitable<void> settle() {
    cancel();
    while (!settled()) {
      const auto batches = co_await mailbox_->next();
      if (batches) {
        std::vector<ChoiceDelta> unseen;
        static_cast<void>(take_over(*batches, unseen));  // there is nobody left to be told
      }
    }
  }

  [[nodiscard]] bool done() const {
    return std::ranges::all_of(choices_, [](const Choice& choice) { return choice.finished(); });
  }
  // Unset: nothing has gone wrong, as far as next() knows.
  [[nodiscard]] std::optional<Errc> failure() const { return failure_; }
  // Of each choice, as far as the generator has told.
  [[nodiscard]] const std::vector<engine::RequestTimes>& times() const { return times_; }
  // Whether the generator has begun with that choice; with any of them.
  [[nodiscard]] bool started(std::size_t choice) const {
    return times_[choice].started.has_value();
  }
  [[nodiscard]] bool started() const {
    return std::ranges::any_of(
        times_, [](const engine::RequestTimes& times) { return times.started.has_value(); });
  }
  [[nodiscard]] std::span<const engine::RequestId> engine_ids() const { return ids_; }
  // Of each choice that has ended.
  [[nodiscard]] std::vector<std::string_view> finish_reasons() const {
    std::vector<std::string_view> out;
    for (const Choice& choice : choices_) {
      if (choice.finished()) {
        out.push_back(choice.finish_reason());
      }
    }
    return out;
  }
  // Tokens of the longest choice.
  [[nodiscard]] std::size_t longest_choice() const {
    const auto longest = std::ranges::max_element(choices_, {}, &Choice::completion_tokens);
    return longest == choices_.end() ? 0 : longest->completion_tokens();
  }
  // Null: there is none, or it is not to have this. Known once it has been submitted.
  [[nodiscard]] ContentLog* content_log() const {
    return zero_retention_ ? nullptr : context_.content_log.get();
  }
  // Set by the first token of any choice.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> first_token() const {
    return first_token_;
  }

 protected:
  Answers(Context& context, const boost::asio::any_io_executor& strand)
      : context_(context), mailbox_(std::make_shared<UpdateMailbox>(strand)) {}
  ~Answers() {
    mailbox_->close();
    cancel();
  }

  // Hands every choice to the generator, or none; `request(i)` is that of the i-th.
  // Errors: those of Generator::submit().
  template <class RequestFn>
  Status submit_each(RequestFn request) {
    times_.resize(choices_.size());
    ended_.resize(choices_.size());
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      engine::GenerateRequest one = request(i);
      zero_retention_ = zero_retention_ || one.zero_retention;
      auto id = context_.generator.submit(
          std::move(one),
          [mailbox = mailbox_, i](const engine::Update& update) { mailbox->push(i, update); });
      if (!id) {
        cancel();
        return std::move(id).error();
      }
      ids_.push_back(*id);
    }
    return ok();
  }

  // Takes what came for one choice, appends what it tells.
  virtual Status consume(const Batch& batch, std::vector<ChoiceDelta>& out) = 0;

  // Tokens of which there is a number and nothing more.
  [[nodiscard]] std::size_t dropped_tokens() const { return dropped_tokens_; }

  void note_first_token(const Batch& batch) {
    if (!batch.tokens.empty() && !first_token_) {
      first_token_ = std::chrono::steady_clock::now();
    }
  }
  [[nodiscard]] Error cancellation() const {
    return cancelled_ ? Error{Errc::kCancelled, "the request was cancelled"}
                      : Error{Errc::kUnavailable, "the server is shutting down"};
  }
  // A choice has consumed the tokens of `batch`. If they ended it the generator is told, and what
  // came after them is no part of the answer.
  void note_consumed(const Batch& batch) {
    if (choices_[batch.choice].finished()) {
      context_.generator.complete(ids_[batch.choice]);  // ignored if that is over
    } else {
      dropped_tokens_ += batch.dropped_tokens;
    }
  }

  Context& context_;
  // Shared with the generator's callbacks, which may come after this object is gone.
  std::shared_ptr<UpdateMailbox> mailbox_;
  std::vector<Choice> choices_;
  bool zero_retention_ = false;

 private:
  // Takes over all of them, since what was generated counts whatever becomes of the answer.
  // Errors: the first of consume().
  Status take_over(const std::vector<Batch>& batches, std::vector<ChoiceDelta>& out) {
    std::ranges::for_each(batches, [this](const Batch& batch) { note(batch); });
    Status first = ok();
    for (const Batch& batch : batches) {
      Status status = consume(batch, out);
      first = first ? std::move(status) : std::move(first);
    }
    if (first && logprobs_) {
      return logprobs_->grow(std::accumulate(
          choices_.begin(), choices_.end(), std::size_t{0},
          [](std::size_t sum, const Choice& one) { return sum + one.rated_tokens(); }));
    }
    return first;
  }
  void note(const Batch& batch) {
    times_[batch.choice] = batch.times;
    ended_[batch.choice] = ended_[batch.choice] || batch.finish.has_value();
  }
  // Of a choice that is finished here the generator is told at once; it says nothing that matters.
  [[nodiscard]] bool settled() const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (!ended_[i] && !choices_[i].finished()) {
        return false;
      }
    }
    return true;
  }

  std::vector<engine::RequestId> ids_;
  std::vector<engine::RequestTimes> times_;
  std::vector<bool> ended_;               // the generator has said its last word
  std::optional<HeldLogprobs> logprobs_;  // unset: the choices keep none
  std::size_t dropped_tokens_ = 0;
  std::optional<Errc> failure_;
  std::optional<std::chrono::steady_clock::time_point> first_token_;
  bool cancelled_ = false;
};

}  // namespace daybreak::api
