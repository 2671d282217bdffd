// SPDX-License-Identifier: Apache-2.0
#include "events/kv_event_publisher.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <zmq.hpp>

#include "cache/scope.h"

namespace daybreak::events {
namespace {

using Json = nlohmann::json;

// Frames of one message; empty: none within a time that is long.
std::vector<std::string> receive(zmq::socket_t& socket) {
  std::vector<std::string> frames;
  do {
    zmq::message_t frame;
    if (!socket.recv(frame, zmq::recv_flags::none)) {
      return {};
    }
    frames.push_back(frame.to_string());
    if (!frame.more()) {
      break;
    }
  } while (true);
  return frames;
}

std::string number(std::uint64_t n) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(n >> shift);
  }
  return bytes;
}

Json events_of(const std::string& payload) { return Json::from_msgpack(payload)[1]; }

cache::StoredPart block(std::uint64_t hash, const std::vector<TokenId>& ids,
                        std::string_view scope = "") {
  return {.part = cache::Part::kBlock,
          .hash = {.high = 7, .low = hash},
          .parent = std::nullopt,
          .ids = ids,
          .scope = scope};
}

class KvEventPublisherTest : public ::testing::Test {
 protected:
  KvEventPublisherTest() {
    config_.enabled = true;
    config_.endpoint = "tcp://127.0.0.1:*";
    config_.replay_endpoint = "tcp://127.0.0.1:*";
    config_.topic = "kv";
    std::iota(ids_.begin(), ids_.end(), 0U);
  }

  void start() {
    auto started = KvEventPublisher::start(config_);
    ASSERT_TRUE(started) << started.error().message;
    publisher_ = *std::move(started);
    subscriber_.set(zmq::sockopt::rcvtimeo, 30'000);
    subscriber_.set(zmq::sockopt::subscribe, "kv");
    subscriber_.connect(publisher_->endpoint());
    asker_.set(zmq::sockopt::rcvtimeo, 30'000);
    asker_.connect(publisher_->replay_endpoint());
  }

  // A subscription needs a while to arrive; what is published before is not for it.
  void publish_until_heard() {
    for (std::uint64_t i = 0;; ++i) {
      publisher_->stored(block(1000 + i, ids_));
      publisher_->flush();
      zmq::pollitem_t item{subscriber_.handle(), 0, ZMQ_POLLIN, 0};
      zmq::poll(&item, 1, std::chrono::milliseconds(20));
      if ((item.revents & ZMQ_POLLIN) != 0) {
        published_ = i + 1;
        break;
      }
    }
  }

  // [number, payload] of each, without the end.
  std::vector<std::pair<std::string, std::string>> replay(std::uint64_t from) {
    asker_.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
    asker_.send(zmq::buffer(number(from)), zmq::send_flags::none);
    std::vector<std::pair<std::string, std::string>> got;
    while (true) {
      const std::vector<std::string> frames = receive(asker_);
      EXPECT_EQ(frames.size(), 4U);
      if (frames.size() != 4) {
        return got;
      }
      EXPECT_EQ(frames[0], "");
      EXPECT_EQ(frames[1], "kv");
      if (frames[2] == number(~std::uint64_t{0})) {
        EXPECT_EQ(frames[3], "");
        return got;
      }
      got.emplace_back(frames[2], frames[3]);
    }
  }

  KvEventsConfig config_;
  std::vector<TokenId> ids_ = std::vector<TokenId>(64);
  std::unique_ptr<KvEventPublisher> publisher_;
  zmq::context_t context_;
  zmq::socket_t subscriber_{context_, zmq::socket_type::sub};
  zmq::socket_t asker_{context_, zmq::socket_type::dealer};
  std::uint64_t published_ = 0;
};

TEST_F(KvEventPublisherTest, SubscribersGetTopicNumberAndBatchInOrder) {
  start();
  publish_until_heard();
  publisher_->removed(cache::Part::kBlock, {.high = 7, .low = 1000}, "");
  publisher_->flush();
  publisher_->cleared();
  publisher_->stored(block(5, ids_, "tenant\nsalt"));
  const std::string scope =
      cache::make_scope({.isolation = "tenant\nsalt", .lora_name = "sql", .lora_digest = "d"});
  publisher_->stored(block(6, ids_, scope));
  publisher_->flush();
  std::vector<std::string> frames = receive(subscriber_);
  std::uint64_t last = static_cast<std::uint8_t>(frames[1].back());
  EXPECT_EQ(frames[0], "kv");
  EXPECT_EQ(events_of(frames[2])[0]["type"], "BlockStored");
  do {
    frames = receive(subscriber_);
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[1], number(++last)) << "out of order";
  } while (events_of(frames[2])[0]["type"] == "BlockStored");
  EXPECT_EQ(events_of(frames[2])[0]["block_hashes"], (Json{1000}));
  EXPECT_EQ(last, published_);
  frames = receive(subscriber_);
  EXPECT_EQ(events_of(frames[2])[0]["type"], "AllBlocksCleared");
  EXPECT_EQ(events_of(frames[2])[1]["extra_keys"][0][0], salt_of("tenant\nsalt"));
  EXPECT_EQ(events_of(frames[2])[2]["lora_name"], "sql");
  EXPECT_EQ(events_of(frames[2])[2]["extra_keys"][0][1], salt_of("tenant\nsalt"));
  EXPECT_EQ(publisher_->stats().dropped, 0U);
}

TEST_F(KvEventPublisherTest, NothingToTellIsNoMessage) {
  start();
  publisher_->flush();
  publisher_->cleared();
  publisher_->flush();
  publisher_->flush();
  while (publisher_->stats().batches < 1) {
    std::this_thread::yield();
  }
  EXPECT_EQ(replay(0).size(), 1U);
  EXPECT_EQ(publisher_->stats().events, 1U);
}

TEST_F(KvEventPublisherTest, ReplayGivesWhatIsKeptFromANumberOnAndAnEnd) {
  config_.buffer_steps = 4;
  start();
  for (std::uint64_t i = 0; i < 6; ++i) {
    publisher_->stored(block(i, ids_));
    publisher_->flush();
  }
  while (publisher_->stats().batches < 6) {
    std::this_thread::yield();
  }
  const auto all = replay(0);
  ASSERT_EQ(all.size(), 4U) << "the first two are not kept";
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all[i].first, number(i + 2));
    EXPECT_EQ(events_of(all[i].second)[0]["block_hashes"][0], i + 2);
  }
  EXPECT_EQ(replay(4).size(), 2U);
  EXPECT_EQ(replay(6).size(), 0U);
  EXPECT_EQ(publisher_->stats().replays, 3U);
}

