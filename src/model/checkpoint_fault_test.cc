// SPDX-License-Identifier: Apache-2.0
// Directories that must be refused, each with a message that names file and tensor.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "model/checkpoint.h"
#include "model/checkpoint_index.h"
#include "model/safetensors_builder.h"

namespace daybreak::model {
namespace {

constexpr std::string_view kIndex = "model.safetensors.index.json";

std::string shard(const std::string& tensor) {
  return SafetensorsBuilder().add(tensor, DType::kU8, {4}).bytes();
}

// Writes a good checkpoint of two shards, lets `damage` change it, and returns the error without
// the directory.
Error refusal(const std::function<void(const TemporaryDirectory&)>& damage) {
  const TemporaryDirectory dir;
  dir.write("s1.safetensors", shard("a"));
  dir.write("s2.safetensors", shard("b"));
  dir.write(
      std::string(kIndex),
      R"({"metadata":{"total_size":8},"weight_map":{"a":"s1.safetensors","b":"s2.safetensors"}})");
  damage(dir);
  const auto checkpoint = Checkpoint::open(dir.path());
  Error error{Errc::kCancelled, "accepted"};
  if (!checkpoint) {
    error = checkpoint.error();
  } else if (const auto status = checkpoint->verify({}); !status) {
    error = status.error();
  }
  if (const auto at = error.message.find(dir.path().string()); at == 0) {
    error.message.erase(0, dir.path().string().size());
  }
  return error;
}

void index_with(const TemporaryDirectory& dir, const std::string& map) {
  dir.write(std::string(kIndex), "{\"weight_map\":" + map + "}");
}

TEST(CheckpointFault, TheUndamagedCheckpointIsAccepted) {
  EXPECT_EQ(refusal([](const TemporaryDirectory&) {}).message, "accepted");
}

TEST(CheckpointFault, EveryDisagreementBetweenIndexAndShardsIsNamed) {
  struct Row {
    const char* name;
    std::function<void(const TemporaryDirectory&)> damage;
    Errc code;
    std::string message;
  };
  const std::string index = "/" + std::string(kIndex);
  const std::vector<Row> rows = {
      {"nothing there", [&](const auto& dir) { std::filesystem::remove(dir.path() / kIndex); },
       Errc::kNotFound, ": holds neither model.safetensors nor model.safetensors.index.json"},
      {"shard missing",
       [](const auto& dir) { std::filesystem::remove(dir.path() / "s2.safetensors"); },
       Errc::kNotFound, "/s2.safetensors: missing shard, named by model.safetensors.index.json"},
      {"tensor not in its shard", [](const auto& dir) { dir.write("s2.safetensors", shard("x")); },
       Errc::kCorrupt, index + ": weight_map names tensor 'b', which is not in s2.safetensors"},
      {"tensor the index does not know",
       [](const auto& dir) { index_with(dir, R"({"a":"s1.safetensors","a0":"s2.safetensors"})"); },
       Errc::kCorrupt, index + ": weight_map names tensor 'a0', which is not in s2.safetensors"},
      {"tensor left over",
       [](const auto& dir) {
         dir.write(
             "s2.safetensors",
             SafetensorsBuilder().add("b", DType::kU8, {4}).add("c", DType::kU8, {4}).bytes());
       },
       Errc::kCorrupt, index + ": s2.safetensors holds tensor 'c', which weight_map does not name"},
      {"tensor in two shards",
       [](const auto& dir) {
         dir.write(
             "s2.safetensors",
             SafetensorsBuilder().add("a", DType::kU8, {4}).add("b", DType::kU8, {4}).bytes());
       },
       Errc::kCorrupt, ": tensor 'a' is in both s1.safetensors and s2.safetensors"},
      {"places swapped",
       [](const auto& dir) { index_with(dir, R"({"a":"s2.safetensors","b":"s1.safetensors"})"); },
       Errc::kCorrupt,
       index + ": weight_map puts tensor 'a' into s2.safetensors, it is in s1.safetensors"},
      {"shard is empty", [](const auto& dir) { dir.write("s2.safetensors", ""); }, Errc::kCorrupt,
       "/s2.safetensors: truncated: 0 bytes, a safetensors file starts with an 8-byte header "
       "length"},
      {"shard is a directory",
       [](const auto& dir) {
         std::filesystem::remove(dir.path() / "s2.safetensors");
         std::filesystem::create_directory(dir.path() / "s2.safetensors");
       },
       Errc::kIo, "/s2.safetensors: not a regular file"},
      {"trailing bytes", [](const auto& dir) { dir.write("s2.safetensors", shard("b") + "!"); },
       Errc::kCorrupt,
       "/s2.safetensors: bytes [68, 69) of the file belong to no tensor (at its end)"},
      {"wrong total",
       [](const auto& dir) {
         dir.write(std::string(kIndex),
                   R"({"metadata":{"total_size":9},)"
                   R"("weight_map":{"a":"s1.safetensors","b":"s2.safetensors"}})");
       },
       Errc::kCorrupt, ": model.safetensors.index.json says total_size 9, the tensors take 8"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Error error = refusal(row.damage);
    EXPECT_EQ(error.code, row.code);
    EXPECT_EQ(error.message, row.message);
  }
}

TEST(CheckpointFault, ANanScaleIsFoundByVerifyWithRowAndGroup) {
  const Error error = refusal([](const TemporaryDirectory& dir) {
    dir.write("model.safetensors", SafetensorsBuilder()
                                       .add("e.w1.weight_packed", DType::kU8, {2, 48}, '\xff')
                                       .add("e.w1.weight_scale", DType::kU8, {2, 3}, '\x7f')
                                       .set_last_byte('\xff')
                                       .bytes());
  });
  EXPECT_EQ(error.code, Errc::kCorrupt);
  EXPECT_EQ(error.message,
            "/model.safetensors: tensor 'e.w1.weight_scale': the scale of row 1, group 2 is 255 "
            "(NaN)");
}

TEST(CheckpointFault, MalformedIndexesAreNamed) {
  struct Row {
    std::string json;
    std::string message;
  };
  const std::string plain = ": expected a file name without a directory, found ";
  const std::vector<Row> rows = {
      {"", "i.json: not valid JSON (byte 1): "},
      {"[]", "i.json: expected an object, found an array"},
      {"{}", "i.json: weight_map: missing"},
      {R"({"weight_map":[]})", "i.json: weight_map: expected an object, found an array"},
      {R"({"weight_map":{"a":1}})", "i.json: weight_map.a" + plain + "1"},
      {R"({"weight_map":{"a":""}})", "i.json: weight_map.a" + plain + "\"\""},
      {R"({"weight_map":{"a":"../x"}})", "i.json: weight_map.a" + plain + "\"../x\""},
      {R"({"weight_map":{"a":".."}})", "i.json: weight_map.a" + plain + "\"..\""},
      {R"({"weight_map":{"a":"/etc/passwd"}})", "i.json: weight_map.a" + plain + "\"/etc/passwd\""},
      {R"({"weight_map":{"a":"d/x"}})", "i.json: weight_map.a" + plain + "\"d/x\""},
      {R"({"weight_map":{"a":"x\u0000y"}})", "i.json: weight_map.a" + plain + "\"x?y\""},
      {R"({"weight_map":{"a":"x","a":"y"}})", "i.json: weight_map.a: the key stands twice"},
      {R"({"metadata":{"total_size":-1},"weight_map":{}})",
       "i.json: metadata.total_size: expected a number in [0, 9.00719925e+15], found -1"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.json);
    const auto index = parse_checkpoint_index(row.json, "i.json");
    ASSERT_FALSE(index);
    EXPECT_EQ(index.error().code, Errc::kCorrupt);
    EXPECT_EQ(index.error().message.substr(0, row.message.size()), row.message);
  }
}

TEST(CheckpointFault, TheNumberOfShardsIsBounded) {
  const auto with_shards = [](std::size_t count) {
    std::string json = R"({"weight_map":{)";
    for (std::size_t i = 0; i < count; ++i) {
      json += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) + "\":\"s" + std::to_string(i) + "\"";
    }
    return parse_checkpoint_index(json + "}}", "i.json");
  };
  EXPECT_TRUE(with_shards(kMaxShards));
  const auto refused = with_shards(kMaxShards + 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak::model
