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
  const engine::MayKeepFn may = may_keep(policy);
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

TEST(ServerAccess, WithoutKeysEverythingMayBeKept) {
  Log log({.sink = [](std::string_view) {}});
  CountingSlots slots;
  EXPECT_EQ(may_keep(nullptr), nullptr);
  key_poll(nullptr, slots, log)();
  EXPECT_EQ(slots.tasks, 0);
}

}  // namespace
}  // namespace daybreak::cli
