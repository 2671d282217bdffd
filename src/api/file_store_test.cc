// SPDX-License-Identifier: Apache-2.0
#include "api/file_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <utility>

#include "access/access_testing.h"
#include "testing/temporary_directory.h"

namespace daybreak::api {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryDirectory;

// Numbers from 1 on: ids that are known beforehand.
std::function<std::uint64_t()> counting() {
  return [next = std::uint64_t{0}]() mutable { return ++next; };
}

constexpr const char* kFirstId = "file-00000000000000010000000000000002";

std::unique_ptr<FileStore> open_store(const TemporaryDirectory& dir) {
  auto store = FileStore::open({.directory = dir.path().string(), .max_bytes = 100, .max_files = 2},
                               counting());
  EXPECT_TRUE(store);
  return *std::move(store);
}

std::size_t entries(const TemporaryDirectory& dir) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir.path()), {}));
}

TEST(FileStore, AnUploadThatCannotBeDescribedLeavesNothing) {
  const TemporaryDirectory dir;
  const auto store = open_store(dir);
  // Where the description would go.
  fs::create_directories(dir / (std::string(kFirstId) + ".json") / "x");
  const auto kept = store->put("bytes", "name", "batch", "owner");
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, Errc::kIo);
  EXPECT_EQ(entries(dir), 1U);
  EXPECT_TRUE(store->grow("x", "owner", 100));  // all of it
  EXPECT_TRUE(store->list("owner").empty());
}

TEST(FileStore, RefusesOneByteAndOneFileTooMany) {
  const TemporaryDirectory dir;
  const auto store = open_store(dir);
  EXPECT_EQ(store->put(std::string(101, 'x'), "a", "batch", "o").error().code,
            Errc::kResourceLimit);
  ASSERT_TRUE(store->put(std::string(60, 'x'), "a", "batch", "o"));
  EXPECT_EQ(store->put(std::string(41, 'x'), "a", "batch", "o").error().code, Errc::kResourceLimit);
  ASSERT_TRUE(store->put(std::string(40, 'x'), "b", "batch", "o"));
  EXPECT_EQ(store->put("", "c", "batch", "o").error().code, Errc::kResourceLimit);
  EXPECT_EQ(entries(dir), 4U);
  const std::string id = store->list("o").front().id;
  EXPECT_EQ(store->remove("another", id).error().code, Errc::kNotFound);
  ASSERT_TRUE(store->remove("o", id));
  EXPECT_EQ(entries(dir), 2U);
  EXPECT_TRUE(store->put("", "c", "batch", "o"));
}

TEST(FileStore, WhatIsBeingWrittenTakesRoom) {
  const TemporaryDirectory dir;
  const auto store = open_store(dir);
  const std::string id = store->new_id();
  store->set_growing(id, "o", 30);
  ASSERT_TRUE(store->grow(id, "o", 40));
  const auto full = store->grow(id, "o", 31);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Errc::kResourceLimit);
  EXPECT_TRUE(
      full.error().message.starts_with("output: this server keeps at most 2 files and 100 "
                                       "bytes (files_mb), found 0 files and 70 bytes"))
      << full.error().message;
  EXPECT_FALSE(store->put(std::string(31, 'x'), "a", "batch", "p"));
  ASSERT_TRUE(store->put(std::string(30, 'x'), "a", "batch", "p"));
  // It becomes a file, and takes the same.
  store->set_growing(id, "o", 0);
  dir.write(id, std::string(70, 'x'));
  ASSERT_TRUE(store->adopt(id, "out", "batch_output", "o"));
  EXPECT_FALSE(store->grow("y", "o", 1));
  ASSERT_TRUE(store->remove("o", id));
  EXPECT_TRUE(store->grow("y", "o", 70));
  EXPECT_FALSE(store->grow("y", "o", 1));
}

TEST(FileStore, AnOwnerHasItsShareAndNobodyElseIsKeptOut) {
  const TemporaryDirectory dir;
  const auto open = [&] {
    return *FileStore::open(
        {.directory = dir.path().string(),
         .max_bytes = 100,
         .max_files = 5,
         .owner_share = {.percent = 50}},
        [n = std::uint64_t{dir.path().string().size()}]() mutable { return ++n; });
  };
  auto store = open();
  EXPECT_FALSE(store->put(std::string(51, 'x'), "a", "batch", "key:1"));
  ASSERT_TRUE(store->put(std::string(30, 'x'), "a", "batch", "key:1"));
  ASSERT_TRUE(store->put("", "b", "batch", "key:1"));
  const auto third = store->put("", "c", "batch", "key:1");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Errc::kResourceLimit);
  EXPECT_EQ(third.error().message,
            "file: a tenant or key has at most 2 files and 50 bytes on this server "
            "(files_owner_percent of all), found 2 files and 30 bytes, 0 bytes more do not fit: "
            "delete some first");
  EXPECT_TRUE(store->grow("out", "key:1", 20));
  EXPECT_FALSE(store->grow("out", "key:1", 1));
  EXPECT_TRUE(store->put(std::string(50, 'y'), "a", "batch", "key:2"));
  EXPECT_FALSE(store->put("y", "a", "batch", "key:3"));
  // Also of what an earlier server has left.
  store = open();
  EXPECT_FALSE(store->put("", "c", "batch", "key:1"));
  EXPECT_FALSE(store->put(std::string(21, 'x'), "a", "batch", ""));
  EXPECT_TRUE(store->put(std::string(20, 'x'), "a", "batch", ""));
}

