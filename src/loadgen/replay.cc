// SPDX-License-Identifier: Apache-2.0
#include "loadgen/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "loadgen/answer_timer.h"
#include "loadgen/arrivals.h"

namespace daybreak::loadgen {
namespace {

// A conversation that has begun.
struct Session {
  Conversation conversation;
  std::uint64_t number = 0;
  double shift_seconds = 0;           // from the trace's times to those of the run
  std::size_t turn = 0;               // the next one
  std::vector<std::uint64_t> blocks;  // of the turn before
};

// A turn that waits for its time.
struct Due {
  double seconds = 0;
  std::uint64_t order = 0;  // of those due at the same time
  std::unique_ptr<Session> session;
};

struct Later {
  bool operator()(const Due& a, const Due& b) const {
    return std::pair(a.seconds, a.order) > std::pair(b.seconds, b.order);
  }
};

// A request in flight.
struct Call {
  std::unique_ptr<Session> session;
  AnswerTimer timer;
  RequestRecord record;
};

class Run {
 public:
  Run(TraceSource& source, const PromptWriter& writer, const ReplayOptions& options,
      HttpStreams& streams)
      : source_(source),
        writer_(writer),
        options_(options),
        streams_(streams),
        tally_(options.slos) {
    if (options.request_rate && std::isfinite(*options.request_rate)) {
      arrivals_.emplace(*options.request_rate, options.burstiness, options.seed);
    }
  }

  Result<Tally> run() {
    DAYBREAK_CHECK_OK(look_ahead());
    while (!over() && !options_.interrupted()) {
      DAYBREAK_CHECK_OK(begin_due());
      while (!waiting_.empty() && waiting_.front().seconds <= now() &&
             streams_.in_flight() < options_.max_concurrency) {
        DAYBREAK_CHECK_OK(send(pop_due()));
      }
      streams_.poll(time_to_wait());
      DAYBREAK_CHECK_OK(status_);
    }
    tally_.abandon(streams_.in_flight());
    return std::move(tally_);
  }

 private:
  [[nodiscard]] double now() const { return seconds_between(began_, Clock::steady().now()); }
  [[nodiscard]] bool over() const {
    return !next_ && waiting_.empty() && streams_.in_flight() == 0;
  }
  [[nodiscard]] std::size_t open() const { return waiting_.size() + streams_.in_flight(); }

  // Reads the conversation that begins next, and when.
  Status look_ahead() {
    DAYBREAK_TRY(next_, source_.next());
    if (next_) {
      next_seconds_ = arrivals_               ? arrivals_->next()
                      : options_.request_rate ? 0
                                              : in_run(next_->turns.front().at_seconds);
    }
    return ok();
  }

  [[nodiscard]] double in_run(double trace_seconds) const { return trace_seconds / options_.speed; }

  Status begin_due() {
    while (next_ && next_seconds_ <= now() && open() < kMaxOpenConversations) {
      auto session = std::make_unique<Session>();
      session->conversation = *std::move(next_);
      session->number = begun_++;
      session->shift_seconds =
          next_seconds_ - in_run(session->conversation.turns.front().at_seconds);
      wait(next_seconds_, std::move(session));
      DAYBREAK_CHECK_OK(look_ahead());
    }
    return ok();
  }

  void wait(double seconds, std::unique_ptr<Session> session) {
    waiting_.push_back({seconds, order_++, std::move(session)});
    std::ranges::push_heap(waiting_, Later());
  }

  Due pop_due() {
    std::ranges::pop_heap(waiting_, Later());
    Due due = std::move(waiting_.back());
    waiting_.pop_back();
    return due;
  }

  [[nodiscard]] std::chrono::milliseconds time_to_wait() const {
    constexpr double kLookAgain = 0.1;  // seconds: for interrupts that come between looks
    double until = now() + kLookAgain;
    if (next_ && open() < kMaxOpenConversations) {
      until = std::min(until, next_seconds_);
    }
    if (!waiting_.empty() && streams_.in_flight() < options_.max_concurrency) {
      until = std::min(until, waiting_.front().seconds);
    }
    const std::chrono::duration<double> left(std::max(0.0, until - now()));
    return std::chrono::ceil<std::chrono::milliseconds>(left);
  }

  // Makes the text of a session's next turn.
  std::string prompt_of(Session& session, const Turn& turn, std::size_t input_tokens) {
    session.blocks.resize(std::min(session.blocks.size(), turn.kept_blocks));
    session.blocks.insert(session.blocks.end(), turn.blocks.begin(), turn.blocks.end());
    return writer_.write({.scope = session.conversation.scope,
                          .blocks = session.blocks,
                          .block_tokens = session.conversation.block_tokens,
                          .tail = mix64(session.number, session.turn),
                          .words = options_.ratio.words_for(input_tokens)});
  }

  Status send(Due due) {
    Session& session = *due.session;
    const Turn& turn = session.conversation.turns[session.turn];
    RequestRecord record;
    record.conversation = session.conversation.name;
    record.turn = session.turn;
    record.due_seconds = due.seconds;
    record.asked_input = writer_.scaled(turn.input_tokens);
    record.asked_output = writer_.scaled(turn.output_tokens);
    std::string body =
        body_of(options_.target, prompt_of(session, turn, record.asked_input), record.asked_output);
    // Making the text is no part of the answer's time.
    const Clock::TimePoint sent = Clock::steady().now();
    record.sent_seconds = seconds_between(began_, sent);
    const auto call =
        std::make_shared<Call>(Call{std::move(due.session), AnswerTimer(sent), std::move(record)});
    return streams_.start(
        std::move(body), options_.target.timeout,
        [call](std::string_view bytes) { return call->timer.take(bytes, Clock::steady().now()); },
        [this, call](const Result<telemetry::PostReply>& reply) {
          std::move(call->timer).finish(reply, Clock::steady().now(), call->record);
          end(*call);
        });
  }

  void end(Call& call) {
    tally_.add(call.record);
    if (options_.on_record && status_) {
      status_ = options_.on_record(call.record);
    }
    if (options_.on_progress) {
      options_.on_progress(tally_.ended());
    }
    const std::vector<Turn>& turns = call.session->conversation.turns;
    if (++call.session->turn == turns.size()) {
      return;
    }
    const Turn& next = turns[call.session->turn];
    const double due = std::max(call.session->shift_seconds + in_run(next.at_seconds),
                                call.record.ended_seconds() + in_run(next.think_seconds));
    wait(due, std::move(call.session));
  }

  TraceSource& source_;
  const PromptWriter& writer_;
  const ReplayOptions& options_;
  HttpStreams& streams_;
  Tally tally_;
  std::optional<Arrivals> arrivals_;
  std::optional<Conversation> next_;
  double next_seconds_ = 0;
  std::vector<Due> waiting_;  // a heap, the earliest first
  std::uint64_t order_ = 0;
  std::uint64_t begun_ = 0;
  Status status_ = ok();
  const Clock::TimePoint began_ = Clock::steady().now();
};

}  // namespace

Result<Tally> replay(TraceSource& source, const PromptWriter& writer,
                     const ReplayOptions& options) {
  DAYBREAK_TRY(const auto streams, connect(options.target, options.max_concurrency));
  return Run(source, writer, options, *streams).run();
}

}  // namespace daybreak::loadgen
