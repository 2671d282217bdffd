// SPDX-License-Identifier: Apache-2.0
// Replays against a server that notes what it is asked, and when. Counts and orders are held;
// times only where one must not come before another.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "loadgen/loadgen_test_server.h"
#include "loadgen/replay.h"

namespace daybreak::loadgen {
namespace {

using Send = TestServer::Send;

// Conversations from memory.
class Listed final : public TraceSource {
 public:
  explicit Listed(std::vector<Conversation> conversations) : all_(std::move(conversations)) {}
  Result<std::optional<Conversation>> next() override {
    return at_ == all_.size() ? std::optional<Conversation>() : std::optional(all_[at_++]);
  }

 private:
  std::vector<Conversation> all_;
  std::size_t at_ = 0;
};

Turn turn(double at, std::size_t input, std::size_t output, double think = 0) {
  Turn out;
  out.at_seconds = at;
  out.think_seconds = think;
  out.input_tokens = input;
  out.output_tokens = output;
  return out;
}

Conversation conversation(std::string name, std::vector<Turn> turns) {
  return {.name = std::move(name), .turns = std::move(turns)};
}

std::vector<Conversation> single_ones(std::size_t count, double apart = 0) {
  std::vector<Conversation> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(conversation(std::to_string(i), {turn(apart * static_cast<double>(i), 10, 3)}));
  }
  return out;
}

std::size_t words_asked(const std::string& body) {
  const std::string prompt = nlohmann::json::parse(body)["messages"][0]["content"];
  return static_cast<std::size_t>(std::ranges::count(prompt, ' '));
}

void answer(const std::string& body, const Send& send) {
  const std::size_t tokens = nlohmann::json::parse(body)["max_tokens"];
  send(TestServer::head());
  for (std::size_t i = 0; i < tokens; ++i) {
    send(TestServer::piece("x"));
  }
  send(TestServer::finish() + TestServer::usage(words_asked(body), tokens, 4));
}

ReplayOptions options_for(const TestServer& server) {
  ReplayOptions out;
  out.target.url = server.url();
  out.target.model = "m";
  return out;
}

const PromptWriter& writer() {
  static const PromptWriter made(common_words(), 1, 1);
  return made;
}

TEST(Replay, SendsEveryRequestAndCountsItsTokens) {
  TestServer server(answer);
  Listed source(single_ones(20));
  ReplayOptions options = options_for(server);
  std::vector<RequestRecord> records;
  options.on_record = [&](const RequestRecord& record) {
    records.push_back(record);
    return ok();
  };
  std::size_t told = 0;
  options.on_progress = [&](std::size_t ended) { told = ended; };
  const auto tally = replay(source, writer(), options);
  ASSERT_TRUE(tally);
  EXPECT_EQ(server.requests(), 20U);
  EXPECT_EQ(tally->completed(), 20U);
  EXPECT_EQ(tally->input_tokens(), 200U);
  EXPECT_EQ(tally->output_tokens(), 60U);
  EXPECT_EQ(tally->cached_tokens(), 80U);
  EXPECT_EQ(tally->ttft().count(), 20U);
  EXPECT_EQ(tally->tpot().count(), 20U);
  EXPECT_EQ(tally->itl().count(), 40U);
  EXPECT_EQ(records.size(), 20U);
  EXPECT_EQ(told, 20U);
}

TEST(Replay, ScalesLengths) {
  TestServer server(answer);
  Listed source({conversation("a", {turn(0, 1'000, 100)})});
  const auto tally = replay(source, PromptWriter(common_words(), 1, 0.05), options_for(server));
  ASSERT_TRUE(tally);
  EXPECT_EQ(tally->input_tokens(), 50U);
  EXPECT_EQ(tally->output_tokens(), 5U);
}

// The server answers no turn before the one before it has ended, which it could not have.
TEST(Replay, TurnsOfAConversationWaitForEachOther) {
  std::mutex mutex;
  std::map<std::size_t, std::vector<std::size_t>> turns;  // of each conversation
  std::set<std::size_t> busy;
  bool overlapped = false;
  TestServer server([&](const std::string& body, const Send& send) {
    const std::size_t asked = words_asked(body);  // 100 * conversation + turn
    {
      const std::scoped_lock lock(mutex);
      overlapped = overlapped || !busy.insert(asked / 100).second;
      turns[asked / 100].push_back(asked % 100);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    {
      const std::scoped_lock lock(mutex);
      busy.erase(asked / 100);
    }
    answer(body, send);
  });
  std::vector<Conversation> all;
  for (std::size_t c = 1; c <= 8; ++c) {
    std::vector<Turn> each;
    for (std::size_t t = 0; t < 6; ++t) {
      each.push_back(turn(0, 100 * c + t, 2));  // all due at once
    }
    all.push_back(conversation(std::to_string(c), std::move(each)));
  }
  Listed source(std::move(all));
  const auto tally = replay(source, writer(), options_for(server));
  ASSERT_TRUE(tally);
  EXPECT_EQ(tally->completed(), 48U);
  EXPECT_FALSE(overlapped);
  for (const auto& [number, order] : turns) {
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5})) << number;
  }
}

TEST(Replay, ATurnThatFailsIsFollowedByTheNext) {
  std::atomic<std::size_t> asked{0};
  TestServer server([&](const std::string& body, const Send& send) {
    if (asked++ == 0) {
      send(TestServer::refuses("503 Service Unavailable", "later"));
    } else {
      answer(body, send);
    }
  });
  Listed source({conversation("a", {turn(0, 5, 1), turn(0, 5, 1), turn(0, 5, 1)})});
  const auto tally = replay(source, writer(), options_for(server));
  ASSERT_TRUE(tally);
  EXPECT_EQ(tally->completed(), 2U);
  EXPECT_EQ(tally->errors().at("http_503").count, 1U);
}

TEST(Replay, NoRequestIsSentBeforeItIsDue) {
  TestServer server(answer);
  Listed source({conversation("a", {turn(0.1, 5, 1), turn(0.12, 5, 1, 0.08)}),
                 conversation("b", {turn(0.3, 5, 1)})});
  ReplayOptions options = options_for(server);
  options.speed = 2;
  std::vector<RequestRecord> records;
  options.on_record = [&](const RequestRecord& record) {
    records.push_back(record);
    return ok();
  };
  ASSERT_TRUE(replay(source, writer(), options));
  ASSERT_EQ(records.size(), 3U);
  std::ranges::sort(records, {}, [](const auto& r) { return std::pair(r.conversation, r.turn); });
  for (const RequestRecord& record : records) {
    EXPECT_GE(record.sent_seconds, record.due_seconds);
  }
  EXPECT_EQ(records[0].due_seconds, 0.05);
  // 40 ms of thinking after the answer, or its time in the trace, what comes later.
  EXPECT_EQ(records[1].due_seconds, std::max(0.06, records[0].ended_seconds() + 0.04));
  EXPECT_EQ(records[2].due_seconds, 0.15);
}

TEST(Replay, ARateReplacesTheTimesOfBeginnings) {
  TestServer server(answer);
  const auto dues = [&](double rate) {
    Listed source(single_ones(30, 1'000));  // hours by the trace
    ReplayOptions options = options_for(server);
    options.request_rate = rate;
    options.seed = 4;
    std::vector<double> out;
    options.on_record = [&](const RequestRecord& record) {
      out.push_back(record.due_seconds);
      return ok();
    };
    EXPECT_TRUE(replay(source, writer(), options));
    std::ranges::sort(out);
    return out;
  };
  const auto paced = dues(1'000);
  ASSERT_EQ(paced.size(), 30U);
  EXPECT_EQ(paced, dues(1'000));  // of one seed
  EXPECT_GT(paced.front(), 0);
  EXPECT_EQ(std::set<double>(paced.begin(), paced.end()).size(), 30U);
  const auto at_once = dues(std::numeric_limits<double>::infinity());
  EXPECT_EQ(at_once.back(), 0);
}

// The server holds its answers until as many have come as may be in flight.
TEST(Replay, KeepsAsManyInFlightAsAllowedAndNoMore) {
  constexpr std::size_t kAllowed = 3;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t held = 0;
  std::size_t most = 0;
  std::size_t arrived = 0;
  TestServer server([&](const std::string& body, const Send& send) {
    {
      std::unique_lock lock(mutex);
      ++arrived;
      most = std::max(most, ++held);
      changed.notify_all();
      const std::size_t group = (arrived + kAllowed - 1) / kAllowed * kAllowed;
      EXPECT_TRUE(
          changed.wait_for(lock, std::chrono::seconds(60), [&] { return arrived >= group; }));
      --held;
    }
    answer(body, send);
  });
  Listed source(single_ones(12));
  ReplayOptions options = options_for(server);
  options.max_concurrency = kAllowed;
  const auto tally = replay(source, writer(), options);
  ASSERT_TRUE(tally);
  EXPECT_EQ(tally->completed(), 12U);
  EXPECT_EQ(most, kAllowed);
}

TEST(Replay, ErrorsAreCountedByKind) {
  TestServer server([](const std::string& body, const Send& send) {
    switch (words_asked(body)) {
      case 1:
        return send(TestServer::refuses("429 Too Many Requests", "slow down"));
      case 2:
        return send(TestServer::head() + TestServer::piece("cut"));
      case 3:
        return send(TestServer::head() + "data: {\"error\":{\"message\":\"broke\"}}\n\n");
      case 4:
        return;  // closes without a word
      case 5:
        return send("no HTTP at all\r\n\r\n");
      default:
        return answer(body, send);
    }
  });
  std::vector<Conversation> all;
  for (std::size_t i = 1; i <= 6; ++i) {
    all.push_back(conversation(std::to_string(i), {turn(0, i, 1)}));
  }
  Listed source(std::move(all));
  const auto tally = replay(source, writer(), options_for(server));
  ASSERT_TRUE(tally);
  EXPECT_EQ(tally->completed(), 1U);
  EXPECT_EQ(tally->failed(), 5U);
  EXPECT_EQ(tally->errors().at("http_429").count, 1U);
  EXPECT_EQ(tally->errors().at("stream").count, 2U);
  EXPECT_EQ(tally->errors().at("connection").count, 2U);
}

TEST(Replay, AnAnswerThatDoesNotComeTimesOut) {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  TestServer server([&](const std::string&, const Send&) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(60), [&] { return over; });
  });
  Listed source(single_ones(2));
  ReplayOptions options = options_for(server);
  options.target.timeout = std::chrono::milliseconds(50);
  const auto tally = replay(source, writer(), options);
  {
    const std::scoped_lock lock(mutex);
    over = true;
  }
  changed.notify_all();
  ASSERT_TRUE(tally);
  EXPECT_EQ(tally->errors().at("timeout").count, 2U);
}

TEST(Replay, AnInterruptGivesWhatIsThere) {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  TestServer server([&](const std::string& body, const Send& send) {
    if (words_asked(body) == 10) {
      return answer(body, send);
    }
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(60), [&] { return over; });
  });
  std::vector<Conversation> all = single_ones(2);
  all.push_back(conversation("held", {turn(0, 11, 1)}));
  all.push_back(conversation("never", {turn(1e6, 10, 1)}));
  Listed source(std::move(all));
  ReplayOptions options = options_for(server);
  std::size_t ended = 0;
  options.on_progress = [&](std::size_t count) { ended = count; };
  options.interrupted = [&] { return ended == 2; };
  const auto tally = replay(source, writer(), options);
  {
    const std::scoped_lock lock(mutex);
    over = true;
  }
  changed.notify_all();
  ASSERT_TRUE(tally);
  EXPECT_EQ(tally->completed(), 2U);
  EXPECT_EQ(tally->failed(), 0U);
  EXPECT_EQ(tally->abandoned(), 1U);
}

TEST(Replay, ARecordThatCannotBeKeptEndsTheRun) {
  TestServer server(answer);
  Listed source(single_ones(5));
  ReplayOptions options = options_for(server);
  options.max_concurrency = 1;
  options.on_record = [](const RequestRecord&) { return Status(Error{Errc::kIo, "disk full"}); };
  const auto tally = replay(source, writer(), options);
  ASSERT_FALSE(tally);
  EXPECT_EQ(tally.error().message, "disk full");
}

// Turns of an agent keep their beginning, whatever the scale.
TEST(Replay, TurnsShareTheTextOfTheirBlocks) {
  std::mutex mutex;
  std::vector<std::string> prompts;
  TestServer server([&](const std::string& body, const Send& send) {
    {
      const std::scoped_lock lock(mutex);
      prompts.push_back(nlohmann::json::parse(body)["messages"][0]["content"]);
    }
    answer(body, send);
  });
  Conversation agent = conversation("a", {turn(0, 40, 1), turn(0, 64, 1), turn(0, 40, 1)});
  agent.block_tokens = 16;
  agent.turns[0].blocks = {1, 2};
  agent.turns[1].kept_blocks = 2;
  agent.turns[1].blocks = {3, 4};
  agent.turns[2].kept_blocks = 1;
  agent.turns[2].blocks = {5};
  Listed source({agent});
  ASSERT_TRUE(replay(source, writer(), options_for(server)));
  ASSERT_EQ(prompts.size(), 3U);
  const auto common_words_of = [](const std::string& a, const std::string& b) {
    const auto [end, other] = std::ranges::mismatch(a, b);
    return std::ranges::count(a.begin(), end, ' ');
  };
  EXPECT_GE(common_words_of(prompts[0], prompts[1]), 32);
  EXPECT_LE(common_words_of(prompts[0], prompts[1]), 34);  // a word may be the same by chance
  EXPECT_GE(common_words_of(prompts[1], prompts[2]), 16);
  EXPECT_LE(common_words_of(prompts[1], prompts[2]), 18);
}

}  // namespace
}  // namespace daybreak::loadgen
