// SPDX-License-Identifier: Apache-2.0
#pragma once

// Usage: what one request used and cost; a row of the ledger.

#include <cstdint>
#include <string>
#include <string_view>

#include "access/api_key.h"
#include "access/utc_time.h"
#include "base/result.h"

namespace daybreak::access {

// How a request ended.
enum class Outcome : std::uint8_t { kStop, kLength, kToolCalls, kCancelled, kError };

// Returns "stop", "length", "tool_calls", "cancelled" or "error"; parse_outcome() reads it back.
[[nodiscard]] std::string_view to_string(Outcome outcome);
[[nodiscard]] Result<Outcome> parse_outcome(std::string_view name);

// Most tokens of one kind in one request.
inline constexpr std::int64_t kMaxRequestTokens = 1'000'000'000;
inline constexpr std::size_t kMaxRequestIdBytes = 128;

struct TokenCounts {
  std::int64_t prompt = 0;      // includes cached
  std::int64_t cached = 0;      // of the prompt, read from a cache
  std::int64_t completion = 0;  // includes reasoning
  std::int64_t reasoning = 0;   // of the completion
  friend bool operator==(const TokenCounts&, const TokenCounts&) = default;

  // What rates and quotas count.
  [[nodiscard]] std::int64_t total() const { return prompt + completion; }
};

struct Usage {
  UtcMicros time = 0;
  std::string request_id;  // unique in a ledger
  KeyId key{};
  std::string model;
  TokenCounts tokens;
  std::int64_t cost_micro_usd = 0;
  Outcome outcome = Outcome::kStop;
  bool stream = false;
  friend bool operator==(const Usage&, const Usage&) = default;
};

// Errors: kInvalidArgument unless every count is in [0, kMaxRequestTokens] and the parts are no
// larger than their wholes.
[[nodiscard]] Status validate(const TokenCounts& tokens);
// Errors: also a request id or model that validate_name() refuses, a time or cost out of range.
[[nodiscard]] Status validate(const Usage& usage);

}  // namespace daybreak::access
