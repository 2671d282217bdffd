// SPDX-License-Identifier: Apache-2.0
#include "cli/key_options.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/key_report.h"

namespace daybreak::cli {
namespace {

using access::KeySettings;

constexpr access::UtcMicros kNow = 1'000'000'000'000'000;

KeySettings applied(const KeyOptionTexts& texts, KeySettings settings = {}) {
  const Status status = apply_key_options(texts, kNow, settings);
  EXPECT_TRUE(status) << status.error().message;
  return settings;
}

std::string fault(const KeyOptionTexts& texts) {
  KeySettings settings;
  const Status status = apply_key_options(texts, kNow, settings);
  if (status) {
    return "";
  }
  EXPECT_EQ(status.error().code, Errc::kInvalidArgument);
  return status.error().message;
}

TEST(KeyOptions, ChangeWhatIsGivenAndNothingElse) {
  const KeySettings all = applied({{"name", "n"},
                                   {"scopes", "batch,files"},
                                   {"models", "a,b"},
                                   {"expires", "2d"},
                                   {"tenant", "t"},
                                   {"priority", "9"},
                                   {"zero-retention", "on"},
                                   {"requests-per-minute", "1"},
                                   {"tokens-per-minute", "2"},
                                   {"concurrency", "3"},
                                   {"tokens-per-day", "4"},
                                   {"tokens-per-month", "5"},
                                   {"usd-per-month", "12.5"}});
  EXPECT_EQ(all.name, "n");
  EXPECT_EQ(to_string(all.scopes), "batch,files");
  EXPECT_EQ(all.models, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all.expires, kNow + 2 * access::kMicrosPerDay);
  EXPECT_EQ(all.tenant, "t");
  EXPECT_EQ(all.priority, 9);
  EXPECT_TRUE(all.zero_retention);
  EXPECT_EQ(all.limits, (access::KeyLimits{.requests_per_minute = 1,
                                           .tokens_per_minute = 2,
                                           .concurrency = 3,
                                           .tokens_per_day = 4,
                                           .tokens_per_month = 5,
                                           .micro_usd_per_month = 12'500'000}));
  EXPECT_EQ(applied({}, all), all);
  KeySettings expected = all;
  expected.limits.concurrency.reset();
  EXPECT_EQ(applied({{"concurrency", "none"}}, all), expected);
  expected.models.clear();
  expected.expires.reset();
  expected.tenant.clear();
  expected.limits.micro_usd_per_month.reset();
  EXPECT_EQ(applied({{"concurrency", "none"},
                     {"models", "all"},
                     {"expires", "none"},
                     {"tenant", "none"},
                     {"usd-per-month", "none"}},
                    all),
            expected);
  EXPECT_EQ(applied({{"expires", "2027-01-01"}}).expires, *access::parse_utc("2027-01-01"));
}

TEST(KeyOptions, FaultsNameTheOption) {
  EXPECT_EQ(fault({{"concurrency", "-1"}}),
            "--concurrency: expected a whole number of at least 0, found '-1'");
  EXPECT_EQ(fault({{"usd-per-month", "1.2345678"}}),
            "--usd-per-month: expected dollars with at most 6 decimals, such as 0.30, found "
            "'1.2345678'");
  EXPECT_TRUE(fault({{"scopes", "root"}}).starts_with("--scopes: "));
  EXPECT_EQ(fault({{"expires", "2026-13-45"}}),
            "--expires: expected a date (UTC) such as 2026-11-30 or 2026-11-30T08:15:00Z, a time "
            "from now such as 30d, or none, found '2026-13-45'");
  EXPECT_TRUE(fault({{"tokens-per-day", "1e6"}}).starts_with("--tokens-per-day: "));
  EXPECT_TRUE(fault({{"tokens-per-day", ""}}).starts_with("--tokens-per-day: "));
  // Left to validate(), which knows the range.
  EXPECT_FALSE(validate(applied({{"name", "n"}, {"scopes", "admin"}, {"priority", "10"}})));
  EXPECT_FALSE(validate(applied({{"name", "n"}, {"scopes", "admin"}, {"models", "a,"}})));
}

TEST(KeyOptions, Durations) {
  EXPECT_EQ(*parse_duration("90s"), std::chrono::seconds(90));
  EXPECT_EQ(*parse_duration("15m"), std::chrono::minutes(15));
  EXPECT_EQ(*parse_duration("0h"), std::chrono::seconds(0));
  EXPECT_EQ(*parse_duration("30d"), std::chrono::hours(720));
  for (const char* text : {"", "d", "1", "-1d", "1.5h", "1w", "99999999999d", " 1d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(KeyReport, ShowsTheTextOnlyWhenItIsGiven) {
  access::ApiKey key;
  key.id = access::KeyId{3};
  key.prefix = "sk-db-abcdef";
  key.settings = applied({{"name", "n"}, {"scopes", "admin"}, {"expires", "1d"}});
  const auto json = nlohmann::json::parse(key_json(key, kNow, std::nullopt));
  EXPECT_FALSE(json.contains("key"));
  EXPECT_EQ(json["id"], 3);
  EXPECT_EQ(json["state"], "active");
  EXPECT_TRUE(json["limits"]["concurrency"].is_null());
  EXPECT_TRUE(json["last_used"].is_null());
  EXPECT_EQ(nlohmann::json::parse(key_json(key, kNow, kNow))["last_used"],
            access::format_utc(kNow));
  EXPECT_EQ(nlohmann::json::parse(new_key_json({key, "sk"}, kNow))["key"], "sk");
  EXPECT_EQ(key_state(key, kNow + access::kMicrosPerDay), "expired");
  key.revoked = kNow;
  EXPECT_EQ(key_state(key, kNow), "revoked");
  EXPECT_NE(key_table({key}, kNow, {}).find("sk-db-abcdef  revoked"), std::string::npos);
}

TEST(KeyReport, TheTableTellsWhoMayWhatAndForHowLong) {
  access::ApiKey key;
  key.id = access::KeyId{3};
  key.settings = applied({{"name", "n"},
                          {"scopes", "batch,inference"},
                          {"tenant", "team"},
                          {"models", "a,b"},
                          {"priority", "7"},
                          {"expires", "2027-01-02T03:04:05Z"},
                          {"concurrency", "5"}});
  access::ApiKey plain;
  plain.id = access::KeyId{4};
  plain.settings = applied({{"name", "m"}, {"scopes", "inference"}});
  const std::string table =
      key_table({key, plain}, kNow, {{key.id, *access::parse_utc("2026-11-30T08:15:59Z")}});
  const std::size_t second = table.find("     4  ");
  const std::string first = table.substr(0, second);
  for (const char* cell : {"  team  ", "  inference,batch  ", "  a,b  ", "  7  ",
                           "  2027-01-02T03:04Z  ", "  2026-11-30T08:15Z  ", "  5 at once\n"}) {
    EXPECT_NE(first.find(cell), std::string::npos) << cell << table;
  }
  for (const char* cell : {"  -  ", "  all  ", "  0  ", "  none\n"}) {
    EXPECT_NE(table.find(cell, second), std::string::npos) << cell << table;
  }
}

}  // namespace
}  // namespace daybreak::cli
