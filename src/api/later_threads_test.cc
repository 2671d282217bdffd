// SPDX-License-Identifier: Apache-2.0
// What a coroutine waits for may come while its io_context ends, or after it has ended.
#include "api/later.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <thread>

#include "api/update_mailbox.h"

namespace daybreak::api {
namespace {

namespace asio = boost::asio;

// A coroutine that waits on a strand of a context of its own.
class Waiting {
 public:
  Waiting() {
    asio::co_spawn(asio::make_strand(*io_), wait(), asio::detached);
    io_->poll();
  }
  [[nodiscard]] Later<int>::Setter setter() const { return *setter_; }
  [[nodiscard]] std::shared_ptr<UpdateMailbox> mailbox() const { return mailbox_; }
  void run_until_over() { io_->run(); }
  void end() { io_.reset(); }
  [[nodiscard]] int got() const { return got_; }

 private:
  asio::awaitable<void> wait() {
    const asio::any_io_executor strand = co_await asio::this_coro::executor;
    Later<int> later(strand);
    setter_.emplace(later.setter());
    mailbox_ = std::make_shared<UpdateMailbox>(strand);
    const std::shared_ptr<void> close(nullptr, [mailbox = mailbox_](void*) { mailbox->close(); });
    got_ = co_await later.get();
    (void)co_await mailbox_->next();
    ++got_;
  }

  std::unique_ptr<asio::io_context> io_ = std::make_unique<asio::io_context>();
  std::optional<Later<int>::Setter> setter_;
  std::shared_ptr<UpdateMailbox> mailbox_;
  std::atomic<int> got_{0};
};

engine::Update token() {
  static const engine::GeneratedToken kToken{};
  engine::Update update;
  update.tokens = {&kToken, 1};
  return update;
}

TEST(LaterThreads, TheFirstOfManyValuesArrives) {
  for (int round = 0; round < 200; ++round) {
    Waiting waiting;
    std::vector<std::thread> threads;
    for (const int value : {10, 20}) {
      threads.emplace_back([set = waiting.setter(), mailbox = waiting.mailbox(), value] {
        set(value);
        mailbox->push(0, token());
      });
    }
    waiting.run_until_over();
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_TRUE(waiting.got() == 11 || waiting.got() == 21) << waiting.got();
  }
}

TEST(LaterThreads, AValueMayComeWhileAllEnds) {
  for (int round = 0; round < 500; ++round) {
    auto waiting = std::make_unique<Waiting>();
    std::atomic<bool> go{false};
    std::thread other([&go, set = waiting->setter(), mailbox = waiting->mailbox()] {
      while (!go) {
      }
      set(1);
      mailbox->push(0, token());
    });
    go = true;
    waiting->end();
    waiting.reset();
    other.join();
  }
}

TEST(LaterThreads, AValueMayComeWhenAllHasEnded) {
  Waiting waiting;
  const auto set = waiting.setter();
  const auto mailbox = waiting.mailbox();
  waiting.end();
  set(1);
  mailbox->push(0, token());
  EXPECT_EQ(waiting.got(), 0);
}

}  // namespace
}  // namespace daybreak::api
