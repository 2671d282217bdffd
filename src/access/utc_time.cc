// SPDX-License-Identifier: Apache-2.0
#include "access/utc_time.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "base/json_document.h"

namespace daybreak::access {
namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

class SystemUtcClock final : public UtcClock {
 public:
  UtcMicros now() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  }
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b < 0);
}

year_month_day calendar(UtcMicros time) { return sys_days(days(utc_day(time))); }

// Takes exactly `digits` digits and then `end` (unless 0) off the front.
std::optional<unsigned> take(std::string_view& text, std::size_t digits, char end) {
  if (text.size() < digits + (end == 0 ? 0 : 1) || (end != 0 && text[digits] != end)) {
    return std::nullopt;
  }
  unsigned value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  text.remove_prefix(digits + (end == 0 ? 0 : 1));
  return value;
}

std::optional<UtcMicros> take_date(std::string_view& text) {
  const auto y = take(text, 4, '-');
  const auto m = take(text, 2, '-');
  const auto d = take(text, 2, 0);
  if (!y || !m || !d) {
    return std::nullopt;
  }
  const year_month_day date{year(static_cast<int>(*y)), month(*m), day(*d)};
  if (!date.ok() || *y < 1970) {
    return std::nullopt;
  }
  return sys_days(date).time_since_epoch().count() * kMicrosPerDay;
}

// "T08:15:00.123Z".
std::optional<UtcMicros> take_time(std::string_view text) {
  if (!text.starts_with('T') || !text.ends_with('Z')) {
    return std::nullopt;
  }
  text = text.substr(1, text.size() - 2);
  const auto h = take(text, 2, ':');
  const auto m = take(text, 2, ':');
  const auto s = take(text, 2, 0);
  if (!h || !m || !s || *h > 23 || *m > 59 || *s > 59) {
    return std::nullopt;
  }
  UtcMicros micros = 0;
  if (!text.empty()) {
    std::string decimals(text.substr(1));
    if (text.front() != '.' || decimals.empty() || decimals.size() > 6) {
      return std::nullopt;
    }
    decimals.resize(6, '0');
    std::string_view rest = decimals;
    const auto fraction = take(rest, 6, 0);
    if (!fraction) {
      return std::nullopt;
    }
    micros = *fraction;
  }
  return ((std::int64_t{*h} * 60 + *m) * 60 + *s) * kMicrosPerSecond + micros;
}

}  // namespace

const UtcClock& UtcClock::system() {
  static const SystemUtcClock clock;
  return clock;
}

std::int64_t utc_day(UtcMicros time) { return floor_div(time, kMicrosPerDay); }

std::int64_t utc_month(UtcMicros time) {
  const year_month_day date = calendar(time);
  return (int{date.year()} - 1970) * std::int64_t{12} + unsigned{date.month()} - 1;
}

UtcMicros day_start(std::int64_t day_number) { return day_number * kMicrosPerDay; }

UtcMicros month_start(std::int64_t month_number) {
  const auto y = static_cast<int>(floor_div(month_number, 12));
  const auto m = static_cast<unsigned>(month_number - std::int64_t{y} * 12 + 1);
  const year_month_day first{year(1970 + y), month(m), day(1)};
  return sys_days(first).time_since_epoch().count() * kMicrosPerDay;
}

std::string format_utc(UtcMicros time) {
  const year_month_day date = calendar(time);
  const UtcMicros in_day = time - day_start(utc_day(time));
  const std::int64_t seconds = in_day / kMicrosPerSecond;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", int{date.year()},
                     unsigned{date.month()}, unsigned{date.day()}, seconds / 3600,
                     seconds / 60 % 60, seconds % 60, in_day % kMicrosPerSecond);
}

Result<UtcMicros> parse_utc(std::string_view text) {
  std::string_view rest = text;
  if (const auto date = take_date(rest)) {
    if (rest.empty()) {
      return *date;
    }
    if (const auto time = take_time(rest)) {
      return *date + *time;
    }
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("expected a date such as 2026-11-30 or 2026-11-30T08:15:00Z, found '{}'",
                           printable(text))};
}

}  // namespace daybreak::access
