// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchRun: the requests of a batch, a few at a time, from its input to its output. Memory is that
// of the requests in flight and of the custom_ids, however long the input is.

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "api/batch_line.h"
#include "api/batch_output.h"
#include "api/local_exchange.h"
#include "base/line_reader.h"
#include "base/result.h"
#include "http/exchange.h"

namespace daybreak::api {

inline constexpr std::size_t kMaxBatchLines = 1'000'000;

struct BatchRunOptions {
  std::string endpoint;  // the only url allowed; empty: any that can be batched
  std::size_t max_in_flight = 4;
  std::size_t max_lines = kMaxBatchLines;
  std::size_t max_line_bytes = kMaxJsonLineBytes;
  std::size_t max_tries = 100;  // of a line, while the generator has no place for it
  // Whether others wait for the generator: nothing new is begun meanwhile. Empty: never.
  std::function<bool()> busy = nullptr;
  std::function<void()> on_line = nullptr;  // after each line that was dealt with
  // Whom the requests are made for: see http::Request::principal.
  std::optional<std::int64_t> principal = {};
  // Asked before each line is begun; an error ends the run with it. Empty: always.
  std::function<Status()> may_go_on = nullptr;
  // Asked before so many bytes more are written; an error ends the run with it. Empty: always.
  std::function<Status(std::size_t bytes)> may_write = nullptr;
  // Called about each second while a line waits because its caller has reached a rate.
  // May stop the run.
  std::function<void()> on_rate_limit = nullptr;
};

// Every function runs on the strand given.
class BatchRun {
 public:
  using Handlers = std::map<std::string, http::Handler, std::less<>>;  // by url
  enum class Stop : std::uint8_t {
    kNo,
    kLater,      // what is not begun is left for another run
    kCancelled,  // what is not done becomes an error line
    kExpired,
  };

  // `input` is a descriptor at its start. All must outlive the run; `handlers` has every url that
  // can be batched.
  BatchRun(int input, BatchOutput& output, const Handlers& handlers, BatchRunOptions options,
           boost::asio::any_io_executor strand);
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;

  // Returns when every line has been dealt with, or was left after stop(kLater). A wrong line is an
  // error line and never stops the others; one that reaches a rate of its caller waits, one that
  // reaches a quota is an error line. One that finds no place in the generator's queue is tried
  // again, up to max_tries times; one that found a place and lost it to another as often as that
  // happens. Errors: those of may_go_on and may_write, kIo, kInvalidArgument (the output answers
  // another input), kTooLarge (more lines than allowed); all that is written stays.
  http::Task<Status> run();

  // Ends the run early. Requests in flight go on after kLater, unless cut() follows.
  void stop(Stop how);
  void cut();

  // Whether every line has been dealt with.
  [[nodiscard]] bool complete() const { return ended_ && !left_; }
  [[nodiscard]] Stop stopped() const { return stop_; }
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }  // done by earlier runs

 private:
  struct Line {
    BatchLineId id;
    Result<std::string> text;
  };

  http::Task<void> work();
  http::Task<void> deal_with(Line line);
  http::Task<std::optional<http::Response>> answer(const BatchRequest& request,
                                                   const std::string& request_id);
  http::Task<void> sleep(std::size_t milliseconds);
  http::Task<void> wait(std::size_t milliseconds);
  http::Task<void> wait_for_rate(std::size_t milliseconds);
  std::optional<Line> next_line();
  Result<BatchRequest> read(const Line& line, std::string& custom_id);
  http::Task<void> wait_for_turn();
  void record(const std::string& line, bool completed);
  void fail(Error error);

  const int input_;
  BatchOutput& output_;
  const Handlers& handlers_;
  const BatchRunOptions options_;
  const boost::asio::any_io_executor strand_;
  LineReader reader_;
  std::uint64_t line_ = 0;  // number of the last one read
  std::uint64_t skipped_ = 0;
  std::unordered_set<std::string> custom_ids_;
  std::set<LocalExchange*> active_;
  Stop stop_ = Stop::kNo;
  bool ended_ = false;  // the input has been read to its end
  bool left_ = false;   // a line was left undone
  Status status_ = ok();
};

}  // namespace daybreak::api
