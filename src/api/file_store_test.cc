// SPDX-License-Identifier: Apache-2.0
#include "api/file_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <utility>

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
  EXPECT_EQ(store->room(), 100U);
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
