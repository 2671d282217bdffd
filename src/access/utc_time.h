// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calendar time for what outlives the process: when keys expire, when usage happened, which day and
// month it counts towards. Always UTC; a Clock (base/clock.h) measures durations.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak::access {

// Microseconds since 1970-01-01T00:00:00Z, without leap seconds.
using UtcMicros = std::int64_t;

inline constexpr UtcMicros kMicrosPerSecond = 1'000'000;
inline constexpr UtcMicros kMicrosPerDay = 86'400 * kMicrosPerSecond;
// The last microsecond of the year 9999, the last one format_utc() can write.
inline constexpr UtcMicros kMaxUtcMicros = 253'402'300'799'999'999;

class UtcClock {
 public:
  virtual ~UtcClock() = default;
  // May jump either way, as the machine's time is set. Thread-safe.
  [[nodiscard]] virtual UtcMicros now() const = 0;

  // Returns the machine's time; lives for the whole process.
  [[nodiscard]] static const UtcClock& system();
};

// Days since 1970-01-01, and months since January 1970.
[[nodiscard]] std::int64_t utc_day(UtcMicros time);
[[nodiscard]] std::int64_t utc_month(UtcMicros time);
// Returns the first microsecond of that day or month.
[[nodiscard]] UtcMicros day_start(std::int64_t day);
[[nodiscard]] UtcMicros month_start(std::int64_t month);

// Returns "2026-11-30T08:15:00.123456Z". REQUIRES: 0 <= time <= kMaxUtcMicros.
[[nodiscard]] std::string format_utc(UtcMicros time);

// Reads "2026-11-30" (its first microsecond), "2026-11-30T08:15:00Z" or the same with up to six
// decimals of the second. Errors: kInvalidArgument for anything else, or a day that is in no
// calendar.
[[nodiscard]] Result<UtcMicros> parse_utc(std::string_view text);

}  // namespace daybreak::access
