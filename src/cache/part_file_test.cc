// SPDX-License-Identifier: Apache-2.0
#include "cache/part_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "cache/disk_store_testing.h"
#include "testing/paths.h"

namespace daybreak::cache {
namespace {

using testing::Bytes;
constexpr StoreId kFileId = {0x1111, 0x2222};

class PartFile : public ::testing::Test {
 protected:
  PartFile() {
    for (std::size_t i = 0; i < payload_.size(); ++i) {
      payload_[i] = static_cast<std::byte>(i * 7);
    }
  }
  PartHeader write() {
    auto written = write_part_file(path_, kFileId, header_, payload_);
    EXPECT_TRUE(written) << written.error().message;
    return written ? *written : PartHeader{};
  }
  Bytes bytes() {
    std::ifstream file(path_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto view = std::as_bytes(std::span(text));
    return {view.begin(), view.end()};
  }
  void replace(std::span<const std::byte> bytes) {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  Status read(const PartHeader& expected, const StoreId& id = kFileId) {
    Bytes out(expected.bytes);
    Status status = read_part_payload(path_, id, expected, out);
    if (status) {
      EXPECT_EQ(out, payload_);
    }
    return status;
  }

  testing::TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_.path() / "part";
  Bytes payload_ = Bytes(77);
  PartHeader header_{.part = Part::kCheckpoint,
                     .hash = {3, 4},
                     .parent = BlockHash{5, 6},
                     .depth = 2,
                     .scope = "owner\nsalt"};
};

TEST_F(PartFile, GivesBackWhatWasWritten) {
  const PartHeader written = write();
  EXPECT_EQ(written.bytes, payload_.size());
  const auto header = read_part_header(path_, kFileId);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(*header, written);
  EXPECT_TRUE(read(written));
  EXPECT_EQ(bytes().size(), part_file_bytes(written));
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
}

TEST_F(PartFile, AnEmptyPayloadIsOne) {
  payload_.clear();
  EXPECT_TRUE(read(write()));
}

TEST_F(PartFile, EveryFlippedBitIsRefused) {
  const PartHeader written = write();
  const Bytes good = bytes();
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[at] ^= static_cast<std::byte>(1U << bit);
      replace(bad);
      EXPECT_FALSE(read(written)) << "byte " << at << " bit " << bit;
      const bool in_payload = at >= kPartHeaderBytes + header_.scope.size();
      EXPECT_EQ(read_part_header(path_, kFileId).has_value(), in_payload) << at;
    }
  }
}

TEST_F(PartFile, EveryOtherLengthIsRefused) {
  const PartHeader written = write();
  const Bytes good = bytes();
  for (std::size_t size = 0; size <= good.size() + 9; ++size) {
    if (size != good.size()) {
      Bytes bad = good;
      bad.resize(size);
      replace(bad);
      EXPECT_FALSE(read(written)) << size;
      EXPECT_FALSE(read_part_header(path_, kFileId)) << size;
    }
  }
  std::filesystem::remove(path_);
  EXPECT_EQ(read(written).error().code, Errc::kNotFound);
}

TEST_F(PartFile, AnotherPartInItsPlaceIsRefused) {
  const PartHeader written = write();
  EXPECT_TRUE(read(written));
  const auto refused = [&](auto change) {
    PartHeader other = written;
    change(other);
    const Status status = read(other);
    return !status && status.error().code == Errc::kCorrupt;
  };
  EXPECT_TRUE(refused([](PartHeader& h) { h.hash.low = 9; }));
  EXPECT_TRUE(refused([](PartHeader& h) { h.part = Part::kBlock; }));
  EXPECT_TRUE(refused([](PartHeader& h) { h.parent->high = 9; }));
  EXPECT_TRUE(refused([](PartHeader& h) { h.depth = 3; }));
  EXPECT_TRUE(refused([](PartHeader& h) { h.scope = "owner\nsalz"; }));
  EXPECT_TRUE(refused([](PartHeader& h) { h.checksum ^= 1; }));
  EXPECT_EQ(read(written, {kFileId[0], kFileId[1] + 1}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(read(written, {kFileId[0] + 1, kFileId[1]}).error().code, Errc::kInvalidArgument);
}

TEST_F(PartFile, AWriteThatFailsLeavesNothing) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const std::uint64_t whole = part_file_bytes(write());
  std::filesystem::remove(path_);
  for (const std::uint64_t room : {std::uint64_t{0}, std::uint64_t{50}, whole - 1}) {
    rlimit less = before;
    less.rlim_cur = room;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
    const auto written = write_part_file(path_, kFileId, header_, payload_);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(written) << room;
    EXPECT_EQ(written.error().code, Errc::kIo);
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
  }
  ::signal(SIGXFSZ, SIG_DFL);
}

// A file that another program has written, from the description alone.
TEST_F(PartFile, TheFormIsTheOneDescribed) {
  path_ = daybreak::testing::source_path("fuzz/corpus/part_file/block");
  const PartHeader expected{.part = Part::kBlock,
                            .hash = {3, 4},
                            .parent = BlockHash{5, 6},
                            .depth = 2,
                            .scope = "owner\nsalt",
                            .bytes = 8,
                            .checksum = 0xe4ec45d027630e61U};
  const auto header = read_part_header(path_, {1, 2});
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(*header, expected);
  Bytes out(8);
  ASSERT_TRUE(read_part_payload(path_, {1, 2}, expected, out));
  EXPECT_EQ(std::memcmp(out.data(), "payload!", 8), 0);
}

TEST_F(PartFile, StoreIdsTellTextsApart) {
  EXPECT_EQ(store_id_of("a"), store_id_of("a"));
  EXPECT_NE(store_id_of("a"), store_id_of("b"));
  // SHA-256 of "abc" begins with ba7816bf 8f01cfea 414140de 5dae2223 (FIPS 180-4).
  EXPECT_EQ(store_id_of("abc"), (StoreId{0xeacf018fbf1678baU, 0x2322ae5dde404141U}));
}

}  // namespace
}  // namespace daybreak::cache
