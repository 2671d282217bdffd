// SPDX-License-Identifier: Apache-2.0
#include "access/utc_time.h"

#include <gtest/gtest.h>

namespace daybreak::access {
namespace {

TEST(UtcTime, ReadsWhatItWrites) {
  for (const UtcMicros time : {UtcMicros{0}, UtcMicros{1}, UtcMicros{1'000'000'000'123'456},
                               kMaxUtcMicros, UtcMicros{951'868'799'999'999}}) {
    const auto back = parse_utc(format_utc(time));
    ASSERT_TRUE(back) << format_utc(time);
    EXPECT_EQ(*back, time);
  }
  EXPECT_EQ(format_utc(1'000'000'000'123'456), "2001-09-09T01:46:40.123456Z");
  EXPECT_EQ(format_utc(kMaxUtcMicros), "9999-12-31T23:59:59.999999Z");
}

TEST(UtcTime, KnowsLeapYearsAndMonths) {
  EXPECT_EQ(*parse_utc("2024-02-29"), *parse_utc("2024-03-01") - kMicrosPerDay);
  EXPECT_FALSE(parse_utc("2026-02-29"));
  EXPECT_FALSE(parse_utc("2100-02-29"));
  const UtcMicros last = *parse_utc("2026-11-30T23:59:59.999999Z");
  EXPECT_EQ(utc_month(last) + 1, utc_month(last + 1));
  EXPECT_EQ(utc_day(last) + 1, utc_day(last + 1));
  EXPECT_EQ(month_start(utc_month(last)), *parse_utc("2026-11-01"));
  EXPECT_EQ(month_start(utc_month(last) + 1), *parse_utc("2026-12-01"));
  EXPECT_EQ(month_start(utc_month(last) + 2), *parse_utc("2027-01-01"));
  EXPECT_EQ(day_start(utc_day(last)), *parse_utc("2026-11-30"));
  EXPECT_EQ(utc_day(-1), -1);
}

TEST(UtcTime, RefusesOtherTexts) {
  for (const char* text :
       {"", "2026", "2026-1-01", "2026-13-01", "2026-00-01", "2026-01-32", "1969-12-31",
        "2026-01-01T", "2026-01-01T00:00:00", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567Z",
        "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+00:00", "+026-01-01", "2026-01-01Z"}) {
    const auto parsed = parse_utc(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidArgument);
  }
  EXPECT_EQ(*parse_utc("2026-01-01T00:00:00.5Z"), *parse_utc("2026-01-01") + 500'000);
}

}  // namespace
}  // namespace daybreak::access
