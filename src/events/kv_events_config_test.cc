// SPDX-License-Identifier: Apache-2.0
#include "events/kv_events_config.h"

#include <gtest/gtest.h>

namespace daybreak::events {
namespace {

std::string refused(std::string_view text) {
  const auto config = parse_kv_events_config(text);
  return config ? "" : config.error().message;
}

TEST(KvEventsConfig, NothingIsPublishedUnlessEnabled) {
  EXPECT_FALSE(parse_kv_events_config("")->enabled);
  EXPECT_FALSE(parse_kv_events_config("{}")->enabled);
  EXPECT_FALSE(parse_kv_events_config(R"({"endpoint":"tcp://*:1"})")->enabled);
  EXPECT_FALSE(
      parse_kv_events_config(R"({"enable_kv_cache_events":true,"publisher":"null"})")->enabled);
  EXPECT_TRUE(parse_kv_events_config(R"({"enable_kv_cache_events":true})")->enabled);
}

TEST(KvEventsConfig, TakesWhatVllmTakes) {
  const auto config = parse_kv_events_config(
      R"({"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:5560",)"
      R"("replay_endpoint":"tcp://*:5561","topic":"kv","buffer_steps":7,"hwm":8,)"
      R"("max_queue_size":9})");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->endpoint, "tcp://*:5560");
  EXPECT_EQ(config->replay_endpoint, "tcp://*:5561");
  EXPECT_EQ(config->topic, "kv");
  EXPECT_EQ(config->buffer_steps, 7U);
  EXPECT_EQ(config->hwm, 8U);
  EXPECT_EQ(config->max_queue_size, 9U);
}

TEST(KvEventsConfig, WhatIsWrongIsNamed) {
  EXPECT_EQ(refused("on"), "kv_events_config: expected a JSON object, found 'on'");
  EXPECT_EQ(refused(R"({"enable_kv_cache_events":"yes"})"),
            R"(kv_events_config: enable_kv_cache_events: expected true or false, found "yes")");
  EXPECT_EQ(refused(R"({"publisher":"nats"})"),
            R"(kv_events_config: publisher: expected "zmq" or "null", found "nats")");
  EXPECT_EQ(refused(R"({"buffer_steps":0})"),
            "kv_events_config: buffer_steps: expected 1 to 1000000, found 0");
  EXPECT_EQ(refused(R"({"hwm":1.5})"), "kv_events_config: hwm: expected 1 to 1000000, found 1.5");
  EXPECT_EQ(refused(R"({"enable_kv_cache_events":true,"endpoint":""})"),
            R"(kv_events_config: endpoint: expected an endpoint such as "tcp://*:5557", found "")");
  EXPECT_NE(refused(R"({"end_point":""})").find("unknown key 'end_point'"), std::string::npos);
}

}  // namespace
}  // namespace daybreak::events
