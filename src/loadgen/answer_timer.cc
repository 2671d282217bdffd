// SPDX-License-Identifier: Apache-2.0
#include "loadgen/answer_timer.h"

#include <fmt/format.h>

#include <utility>

namespace daybreak::loadgen {
namespace {

constexpr int kOk = 200;

std::string kind_of(const Error& error) {
  return error.code == Errc::kDeadline ? "timeout" : "connection";
}

}  // namespace

bool AnswerTimer::take(std::string_view bytes, Clock::TimePoint now) {
  const std::size_t before = reader_.pieces();
  read_ = reader_.take(bytes);
  last_bytes_ = now;
  // Pieces that arrive together are no time apart.
  for (std::size_t piece = before; piece < reader_.pieces(); ++piece) {
    const double seconds = seconds_between(last_piece_, now);
    if (piece == 0) {
      first_seconds_ = seconds;
    } else {
      itl_seconds_.push_back(seconds);
    }
    last_piece_ = now;
  }
  return read_.has_value();
}

void AnswerTimer::finish(const Result<telemetry::PostReply>& reply, Clock::TimePoint now,
                         RequestRecord& record) && {
  record.latency_seconds = seconds_between(sent_, now);
  if (!read_) {
    record.error_kind = "stream";
    record.error = read_.error().message;
    return;
  }
  if (!reply) {
    record.error_kind = kind_of(reply.error());
    record.error = reply.error().message;
    return;
  }
  if (reply->status != kOk) {
    record.error_kind = "http_" + std::to_string(reply->status);
    record.error = fmt::format("HTTP {}: {}", reply->status, exam::error_message(reply->body));
    return;
  }
  const std::size_t pieces = reader_.pieces();
  const Result<exam::Answer> answer = std::move(reader_).finish();
  if (!answer) {
    record.error_kind = "stream";
    record.error = answer.error().message;
    return;
  }
  record.counted_by_server = answer->prompt_tokens && answer->completion_tokens;
  record.input_tokens = answer->prompt_tokens.value_or(record.asked_input);
  record.output_tokens = answer->completion_tokens.value_or(pieces);
  record.cached_tokens = answer->cached_tokens;
  // The end is the last byte, not when the client came to look at the closed stream.
  record.times.e2el_seconds = seconds_between(sent_, last_bytes_);
  record.latency_seconds = record.times.e2el_seconds;
  record.times.ttft_seconds = pieces > 0 ? first_seconds_ : record.times.e2el_seconds;
  if (record.output_tokens > 1) {
    record.times.tpot_seconds = (record.times.e2el_seconds - record.times.ttft_seconds) /
                                static_cast<double>(record.output_tokens - 1);
  }
  record.itl_seconds = std::move(itl_seconds_);
}

}  // namespace daybreak::loadgen
