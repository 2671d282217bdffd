// SPDX-License-Identifier: Apache-2.0
#include "loadgen/token_ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "loadgen/answer_timer.h"

namespace daybreak::loadgen {
namespace {

constexpr std::size_t kShort = 16;  // words
constexpr std::size_t kLong = 144;

// Sends one request and waits for its end.
Result<RequestRecord> ask(HttpStreams& streams, const Target& target, std::string_view prompt,
                          const std::function<bool()>& interrupted) {
  constexpr std::chrono::milliseconds kPoll{50};
  const Clock& clock = Clock::steady();
  AnswerTimer timer(clock.now());
  RequestRecord record;
  bool ended = false;
  DAYBREAK_CHECK_OK(streams.start(
      body_of(target, prompt, 1), target.timeout,
      [&](std::string_view bytes) { return timer.take(bytes, clock.now()); },
      [&](const Result<telemetry::PostReply>& reply) {
        std::move(timer).finish(reply, clock.now(), record);
        ended = true;
      }));
  while (!ended) {
    streams.poll(kPoll);
    if (interrupted()) {
      return Error{Errc::kCancelled, "interrupted before the first request was answered"};
    }
  }
  return record;
}

}  // namespace

std::size_t TokenRatio::words_for(std::size_t tokens) const {
  const double words = (static_cast<double>(tokens) - added_tokens) / tokens_per_word;
  return static_cast<std::size_t>(std::max(1.0, std::round(words)));
}

Result<TokenRatio> learn_ratio(const Target& target, const PromptWriter& writer,
                               const std::function<bool()>& interrupted) {
  DAYBREAK_TRY(const auto streams, connect(target, 1));
  std::array<std::optional<double>, 2> tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // Texts of their own, so that no request of the run finds them cached.
    const PromptPlan plan{
        .blocks = {}, .tail = ~std::uint64_t{0} - i, .words = i == 0 ? kShort : kLong};
    DAYBREAK_TRY(const RequestRecord record,
                 ask(*streams, target, writer.write(plan), interrupted));
    if (record.failed()) {
      return Error{Errc::kUnavailable, "the request before the run failed: " + record.error};
    }
    if (record.counted_by_server) {
      tokens[i] = static_cast<double>(record.input_tokens);
    }
  }
  TokenRatio out;
  if (tokens[0] && tokens[1] && *tokens[1] > *tokens[0]) {
    out.tokens_per_word = (*tokens[1] - *tokens[0]) / static_cast<double>(kLong - kShort);
    out.added_tokens = std::max(0.0, *tokens[0] - out.tokens_per_word * double{kShort});
  }
  return out;
}

}  // namespace daybreak::loadgen