TEST_F(KvEventPublisherTest, ARequestThatIsNoneIsLetGo) {
  start();
  publisher_->cleared();
  publisher_->flush();
  asker_.send(zmq::str_buffer("nonsense"), zmq::send_flags::none);
  asker_.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
  asker_.send(zmq::str_buffer("short"), zmq::send_flags::none);
  asker_.send(zmq::str_buffer("x"), zmq::send_flags::sndmore);
  asker_.send(zmq::buffer(number(0)), zmq::send_flags::none);
  while (publisher_->stats().batches < 1) {
    std::this_thread::yield();
  }
  EXPECT_EQ(replay(0).size(), 1U);
  EXPECT_EQ(publisher_->stats().replays, 1U);
}

TEST_F(KvEventPublisherTest, WhatIsToldBeforeTheEndIsSent) {
  start();
  publish_until_heard();
  for (int i = 0; i < 50; ++i) {
    publisher_->cleared();
    publisher_->flush();
  }
  publisher_.reset();
  int cleared = 0;
  for (std::uint64_t i = 0; i < published_ + 50 && cleared < 50; ++i) {
    const auto frames = receive(subscriber_);
    ASSERT_EQ(frames.size(), 3U);
    cleared += events_of(frames[2])[0]["type"] == "AllBlocksCleared";
  }
  EXPECT_EQ(cleared, 50);
}

TEST_F(KvEventPublisherTest, AnEndpointThatIsTakenOrNonsenseIsNamed) {
  start();
  KvEventsConfig second = config_;
  second.endpoint = "tcp://127.0.0.1:*";
  second.replay_endpoint = publisher_->replay_endpoint();
  const auto taken = KvEventPublisher::start(second);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().message,
            "cache events: " + publisher_->replay_endpoint() + ": Address already in use");
  second.endpoint = "nonsense";
  const auto nonsense = KvEventPublisher::start(second);
  ASSERT_FALSE(nonsense);
  EXPECT_EQ(nonsense.error().message, "cache events: nonsense: Invalid argument");
}

TEST(SaltOf, TellsOwnersApartAndNothingOfThem) {
  EXPECT_EQ(salt_of(""), "");
  EXPECT_EQ(salt_of("\n"), "") << "nobody's";
  EXPECT_EQ(salt_of("acme\n").size(), 32U);
  EXPECT_NE(salt_of("acme\n"), salt_of("\nacme"));
  EXPECT_EQ(salt_of("acme\n").find("acme"), std::string::npos);
}

}  // namespace
}  // namespace daybreak::events
