// SPDX-License-Identifier: Apache-2.0
// When an answer counts as heard: the order in which a client's close and the end of a write are
// seen is the kernel's, so that here both orders are played.

#include "api/replay_exchange.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace daybreak::api {
namespace {

// A client that closes while its answer is being sent.
class ClosingClient final : public http::Exchange {
 public:
  ClosingClient(boost::asio::io_context& context, bool takes_all)
      : context_(context), takes_all_(takes_all) {}

  [[nodiscard]] const http::Request& request() const override { return request_; }
  [[nodiscard]] const std::vector<std::string>& parameters() const override { return parameters_; }
  [[nodiscard]] boost::asio::any_io_executor executor() const override {
    return context_.get_executor();
  }
  [[nodiscard]] bool client_gone() const override { return gone_; }
  void on_gone(std::function<void()> callback) override { on_gone_ = std::move(callback); }
  http::Task<bool> respond(http::Response /*response*/) override {
    gone_ = true;
    if (on_gone_) {
      std::exchange(on_gone_, nullptr)();
    }
    co_return takes_all_;
  }
  http::Task<bool> start_events(std::vector<http::Header> /*headers*/) override { co_return false; }
  http::Task<bool> send_events(std::string /*frames*/) override { co_return false; }
  void note(http::Note /*note*/) override {}

 private:
  boost::asio::io_context& context_;
  const bool takes_all_;
  http::Request request_;
  std::vector<std::string> parameters_;
  std::function<void()> on_gone_;
  bool gone_ = false;
};

// Answers a client, and returns how many answers are kept for a retry of his.
std::size_t kept_after(bool takes_all) {
  boost::asio::io_context context;
  ReplayStore store({});
  ClosingClient client(context, takes_all);
  ReplayKey key;
  key.path = "/v1/chat/completions";
  const ReplayStore::Claim claim = store.claim(key, false);
  boost::asio::co_spawn(
      context,
      [&]() -> http::Task<void> {
        const auto exchange = std::make_shared<ReplayExchange>(client, store, claim.call);
        exchange->attach();
        http::Response response;
        response.body = "an answer";
        EXPECT_EQ(co_await exchange->respond(std::move(response)), takes_all);
        exchange->detach();
      },
      boost::asio::detached);
  context.run();
  return store.stats().kept;
}

TEST(ReplayExchange, AClientThatClosesOnceItHasReadAllHasHeardIt) {
  EXPECT_EQ(kept_after(true), 0U);
}

TEST(ReplayExchange, AnAnswerThatWasNotTakenWholeIsKept) { EXPECT_EQ(kept_after(false), 1U); }

}  // namespace
}  // namespace daybreak::api
