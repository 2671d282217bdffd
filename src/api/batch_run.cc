// SPDX-License-Identifier: Apache-2.0
#include "api/batch_run.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "api/reply.h"

namespace daybreak::api {
namespace {

using http::Task;

// A full queue or one that is being emptied: the request itself is not at fault.
bool try_again(int status) { return status == 429 || status == 503; }
bool was_cut(int status) { return try_again(status) || status == 499; }

constexpr std::size_t kPollMs = 50;
constexpr std::size_t kTurnMs = 1'000;
constexpr std::size_t kLongestWaitMs = 30'000;

// Such as a quota, which is no better in a minute.
bool is_final(const http::Response& response) {
  return http::header_of(response.headers, "x-should-retry") == "false";
}

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

BatchRun::BatchRun(int input, BatchOutput& output, const Handlers& handlers,
                   BatchRunOptions options, boost::asio::any_io_executor strand)
    : input_(input),
      output_(output),
      handlers_(handlers),
      options_(std::move(options)),
      strand_(std::move(strand)),
      reader_(input_, options_.max_line_bytes) {}

Task<Status> BatchRun::run() {
  std::size_t working = options_.max_in_flight;
  boost::asio::steady_timer done(strand_, boost::asio::steady_timer::time_point::max());
  for (std::size_t i = 0; i < options_.max_in_flight; ++i) {
    boost::asio::co_spawn(strand_, work(), [&](const std::exception_ptr& thrown) {
      if (thrown) {
        fail({Errc::kIo, "the batch was ended by an unexpected fault"});
      }
      if (--working == 0) {
        done.cancel();
      }
    });
  }
  while (working > 0) {
    boost::system::error_code ignored;
    co_await done.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  if (status_) {
    status_ = output_.sync();
  }
  co_return status_;
}

void BatchRun::stop(Stop how) {
  // A shutdown leaves what a cancellation has not come to yet for the next start.
  if (stop_ == Stop::kNo || how == Stop::kLater) {
    stop_ = how;
  }
  if (how == Stop::kCancelled || how == Stop::kExpired) {
    cut();
  }
}

void BatchRun::cut() {
  for (LocalExchange* const exchange : std::set<LocalExchange*>(active_)) {
    exchange->leave();
  }
}

void BatchRun::fail(Error error) {
  if (status_) {
    status_ = std::move(error);
  }
  stop(Stop::kLater);
  cut();
}

Task<void> BatchRun::sleep(std::size_t milliseconds) {
  boost::asio::steady_timer timer(strand_, std::chrono::milliseconds(milliseconds));
  co_await timer.async_wait(boost::asio::use_awaitable);
}

Task<void> BatchRun::work() {
  for (;;) {
    co_await wait_for_turn();
    if (stop_ == Stop::kLater) {
      left_ = left_ || !ended_;
      co_return;
    }
    auto line = next_line();
    if (!line) {
      co_return;
    }
    if (options_.may_go_on && stop_ == Stop::kNo) {
      if (Status may = options_.may_go_on(); !may) {
        left_ = true;
        co_return fail(std::move(may).error());
      }
    }
    co_await deal_with(*std::move(line));
    if (options_.on_line) {
      options_.on_line();
    }
    // Lines that need no answer, of which there may be many, must not keep the strand.
    co_await boost::asio::post(strand_, boost::asio::use_awaitable);
  }
}

// The next line that no earlier run has dealt with.
std::optional<BatchRun::Line> BatchRun::next_line() {
  while (status_ && !ended_) {
    auto text = reader_.next();
    if (!text) {
      ended_ = true;
      break;
    }
    ++line_;
    if (!*text && text->error().code == Errc::kIo) {
      fail(std::move(*text).error());
      break;
    }
    if (*text && blank(**text)) {
      continue;
    }
    if (line_ > options_.max_lines) {
      fail({Errc::kTooLarge,
            "input: at most " + std::to_string(options_.max_lines) + " lines expected"});
      break;
    }
    Line line{.id = BatchLineId::of(line_, *text ? **text : ""), .text = *std::move(text)};
    const auto done = output_.has(line.id);
    if (!done) {
      fail(done.error());
      break;
    }
    if (!*done) {
      return line;
    }
    ++skipped_;
    if (line.text) {
      custom_ids_.insert(custom_id_of(*line.text));
    }
  }
  return std::nullopt;
}

Result<BatchRequest> BatchRun::read(const Line& line, std::string& custom_id) {
  DAYBREAK_TRY(const std::string text, line.text);
  auto request = parse_batch_request(text, options_.endpoint);
  custom_id = request ? request->custom_id : custom_id_of(text);
  if (!custom_id.empty() && !custom_ids_.insert(custom_id).second) {
    return Error{Errc::kInvalidArgument, "custom_id: an earlier line has the same"};
  }
  return request;
}

Task<void> BatchRun::deal_with(Line line) {
  const BatchLineId id = line.id;
  std::string custom_id;
  const auto request = read(line, custom_id);
  line.text = std::string();  // no longer needed while the answer is made
  if (!request) {
    record(batch_error_json(id, custom_id, "invalid_request",
                            "line " + std::to_string(id.line) + ": " + request.error().message),
           false);
    co_return;
  }
  std::optional<http::Response> response;
  const std::string request_id = "req_" + id.text().substr(std::string_view("batch_req_").size());
  if (stop_ == Stop::kNo) {
    response = co_await answer(*request, request_id);
  }
  if (response) {
    record(batch_answer_json(id, custom_id, request_id, *response), response->status == 200);
  } else if (stop_ == Stop::kCancelled || stop_ == Stop::kExpired) {
    const bool expired = stop_ == Stop::kExpired;
    record(batch_error_json(id, custom_id, expired ? "batch_expired" : "batch_cancelled",
                            expired ? "the completion window ended before this was answered"
                                    : "the batch was cancelled before this was answered"),
           false);
  } else {
    left_ = true;
  }
}

// The answer, or nothing if the run ended before there was one.
Task<std::optional<http::Response>> BatchRun::answer(const BatchRequest& request,
                                                     const std::string& request_id) {
  std::size_t wait_ms = kPollMs;
  for (std::size_t tries = 1;;) {
    http::Request message;
    message.method = "POST";
    message.path = request.url;
    message.headers = {{"Content-Type", "application/json"}};
    message.body = request.body;
    message.id = request_id;
    message.principal = options_.principal;
    LocalExchange exchange(std::move(message), strand_);
    active_.insert(&exchange);
    http::Response response = co_await exchange.answer(handlers_.find(request.url)->second);
    active_.erase(&exchange);
    if (stop_ != Stop::kNo && was_cut(response.status)) {
      co_return std::nullopt;
    }
    const auto rate_ms = exchange.noted(kRateWaitNote);
    const bool displaced = exchange.noted(kDisplacedNote).has_value();
    const bool counts = !rate_ms && !displaced;
    if (!try_again(response.status) || is_final(response) ||
        (counts && tries++ == options_.max_tries)) {
      co_return response;
    }
    if (rate_ms) {
      co_await wait_for_rate(static_cast<std::size_t>(*rate_ms));
    } else if (displaced) {
      co_await wait(kPollMs);
      co_await wait_for_turn();
    } else {
      co_await wait(wait_ms);
      wait_ms = std::min(2 * wait_ms, kLongestWaitMs);
    }
    if (stop_ != Stop::kNo) {
      co_return std::nullopt;
    }
  }
}

Task<void> BatchRun::wait_for_rate(std::size_t milliseconds) {
  // Batches that are all at their rates and take turns must not do so without pause.
  for (std::size_t left = std::min(milliseconds, kLongestWaitMs); left > 0 && stop_ == Stop::kNo;) {
    const std::size_t turn = std::min(left, kTurnMs);
    co_await wait(turn);
    left -= turn;
    if (stop_ == Stop::kNo && options_.on_rate_limit) {
      options_.on_rate_limit();
    }
  }
}

// Lets others go first.
Task<void> BatchRun::wait_for_turn() {
  while (stop_ == Stop::kNo && options_.busy && options_.busy()) {
    co_await sleep(kPollMs);
  }
}

// Waits, but not beyond the end of the run.
Task<void> BatchRun::wait(std::size_t milliseconds) {
  for (std::size_t waited = 0; waited < milliseconds && stop_ == Stop::kNo; waited += kPollMs) {
    co_await sleep(kPollMs);
  }
}

void BatchRun::record(const std::string& line, bool completed) {
  if (options_.may_write) {
    if (Status may = options_.may_write(line.size() + 1); !may) {
      left_ = true;
      return fail(std::move(may).error());
    }
  }
  if (Status status = output_.write(line, completed); !status) {
    left_ = true;
    fail(std::move(status).error());
  }
}

}  // namespace daybreak::api
