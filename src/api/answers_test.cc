// SPDX-License-Identifier: Apache-2.0
#include "api/answers.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>

#include "api/generation.h"
#include "api/text_generation.h"
#include "chat/output_shapes.h"

namespace daybreak::api {
namespace {

using engine::GeneratedToken;

// Says everything at once, before submit() returns, and the rest when it is told to end.
class AllAtOnce final : public engine::Generator {
 public:
  std::vector<std::vector<GeneratedToken>> updates;  // of every request
  bool goes_on = true;                               // until it is told to end

  Result<engine::RequestId> submit(engine::GenerateRequest, engine::UpdateFn on_update) override {
    for (const auto& tokens : updates) {
      engine::Update update;
      update.tokens = tokens;
      if (!goes_on && &tokens == &updates.back()) {
        update.finish = engine::FinishReason::kLength;
      }
      on_update(update);
    }
    running_.push_back(goes_on ? std::move(on_update) : nullptr);
    return engine::RequestId{running_.size() - 1};
  }
  void cancel(engine::RequestId id) override { end(id, engine::FinishReason::kCancelled); }
  void complete(engine::RequestId id) override { end(id, engine::FinishReason::kStop); }
  engine::Stats stats() const override { return {}; }
  std::size_t vocab_size() const override { return 1 << 20; }
  std::size_t context_tokens() const override { return 1 << 20; }
  std::size_t queue_capacity() const override { return 8; }
  void drain() override {}
  std::size_t stop(std::chrono::milliseconds) override { return 0; }

 private:
  void end(engine::RequestId id, engine::FinishReason reason) {
    if (const auto on_update = std::exchange(running_[static_cast<std::size_t>(id)], nullptr)) {
      engine::Update update;
      update.finish = reason;
      on_update(update);
    }
  }
  std::deque<engine::UpdateFn> running_;
};

class AnswersTest : public ::testing::Test {
 protected:
  std::vector<GeneratedToken> tokens(const std::string& text) const {
    std::vector<GeneratedToken> out;
    for (const TokenId id : chat::shapes::encode(*tokenizer_, text)) {
      out.push_back({.id = id, .logprob = -1, .top = {}});
    }
    return out;
  }
  // Runs next() to its end or first error, then settle(). Returns the error, if any.
  template <class Generation>
  std::optional<Error> run(Generation& generation) {
    std::optional<Error> failed;
    auto reader = [&]() -> boost::asio::awaitable<void> {
      while (!generation.done() && !failed) {
        if (auto deltas = co_await generation.next(); !deltas) {
          failed = deltas.error();
        }
      }
      co_await generation.settle();
    };
    boost::asio::co_spawn(io_, reader, boost::asio::detached);
    io_.restart();
    io_.run();
    return failed;
  }

  boost::asio::io_context io_;
  AllAtOnce generator_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_ = chat::shapes::load_tokenizer();
  Metrics metrics_;
  Log log_{{.sink = [](std::string_view) {}}};
  Context context_{.options = {},
                   .names{{"nano"}},
                   .tokenizer = tokenizer_,
                   .markers = chat::shapes::load_markers(*tokenizer_),
                   .generator = generator_,
                   .metrics = metrics_,
                   .log = log_,
                   .vocabulary = nullptr,
                   .grammars = nullptr,
                   .access = nullptr,
                   .responses = nullptr,
                   .content_log = nullptr,
                   .replays = nullptr,
                   .request_metrics{metrics_, "nano"},
                   .telemetry = nullptr,
                   .workers{1}};
};

// Of a client that reads too slowly only the number of what came is known. What came after a stop
// string is no part of the answer, known or not.
TEST_F(AnswersTest, WhatCameAfterAStopStringIsNeverCounted) {
  const std::vector<GeneratedToken> flood(kMaxWaitingTokens, GeneratedToken{.id = 5, .top = {}});
  const std::vector<GeneratedToken> answer = tokens("one two STOP more");
  generator_.updates = {answer, flood};
  PreparedCompletion completion;
  completion.prompts = {{1, 2, 3}};
  completion.max_tokens = {1 << 20};
  for (const char* stop : {"STOP", "never"}) {
    completion.shared.request.sampling.stop = {stop};
    TextGeneration generation(context_, completion, io_.get_executor());
    ASSERT_TRUE(generation.submit());
    EXPECT_EQ(run(generation)->code, Errc::kResourceLimit);
    const std::size_t counted = generation.usage().completion_tokens;
    if (std::string_view(stop) == "never") {
      EXPECT_EQ(counted, answer.size() + flood.size());
    } else {
      EXPECT_GT(counted, 0U);
      EXPECT_LT(counted, answer.size());
    }
  }
}

TEST_F(AnswersTest, OnlyTokensOfTheContentHoldLogprobs) {
  generator_.goes_on = false;
  generator_.updates = {tokens("some words that are thought, \xF0\x9F\x8C\x85 or said")};
  PreparedChat chat;
  chat.prompt = {1};
  chat.request.sampling.logprobs = true;
  const std::size_t count = generator_.updates[0].size();
  SharedBound bound(10 * count, 6 * count);
  const auto other = bound.take("b", 2 * count);
  struct Case {
    chat::Channel channel;
    const char* owner;
    std::size_t each;
    std::optional<Errc> failed;
  };
  for (const Case& one :
       {Case{chat::Channel::kThink, "a", 6 * count, {}}, Case{chat::Channel::kResponse, "a", 6, {}},
        Case{chat::Channel::kResponse, "a", 7, Errc::kTooLarge},
        Case{chat::Channel::kResponse, "", 9, Errc::kResourceLimit}}) {
    chat.channel = one.channel;
    Generation generation(context_, chat, io_.get_executor());
    ASSERT_TRUE(generation.hold({bound, one.owner, one.each, 1}));
    ASSERT_TRUE(generation.submit());
    const auto failed = run(generation);
    EXPECT_EQ(failed ? std::optional(failed->code) : std::nullopt, one.failed)
        << one.each << (failed ? failed->message : "");
    EXPECT_EQ(generation.usage().completion_tokens, count);
  }
}

}  // namespace
}  // namespace daybreak::api