TEST(FileStore, AFileEndsWhenItWasToAndNotBefore) {
  const TemporaryDirectory dir;
  access::ManualUtc utc;
  const auto open = [&] {
    return *FileStore::open({.directory = dir.path().string(), .max_bytes = 100, .utc = &utc},
                            [n = utc.now()]() mutable { return static_cast<std::uint64_t>(++n); });
  };
  auto store = open();
  const auto nobody = [](std::string_view) { return false; };
  const StoredFile kept = *store->put("stays", "a", "batch", "o");
  const StoredFile file = *store->put(std::string(90, 'x'), "b", "batch", "o", 3600);
  EXPECT_EQ(kept.expires_at, 0);
  EXPECT_NE(kept.json().find(R"("expires_at":null)"), std::string::npos) << kept.json();
  EXPECT_EQ(file.expires_at, file.created_at + 3600);
  const std::string said = R"("expires_at":)" + std::to_string(file.expires_at) + ",";
  EXPECT_NE(file.json().find(said), std::string::npos) << file.json();
  const std::string outcome = store->new_id();
  dir.write(outcome, "12345");
  EXPECT_EQ(store->adopt(outcome, "out", "batch_output", "o", 7200)->expires_at,
            file.created_at + 7200);
  utc.advance_us(3600 * access::kMicrosPerSecond - 1);
  store = open();  // another server knows the end too
  ASSERT_TRUE(store->remove_expired(nobody));
  EXPECT_EQ(store->find("o", file.id)->expires_at, file.expires_at);
  EXPECT_EQ(store->list("o").size(), 3U);
  utc.advance_us(1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(store->find("o", file.id).error().code, Errc::kNotFound);
    EXPECT_EQ(store->content("o", file.id).error().code, Errc::kNotFound);
    EXPECT_EQ(store->remove("o", file.id).error().code, Errc::kNotFound);
    EXPECT_EQ(store->list("o").size(), 2U);
    store = open();
  }
  // What a batch needs stays, and takes room.
  ASSERT_TRUE(store->remove_expired([&](std::string_view id) { return id == file.id; }));
  EXPECT_EQ(entries(dir), 6U);
  EXPECT_FALSE(store->put("1", "c", "batch", "o"));
  ASSERT_TRUE(store->remove_expired(nobody));
  EXPECT_EQ(entries(dir), 4U);
  EXPECT_TRUE(store->put(std::string(90, 'x'), "c", "batch", "o"));
  utc.advance_us(3600 * access::kMicrosPerSecond);
  ASSERT_TRUE(store->remove_expired(nobody));
  EXPECT_EQ(store->find("o", outcome).error().code, Errc::kNotFound);
  EXPECT_EQ(*store->content("o", kept.id), "stays");
}

TEST(OwnerShare, IsRoundedDownButNeverToNothing) {
  const OwnerShare third{.percent = 33};
  EXPECT_EQ(third.of(100, "o"), 33U);
  EXPECT_EQ(third.of(10, "o"), 3U);
  EXPECT_EQ(third.of(2, "o"), 1U);
  EXPECT_EQ(third.of(0, "o"), 0U);
  EXPECT_EQ(third.of(100, ""), 100U);
  EXPECT_EQ(OwnerShare{.percent = 100}.of(~std::uint64_t{0}, "o"), ~std::uint64_t{0});
}

TEST(FileStore, AnotherStoreFindsWhatWasKeptAndOnlyThat) {
  const TemporaryDirectory dir;
  std::string id;
  {
    const auto store = open_store(dir);
    id = store->put("bytes", "\xC3\xA9\xFF\"\n", "batch", "o")->id;
  }
  dir.write("file-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bytes alone");
  dir.write(id + ".json.new", "{");
  const auto store = open_store(dir);
  store->remove_orphans([](std::string_view) { return false; });
  EXPECT_EQ(entries(dir), 2U);
  EXPECT_EQ(*store->content("o", id), "bytes");
  EXPECT_EQ(store->find("o", id)->filename, "\xC3\xA9\xEF\xBF\xBD\"\n");
  for (const char* other : {"", ".", "..", "../x", "file-", kFirstId}) {
    EXPECT_EQ(store->content("o", other).operator bool(), other == id) << other;
  }
}

}  // namespace
}  // namespace daybreak::api
