// SPDX-License-Identifier: Apache-2.0
#include "cli/server_access.h"

#include <gtest/gtest.h>

#include <utility>

#include "access/access_testing.h"
#include "access/key_store.h"
#include "testing/temporary_directory.h"

namespace daybreak::cli {
namespace {

// Counts tasks, of which it refuses as many as it is told.
class CountingSlots final : public engine::SlotControl {
 public:
  Status between_steps(Task /*task*/) override {
    if (refuse > 0) {
      --refuse;
      return Error{Errc::kResourceLimit, "full"};
    }
    ++tasks;
    return ok();
  }
  int refuse = 0;
  int tasks = 0;
};

TEST(ServerAccess, AnOpenAddressWithoutKeysIsWarnedOfOnce) {
  const auto said = [](ServerConfig config, bool loopback) {
    config.host = "0.0.0.0";
    std::string out;
    Log log({.sink = [&out](std::string_view line) { out += std::string(line) + "\n"; }});
    warn_if_open(config, loopback, log);
    return out;
  };
  const std::string warning = said({}, false);
  for (const char* part : {"no API keys", "0.0.0.0", "access_db", "tls_client_ca"}) {
    EXPECT_NE(warning.find(part), std::string::npos) << warning;
  }
  EXPECT_EQ(warning.find('\n'), warning.size() - 1);
  EXPECT_EQ(said({}, true), "");
  ServerConfig keys;
  keys.access_db = "a.db";
  EXPECT_EQ(said(keys, false), "");
  ServerConfig certificates;
  certificates.tls_client_ca = "ca.pem";
  EXPECT_EQ(said(certificates, false), "");
}

TEST(ServerAccess, WhatIsKeptIsLookedAtWhenKeysHaveChanged) {
  const testing::TemporaryDirectory dir;
  const std::filesystem::path db = dir / "access.db";
  const auto keys = *access::KeyStore::open(
      {.database = db, .pepper = {}, .missing = access::Database::Missing::kCreate});
  ASSERT_TRUE(keys->create(access::test_settings()));
  ServerConfig config;
  config.access_db = db;
  const std::shared_ptr<access::AccessPolicy> policy = *open_access(config, "k3");
  Log log({.sink = [](std::string_view) {}});
  CountingSlots slots;
  const engine::OwnerValidFn may = owner_valid(policy);
  const auto poll = key_poll(policy.get(), slots, log);
  poll();
  EXPECT_EQ(slots.tasks, 0);
  EXPECT_TRUE(may("key:1\n"));
  EXPECT_TRUE(may("key:1\nsalt"));
  EXPECT_FALSE(may("key:2\n"));
  EXPECT_FALSE(may("\nkey:1"));
  ASSERT_TRUE(keys->revoke(access::KeyId{1}));
  slots.refuse = 2;
  for (const int tasks : {0, 0, 1, 1}) {
    poll();
    EXPECT_EQ(slots.tasks, tasks);
  }
  EXPECT_FALSE(may("key:1\n"));
}

TEST(ServerAccess, WhatIsKeptIsLookedAtWhenAKeyHasExpired) {
  const testing::TemporaryDirectory dir;
  const std::filesystem::path db = dir / "access.db";
  access::ManualUtc utc("2026-11-30T12:00:00Z");
  access::AccessOptions options;
  options.keys = *access::KeyStore::open(
      {.database = db, .pepper = {}, .missing = access::Database::Missing::kCreate, .clock = &utc});
  options.ledger = *access::Ledger::open({.database = db});
  options.utc = &utc;
  for (const char* expires :
       {"2026-11-30T11:00:00Z", "2026-11-30T12:00:10Z", "2026-11-30T12:00:20Z"}) {
    access::KeySettings settings = access::test_settings();
    settings.expires = *access::parse_utc(expires);
    ASSERT_TRUE(options.keys->create(settings));
  }
  const std::shared_ptr<access::AccessPolicy> policy =
      *access::AccessPolicy::create(std::move(options));
  Log log({.sink = [](std::string_view) {}});
  CountingSlots slots;
  const engine::OwnerValidFn may = owner_valid(policy);
  const auto poll = key_poll(policy.get(), slots, log);
  struct Step {
    const char* now;
    int refuse;
    int tasks;
  };
  for (const Step& step : {Step{"2026-11-30T12:00:09Z", 0, 0},
                           {"2026-11-30T12:00:10Z", 1, 0},
                           {"2026-11-30T12:00:10Z", 0, 1},
                           {"2026-11-30T12:00:11Z", 0, 1},
                           {"2026-11-30T12:00:21Z", 0, 2},
                           {"2026-11-30T12:00:30Z", 0, 2}}) {
    utc.set(step.now);
    slots.refuse = step.refuse;
    poll();
    EXPECT_EQ(slots.tasks, step.tasks) << step.now;
  }
  EXPECT_FALSE(may("key:2\n"));
}

TEST(ServerAccess, PricesThatAreNotThereAreNamedWithTheirSetting) {
  const testing::TemporaryDirectory dir;
  ServerConfig config;
  config.access_db = dir / "access.db";
  config.prices = dir.file("none.yaml");
  EXPECT_EQ(read_prices(config, "k3").error().message,
            "prices: expected a file of prices, found nothing at '" + config.prices + "'");
  config.prices = dir.path().string();
  EXPECT_EQ(read_prices(config, "k3").error().message,
            "prices: expected a file of prices, found something else at '" + config.prices + "'");
}

TEST(ServerAccess, WithoutKeysEverythingMayBeKept) {
  Log log({.sink = [](std::string_view) {}});
  CountingSlots slots;
  EXPECT_EQ(owner_valid(nullptr), nullptr);
  key_poll(nullptr, slots, log)();
  EXPECT_EQ(slots.tasks, 0);
}

}  // namespace
}  // namespace daybreak::cli
