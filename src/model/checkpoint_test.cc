// SPDX-License-Identifier: Apache-2.0
#include "model/checkpoint.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "model/safetensors_builder.h"

namespace daybreak::model {
namespace {

std::string index_json(const std::vector<std::pair<std::string, std::string>>& map) {
  std::string text = "{\"metadata\":{\"total_size\":32},\"weight_map\":{";
  for (std::size_t i = 0; i < map.size(); ++i) {
    text += (i == 0 ? "\"" : ",\"") + map[i].first + "\":\"" + map[i].second + "\"";
  }
  return text + "}}";
}

// Two shards: a, c in the first, b in the second; 32 bytes of tensors.
void write_two_shards(const TemporaryDirectory& dir) {
  dir.write("s1.safetensors", SafetensorsBuilder()
                                  .add("a", DType::kBf16, {2, 3}, '\2')
                                  .add("c", DType::kU8, {4}, '\3')
                                  .bytes());
  dir.write("s2.safetensors", SafetensorsBuilder().add("b", DType::kF32, {4}, '\4').bytes());
  dir.write(
      "model.safetensors.index.json",
      index_json({{"a", "s1.safetensors"}, {"c", "s1.safetensors"}, {"b", "s2.safetensors"}}));
}

TEST(Checkpoint, OpensASingleFile) {
  const TemporaryDirectory dir;
  dir.write("model.safetensors", SafetensorsBuilder().add("w", DType::kBf16, {2, 3}, '\7').bytes());
  const auto checkpoint = Checkpoint::open(dir.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->tensor_count(), 1u);
  EXPECT_EQ(checkpoint->shard_count(), 1u);
  EXPECT_EQ(checkpoint->data_bytes(), 12u);
  const auto view = checkpoint->tensor("w", {DType::kF32, DType::kBf16}, {2, 3});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->bytes.size(), 12u);
  EXPECT_EQ(view->bytes[11], std::byte{7});
  EXPECT_EQ(checkpoint->file_of("w"), "model.safetensors");
}

TEST(Checkpoint, OpensShardsNamedByTheIndex) {
  const TemporaryDirectory dir;
  write_two_shards(dir);
  auto opened = Checkpoint::open(dir.path());
  ASSERT_TRUE(opened) << opened.error().message;
  const Checkpoint checkpoint = *std::move(opened);
  EXPECT_EQ(checkpoint.names(), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(checkpoint.shard_count(), 2u);
  EXPECT_EQ(checkpoint.shard_name(1), "s2.safetensors");
  EXPECT_EQ(checkpoint.file_of("b"), "s2.safetensors");
  EXPECT_EQ(checkpoint.file_of("zz"), "");
  EXPECT_EQ(checkpoint.tensor("c")->bytes[0], std::byte{3});
  EXPECT_TRUE(checkpoint.contains("a"));
  EXPECT_FALSE(checkpoint.contains("aa"));
  EXPECT_EQ(checkpoint.data_bytes(), 32u);
  EXPECT_EQ(checkpoint.file_bytes(), checkpoint.shard_bytes(0) + checkpoint.shard_bytes(1));
}

TEST(Checkpoint, AMisfitNamesFileTensorExpectedAndFound) {
  const TemporaryDirectory dir;
  write_two_shards(dir);
  const auto checkpoint = Checkpoint::open(dir.path());
  ASSERT_TRUE(checkpoint);
  const auto shape = checkpoint->tensor("a", {DType::kBf16, DType::kF32}, {3, 2});
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error(),
            (Error{Errc::kCorrupt, (dir.path() / "s1.safetensors").string() +
                                       ": tensor 'a': config.json asks for BF16 or F32[3,2], the "
                                       "file has BF16[2,3]"}));
  const auto dtype = checkpoint->tensor("c", {DType::kF32}, {4});
  ASSERT_FALSE(dtype);
  EXPECT_EQ(dtype.error().code, Errc::kCorrupt);
  const auto missing = checkpoint->tensor("nope");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(),
            (Error{Errc::kNotFound, dir.path().string() + ": tensor 'nope' is missing"}));
}

TEST(Checkpoint, ReadingThroughReportsEveryByteOnce) {
  const TemporaryDirectory dir;
  write_two_shards(dir);
  const auto checkpoint = Checkpoint::open(dir.path());
  ASSERT_TRUE(checkpoint);
  std::uint64_t last = 0;
  std::vector<std::string> files;
  const auto status = checkpoint->read_through([&](const ReadProgress& progress) {
    EXPECT_GE(progress.done_bytes, last);
    EXPECT_EQ(progress.total_bytes, checkpoint->file_bytes());
    EXPECT_EQ(progress.shards, 2u);
    last = progress.done_bytes;
    if (files.empty() || files.back() != progress.file) {
      files.emplace_back(progress.file);
    }
    return true;
  });
  EXPECT_TRUE(status);
  EXPECT_EQ(last, checkpoint->file_bytes());
  EXPECT_EQ(files, (std::vector<std::string>{"s1.safetensors", "s2.safetensors"}));
  EXPECT_TRUE(checkpoint->read_through({}));
}

TEST(Checkpoint, ReadingStopsWhenTheCallbackSaysSo) {
  const TemporaryDirectory dir;
  write_two_shards(dir);
  const auto checkpoint = Checkpoint::open(dir.path());
  ASSERT_TRUE(checkpoint);
  int calls = 0;
  const auto status = checkpoint->read_through([&](const ReadProgress&) { return ++calls < 2; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Errc::kCancelled);
  EXPECT_EQ(calls, 2);
}

TEST(Checkpoint, VerifyAcceptsAWholeCheckpoint) {
  const TemporaryDirectory dir;
  write_two_shards(dir);
  const auto checkpoint = Checkpoint::open(dir.path());
  ASSERT_TRUE(checkpoint);
  const auto status = checkpoint->verify({});
  EXPECT_TRUE(status) << status.error().message;
}

}  // namespace
}  // namespace daybreak::model
