// SPDX-License-Identifier: Apache-2.0
#include "api/update_mailbox.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

namespace daybreak::api {
namespace {

using engine::GeneratedToken;
using engine::Update;

engine::Update with(std::span<const GeneratedToken> tokens) {
  Update update;
  update.tokens = tokens;
  return update;
}

// Runs next() once on its own context.
Result<std::vector<Batch>> take(UpdateMailbox& mailbox, boost::asio::io_context& io) {
  std::optional<Result<std::vector<Batch>>> got;
  auto reader = [&]() -> boost::asio::awaitable<void> { got.emplace(co_await mailbox.next()); };
  boost::asio::co_spawn(io, reader, boost::asio::detached);
  io.restart();
  io.run();
  return *got;
}

TEST(UpdateMailbox, JoinsNeighboursOfOneChoiceInOrder) {
  boost::asio::io_context io;
  auto mailbox = std::make_shared<UpdateMailbox>(io.get_executor());
  for (const auto& [choice, id] : {std::pair<std::size_t, TokenId>{0, 1}, {0, 2}, {1, 3}, {0, 4}}) {
    const GeneratedToken token{.id = id, .top = {}};
    mailbox->push(choice, with({&token, 1}));
  }
  const auto batches = *take(*mailbox, io);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].tokens.size(), 2U);
  EXPECT_EQ(batches[1].choice, 1U);
  EXPECT_EQ(batches[2].tokens[0].id, 4U);
}

TEST(UpdateMailbox, BoundHoldsAtTheTokenAndOnePast) {
  const std::vector<GeneratedToken> tokens(kMaxWaitingTokens);
  boost::asio::io_context io;
  auto full = std::make_shared<UpdateMailbox>(io.get_executor());
  full->push(0, with(tokens));
  EXPECT_EQ((*take(*full, io))[0].tokens.size(), kMaxWaitingTokens);
  full->push(0, with({tokens.data(), 1}));  // taken tokens no longer count
  EXPECT_TRUE(take(*full, io));

  auto over = std::make_shared<UpdateMailbox>(io.get_executor());
  over->push(0, with(tokens));
  over->push(0, with({tokens.data(), 1}));
  EXPECT_EQ(take(*over, io).error().code, Errc::kResourceLimit);
}

TEST(UpdateMailbox, PastTheBoundItCountsAndDoesNotGrow) {
  const std::vector<GeneratedToken> tokens(kMaxWaitingTokens);
  boost::asio::io_context io;
  auto mailbox = std::make_shared<UpdateMailbox>(io.get_executor());
  mailbox->push(0, with(tokens));
  for (int i = 0; i < 300; ++i) {
    Update update = with({tokens.data(), 1});
    if (i == 299) {
      update.finish = engine::FinishReason::kCancelled;
    }
    mailbox->push(0, update);
    mailbox->push(1, update);
  }
  EXPECT_FALSE(take(*mailbox, io));
  auto batches = *take(*mailbox, io);
  for (const Batch& more : batches.size() == 2 ? std::vector<Batch>{} : *take(*mailbox, io)) {
    batches.push_back(more);
  }
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].tokens.size(), kMaxWaitingTokens);
  for (const Batch& batch : batches) {
    EXPECT_EQ(batch.dropped_tokens, 300U);
    EXPECT_EQ(batch.finish, engine::FinishReason::kCancelled);
  }
}

TEST(UpdateMailbox, HandsOverSoManyAtOnceAndLosesNone) {
  boost::asio::io_context io;
  auto mailbox = std::make_shared<UpdateMailbox>(io.get_executor());
  constexpr TokenId kTokens = 2 * kMaxTokensAtOnce + 10;
  for (TokenId id = 0; id < kTokens; ++id) {
    const GeneratedToken token{.id = id, .top = {}};
    Update update = with({&token, 1});
    if (id + 1 == kTokens) {
      update.finish = engine::FinishReason::kStop;
    }
    mailbox->push(0, update);
  }
  TokenId next = 0;
  for (const std::size_t expected : {kMaxTokensAtOnce, kMaxTokensAtOnce, std::size_t{10}}) {
    const auto batches = *take(*mailbox, io);
    ASSERT_EQ(batches.size(), 1U);
    EXPECT_EQ(batches[0].tokens.size(), expected);
    for (const GeneratedToken& token : batches[0].tokens) {
      EXPECT_EQ(token.id, next++);
    }
    EXPECT_EQ(batches[0].finish.has_value(), next == kTokens);
  }
}

}  // namespace
}  // namespace daybreak::api
