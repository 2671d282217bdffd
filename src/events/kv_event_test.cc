// SPDX-License-Identifier: Apache-2.0
#include "events/kv_event.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

namespace daybreak::events {
namespace {

using Json = nlohmann::json;

BlockStored block(EventHash hash, std::optional<EventHash> parent, TokenId first,
                  std::string salt = "") {
  BlockStored stored{.hash = hash, .parent = parent, .salt = std::move(salt)};
  std::iota(stored.ids.begin(), stored.ids.end(), first);
  return stored;
}

Json decoded(const std::vector<KvEvent>& events) {
  return Json::from_msgpack(encode_batch(12.5, events));
}

TEST(KvEvent, ABatchIsTimeEventsAndRank) {
  const Json batch = decoded({AllBlocksCleared{}});
  EXPECT_EQ(batch, Json::parse(R"([12.5, [{"type":"AllBlocksCleared"}], 0])"));
}

TEST(KvEvent, AStoredBlockHasEveryFieldOfVllm) {
  BlockStored stored = block(0xfedcba9876543210, std::nullopt, 100);
  const Json event = decoded({stored})[1][0];
  Json ids = Json::array();
  for (int id = 100; id < 164; ++id) {
    ids.push_back(id);
  }
  EXPECT_EQ(event, (Json{{"type", "BlockStored"},
                         {"block_hashes", {0xfedcba9876543210}},
                         {"parent_block_hash", nullptr},
                         {"token_ids", ids},
                         {"block_size", 64},
                         {"lora_id", nullptr},
                         {"medium", "GPU"},
                         {"lora_name", nullptr},
                         {"extra_keys", nullptr},
                         {"group_idx", 0},
                         {"kv_cache_spec_kind", "mla_attention"},
                         {"kv_cache_spec_sliding_window", nullptr}}));
}

TEST(KvEvent, BlocksThatFollowEachOtherAreOneEventWithAllTheirIds) {
  const Json events =
      decoded({block(1, 9, 0), block(2, 1, 64), block(3, 2, 128), block(7, 5, 0)})[1];
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]["block_hashes"], (Json{1, 2, 3}));
  EXPECT_EQ(events[0]["parent_block_hash"], 9);
  EXPECT_EQ(events[0]["token_ids"].size(), 192U);
  EXPECT_EQ(events[0]["token_ids"].back(), 191);
  EXPECT_EQ(events[1]["block_hashes"], (Json{7}));
}

TEST(KvEvent, ACheckpointIsAnEventOfTheMambaGroupBetweenBlocks) {
  BlockStored checkpoint = block(2, 1, 64);
  checkpoint.part = cache::Part::kCheckpoint;
  const Json events = decoded({block(1, {}, 0), block(2, 1, 64), checkpoint, block(3, 2, 128)})[1];
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1]["kv_cache_spec_kind"], "mamba");
  EXPECT_EQ(events[1]["group_idx"], 1);
  EXPECT_EQ(events[1]["block_hashes"], (Json{2}));
  EXPECT_EQ(events[1]["token_ids"].size(), 64U);
  EXPECT_EQ(events[2]["block_hashes"], (Json{3}));
}

TEST(KvEvent, BlocksOfDifferentOwnersAreNotJoinedAndHaveAKeyEach) {
  const Json events = decoded({block(1, {}, 0, "a"), block(2, 1, 64, "a"), block(3, 2, 0, "b")})[1];
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]["extra_keys"], Json::parse(R"([["a"],["a"]])"));
  EXPECT_EQ(events[1]["extra_keys"], Json::parse(R"([["b"]])"));
}

TEST(KvEvent, BlocksOfAnAdapterNameItAndAreNotJoinedWithOthers) {
  const auto of = [](EventHash hash, std::optional<EventHash> parent, const char* salt,
                     const char* lora) {
    BlockStored stored = block(hash, parent, 0, salt);
    stored.lora_name = lora;
    return stored;
  };
  const Json events = decoded(
      {of(1, {}, "", "sql"), of(2, 1, "", "sql"), of(3, 2, "", ""), of(4, {}, "a", "sql")})[1];
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0]["lora_name"], "sql");
  EXPECT_EQ(events[0]["extra_keys"], Json::parse(R"([["sql"],["sql"]])"));
  EXPECT_EQ(events[1]["lora_name"], nullptr);
  EXPECT_EQ(events[1]["extra_keys"], nullptr);
  EXPECT_EQ(events[2]["extra_keys"], Json::parse(R"([["sql","a"]])"));
}

TEST(KvEvent, RemovedOnesAreJoinedWithinTheirGroup) {
  const Json events = decoded({BlockRemoved{.hash = 1}, BlockRemoved{.hash = 2},
                               BlockRemoved{.part = cache::Part::kCheckpoint, .hash = 2},
                               block(5, {}, 0), BlockRemoved{.hash = 3}})[1];
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0], Json::parse(R"({"type":"BlockRemoved","block_hashes":[1,2],"medium":"GPU",
                                       "group_idx":0})"));
  EXPECT_EQ(events[1]["group_idx"], 1);
  EXPECT_EQ(events[3]["block_hashes"], (Json{3}));
}

}  // namespace
}  // namespace daybreak::events
