// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tests of the disk store share: a directory of their own, parts with bytes that tell what
// they are, a store that is waited for. Test code only.

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cache/disk_store.h"
#include "cache/prefix_tree_testing.h"

namespace daybreak::cache::testing {

// Removed in the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "daybreak-cache-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // The parts in it, unfinished ones too.
  [[nodiscard]] std::vector<std::filesystem::path> files(std::string_view ending = "") const {
    std::vector<std::filesystem::path> out;
    for (const auto& one : std::filesystem::directory_iterator(path_ / "prefix-cache")) {
      const std::string name = one.path().filename().string();
      if (name != "lock" && name != "store" && name.ends_with(ending)) {
        out.push_back(one.path());
      }
    }
    return out;
  }

 private:
  std::filesystem::path path_;
};

using Bytes = std::vector<std::byte>;
using BytesPtr = std::shared_ptr<const Bytes>;

// A prompt whose blocks are the letters of `path`, in memory.
struct Beginning {
  Beginning(std::string_view path, std::string scope, std::size_t block_bytes,
            std::size_t checkpoint_bytes)
      : chain(BlockHasher(BlockHasher::Key{}).chain(scope, ids_of(path))), scope(std::move(scope)) {
    for (std::size_t i = 0; i < path.size(); ++i) {
      blocks.push_back(part(chain[i], block_bytes, 'B'));
    }
    checkpoint = part(chain.back(), checkpoint_bytes, 'C');
  }
  static BytesPtr part(const BlockHash& hash, std::size_t size, char kind) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] = static_cast<std::byte>(hash.low >> (i % 8 * 8)) ^
                 static_cast<std::byte>(static_cast<std::size_t>(kind) + i);
    }
    return std::make_shared<const Bytes>(std::move(bytes));
  }
  [[nodiscard]] Spill spill(std::size_t first) const {
    Spill out;
    out.chain = chain;
    out.first = first;
    out.scope = scope;
    for (std::size_t i = first; i < blocks.size(); ++i) {
      out.blocks.push_back({blocks[i], std::span(*blocks[i])});
    }
    out.checkpoint = {checkpoint, std::span(*checkpoint)};
    return out;
  }

  std::vector<BlockHash> chain;
  std::string scope;
  std::vector<BytesPtr> blocks;
  BytesPtr checkpoint;
};

class DiskStoreFixture : public ::testing::Test {
 protected:
  static constexpr std::size_t kBlockBytes = 24;
  static constexpr std::size_t kCheckpointBytes = 40;

  DiskStoreOptions options() {
    return {.directory = directory_.path(),
            .max_bytes = 1 << 20,
            .keep = Keep::kParts,
            .id = {1, 2},
            .block_bytes = kBlockBytes,
            .checkpoint_bytes = kCheckpointBytes,
            .log = &log_};
  }
  std::unique_ptr<DiskStore> open(const DiskStoreOptions& options) {
    auto store = DiskStore::open(options);
    EXPECT_TRUE(store) << store.error().message;
    if (!store) {
      return nullptr;
    }
    (*store)->start([this] {
      {
        const std::lock_guard lock(mutex_);
      }
      changed_.notify_all();
    });
    return *std::move(store);
  }
  static Beginning beginning(std::string_view path, std::string scope = "") {
    return {path, std::move(scope), kBlockBytes, kCheckpointBytes};
  }
  template <class Done>
  void wait(const Done& done) {
    std::unique_lock lock(mutex_);
    while (!done()) {
      changed_.wait_for(lock, std::chrono::milliseconds(2));
    }
  }
  // Stores it, whatever comes of that.
  void put(DiskStore& store, const Beginning& what) {
    ASSERT_TRUE(store.spill(what.spill(store.known(what.chain))));
    settle(store);
  }
  void settle(const DiskStore& store) {
    wait([&] { return store.stats().queued == 0; });
  }
  // Loads blocks [first, all) and the checkpoint and checks them; false: that failed.
  bool get(DiskStore& store, const Beginning& what, std::size_t first = 0) {
    auto memory = std::make_shared<std::vector<Bytes>>();
    LoadTargets targets;
    for (std::size_t i = first; i < what.blocks.size(); ++i) {
      memory->emplace_back(kBlockBytes);
    }
    memory->emplace_back(kCheckpointBytes);
    for (std::size_t i = 0; i + 1 < memory->size(); ++i) {
      targets.blocks.emplace_back((*memory)[i]);
    }
    targets.checkpoint = memory->back();
    targets.memory = memory;
    const auto load = store.load(what.chain, first, std::move(targets));
    if (load == nullptr) {
      return false;
    }
    wait([&] { return load->state() != DiskLoad::State::kWaiting; });
    if (load->state() == DiskLoad::State::kFailed) {
      return false;
    }
    for (std::size_t i = first; i < what.blocks.size(); ++i) {
      EXPECT_EQ((*memory)[i - first], *what.blocks[i]);
    }
    EXPECT_EQ(memory->back(), *what.checkpoint);
    return true;
  }
  [[nodiscard]] std::string logged() {
    const std::lock_guard lock(log_mutex_);
    return lines_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::mutex log_mutex_;
  std::string lines_;
  Log log_{{.sink = [this](std::string_view line) {
    const std::lock_guard lock(log_mutex_);
    lines_ += std::string(line) + "\n";
  }}};
  TemporaryDirectory directory_;
};

}  // namespace daybreak::cache::testing
