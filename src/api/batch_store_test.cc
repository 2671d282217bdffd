// SPDX-License-Identifier: Apache-2.0
#include "api/batch_store.h"

#include <gtest/gtest.h>

#include "testing/temporary_directory.h"

namespace daybreak::api {
namespace {

using testing::TemporaryDirectory;

std::string id_of(std::size_t number) {
  const std::string digits = std::to_string(number);
  return "batch_" + std::string(32 - digits.size(), '0') + digits;
}

// Created at second `number`.
BatchRecord batch(std::size_t number, const std::string& owner, BatchStatus status) {
  BatchRecord record;
  record.id = id_of(number);
  record.owner = owner;
  record.status = status;
  record.time(BatchTime::kCreated) = static_cast<std::int64_t>(number);
  return record;
}

std::unique_ptr<BatchStore> store_in(const TemporaryDirectory& dir, OwnerShare share = {}) {
  return *BatchStore::open(dir.path().string(), share);
}

TEST(BatchStore, OneOwnerDoesNotPushOutWhatAnotherHasFinished) {
  const TemporaryDirectory dir;
  const auto store = store_in(dir);
  std::size_t next = 1;
  // The oldest of all.
  ASSERT_TRUE(store->add(batch(next++, "key:1", BatchStatus::kCompleted)));
  ASSERT_TRUE(store->add(batch(next++, "key:1", BatchStatus::kInProgress)));
  while (next <= kMaxBatches + 5) {
    ASSERT_TRUE(store->add(batch(next++, "key:2", BatchStatus::kCompleted)));
  }
  EXPECT_EQ(store->list("key:1").size(), 2U);
  EXPECT_EQ(store->list("key:2").size(), kMaxBatches - 2);
  EXPECT_EQ(store->list("key:2").back().id, id_of(8));
  // The same after a restart: what was forgotten is not on the disk.
  EXPECT_EQ(store_in(dir)->list("key:2").size(), kMaxBatches - 2);
}

TEST(BatchStore, OfTwoWhoHaveAsManyTheOldestGoes) {
  const TemporaryDirectory dir;
  const auto store = store_in(dir);
  for (std::size_t i = 1; i <= kMaxBatches; ++i) {
    ASSERT_TRUE(store->add(batch(i, i % 2 == 0 ? "a" : "b", BatchStatus::kFailed)));
  }
  ASSERT_TRUE(store->add(batch(kMaxBatches + 1, "c", BatchStatus::kCompleted)));
  EXPECT_FALSE(store->find(id_of(1)));
  ASSERT_TRUE(store->add(batch(kMaxBatches + 2, "c", BatchStatus::kCompleted)));
  EXPECT_FALSE(store->find(id_of(2)));
  EXPECT_TRUE(store->find(id_of(3)));
}

TEST(BatchStore, AnOwnerHasItsShareOfUnfinishedBatches) {
  const TemporaryDirectory dir;
  const auto store = store_in(dir, {.percent = 3});
  std::size_t next = 1;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store->add(batch(next++, "key:1", BatchStatus::kValidating)));
  }
  const auto refused = store->add(batch(next, "key:1", BatchStatus::kValidating));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kResourceLimit);
  EXPECT_EQ(refused.error().message,
            "batches: at most 3 of a tenant or key can be unfinished (files_owner_percent), found "
            "3, wait for one or cancel it");
  ASSERT_TRUE(store->add(batch(next++, "key:2", BatchStatus::kValidating)));
  ASSERT_TRUE(store->update(id_of(1), [](BatchRecord& one) { one.status = BatchStatus::kFailed; }));
  ASSERT_TRUE(store->add(batch(next++, "key:1", BatchStatus::kValidating)));
  EXPECT_EQ(store->unfinished().size(), 4U);
  // Nobody's may be all.
  while (next <= kMaxUnfinishedBatches + 1) {
    ASSERT_TRUE(store->add(batch(next++, "", BatchStatus::kValidating)));
  }
  EXPECT_EQ(store->add(batch(next, "", BatchStatus::kValidating)).error().message,
            "batches: at most 100 can be unfinished, wait for one or cancel it");
}

}  // namespace
}  // namespace daybreak::api
