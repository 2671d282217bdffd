// SPDX-License-Identifier: Apache-2.0
#include "api/replay_store.h"

#include <gtest/gtest.h>

#include <string>

#include "access/access_testing.h"

namespace daybreak::api {
namespace {

ReplayKey key(const std::string& name, unsigned char body = 1, int caller = 7) {
  return {.caller = access::KeyId{caller},
          .owner = "key:" + std::to_string(caller),
          .path = "/p?",
          .name = name,
          .body = {body}};
}

ReplayStore::Answer answer_of(std::size_t bytes) {
  return std::make_shared<const http::Response>(http::Response{.body = std::string(bytes, 'x')});
}

class ReplayStoreTest : public ::testing::Test {
 protected:
  ReplayStore make(std::size_t max_bytes = 1'000'000) {
    return ReplayStore({.max_bytes = max_bytes, .clock = &clock_});
  }
  // A call whose answer was made when nobody listened any more.
  static void unheard(ReplayStore& store, const ReplayKey& of, std::size_t bytes) {
    const auto made = store.claim(of, false);
    ASSERT_EQ(made.listener, 0U);
    store.leave(made.call, made.listener, false);
    store.finish(made.call, answer_of(bytes));
  }
  static bool known(ReplayStore& store, const ReplayKey& of) {
    const auto claim = store.claim(of, true);
    if (claim.listener == 0) {
      store.finish(claim.call, nullptr);
    }
    store.leave(claim.call, claim.listener, false);
    return claim.listener != 0;
  }
  access::ManualClock clock_;
};

TEST_F(ReplayStoreTest, ANameIsJoinedAndABodyIsNot) {
  ReplayStore store = make();
  const auto named = store.claim(key("a"), false);
  EXPECT_EQ(named.listener, 0U);
  EXPECT_EQ(store.claim(key("a"), false).call, named.call);
  EXPECT_EQ(store.claim(key("a", 2), false).call, nullptr) << "another body";
  EXPECT_NE(store.claim(key("b"), false).call, named.call);
  const auto first = store.claim(key(""), false);
  EXPECT_NE(store.claim(key(""), false).call, first.call);
  EXPECT_NE(store.claim(key(""), true).call, first.call) << "somebody listens";
  store.leave(first.call, first.listener, false);
  EXPECT_NE(store.claim(key(""), false).call, first.call) << "no retry";
  EXPECT_EQ(store.claim(key(""), true).call, first.call);
  EXPECT_NE(store.claim(key(""), true).call, first.call) << "taken over already";
}

TEST_F(ReplayStoreTest, CallersPathsAndBodiesAreKeptApart) {
  ReplayStore store = make();
  unheard(store, key("a"), 10);
  unheard(store, key(""), 10);
  for (const char* name : {"a", ""}) {
    EXPECT_FALSE(known(store, key(name, 1, 8)));
    ReplayKey other = key(name);
    other.path = "/q?";
    EXPECT_FALSE(known(store, other));
    EXPECT_TRUE(known(store, key(name)));
  }
  EXPECT_FALSE(known(store, key("", 2)));
}

TEST_F(ReplayStoreTest, AnAnswerThatWasHeardIsKeptUnderItsNameAlone) {
  ReplayStore store = make();
  for (const char* name : {"a", ""}) {
    const auto made = store.claim(key(name), false);
    store.finish(made.call, answer_of(10));
    store.leave(made.call, made.listener, true);
    EXPECT_EQ(known(store, key(name)), *name != '\0');
  }
}

TEST_F(ReplayStoreTest, NobodyCanJoinACallThatWasGivenUp) {
  ReplayStore store = make();
  const auto made = store.claim(key("a"), false);
  EXPECT_FALSE(store.give_up(made.call)) << "its maker listens";
  store.leave(made.call, made.listener, false);
  const auto joined = store.claim(key("a"), false);
  EXPECT_FALSE(store.give_up(made.call));
  store.leave(joined.call, joined.listener, false);
  EXPECT_TRUE(store.give_up(made.call));
  EXPECT_NE(store.claim(key("a"), true).call, made.call);
}

TEST_F(ReplayStoreTest, AnAnswerThatIsKeptCannotBeGivenUp) {
  ReplayStore store = make();
  unheard(store, key("a"), 10);
  const auto kept = store.claim(key("a"), false);
  store.leave(kept.call, kept.listener, false);
  EXPECT_FALSE(store.give_up(kept.call));
  EXPECT_TRUE(known(store, key("a")));
}

TEST_F(ReplayStoreTest, WhoListensIsToldOnceAndWhoLeftIsNot) {
  ReplayStore store = make();
  const auto made = store.claim(key("a"), false);
  const auto stays = store.claim(key("a"), false);
  const auto leaves = store.claim(key("a"), false);
  int told = 0;
  int silences = 0;
  store.on_silence(made.call, [&] { ++silences; });
  store.on_over(stays.call, stays.listener, [&] { ++told; });
  store.on_over(leaves.call, leaves.listener, [&] { told += 100; });
  store.leave(leaves.call, leaves.listener, false);
  store.leave(made.call, made.listener, false);
  EXPECT_EQ(silences, 0);
  store.finish(made.call, nullptr);
  store.finish(made.call, answer_of(1));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(store.answer(stays.call), nullptr);
  store.on_over(stays.call, stays.listener, [&] { ++told; });
  EXPECT_EQ(told, 2) << "it is over: at once";
  store.leave(stays.call, stays.listener, false);
  EXPECT_EQ(silences, 0) << "there is nothing to end any more";
  EXPECT_FALSE(known(store, key("a")));
}

TEST_F(ReplayStoreTest, KeptAnswersAreBoundedInBytesAndAge) {
  ReplayStore store = make(25'000);
  unheard(store, key("a"), 10'000);
  clock_.advance_us(1'000'000);
  unheard(store, key("b"), 10'000);
  EXPECT_EQ(store.stats().kept, 2U);
  EXPECT_GT(store.stats().bytes, 20'000U);
  unheard(store, key("huge"), 30'000);
  EXPECT_EQ(store.stats().kept, 2U) << "one that can never be kept costs the others nothing";
  unheard(store, key("c"), 10'000);
  EXPECT_FALSE(known(store, key("a")));
  EXPECT_TRUE(known(store, key("b")));
  clock_.advance_us(119'000'000);
  EXPECT_TRUE(known(store, key("b")));
  clock_.advance_us(1'000'000);
  EXPECT_FALSE(known(store, key("b")));
  EXPECT_EQ(store.stats().bytes, 0U);
}

TEST_F(ReplayStoreTest, AllThatIsHeldForAnAnswerCounts) {
  ReplayStore store = make(50'000);
  std::size_t before = 0;
  const auto added = [&](const ReplayKey& of, const http::Response& answer) {
    const auto made = store.claim(of, false);
    store.leave(made.call, made.listener, false);
    store.finish(made.call, std::make_shared<const http::Response>(answer));
    return store.stats().bytes - std::exchange(before, store.stats().bytes);
  };
  const std::string long_text(7'000, 'q');
  ReplayKey of = key("query");
  of.path += long_text;
  EXPECT_GE(added(of, {}), 7'000U);
  EXPECT_GE(added(key(long_text), {}), 7'000U);
  of = key("owner");
  of.owner = long_text;
  EXPECT_GE(added(of, {}), 7'000U);
  EXPECT_GE(added(key("body"), {.body = long_text}), 7'000U);
  EXPECT_GE(added(key("header"), {.body = "", .headers = {{"x", long_text}}}), 7'000U);
  EXPECT_EQ(store.stats().kept, 5U);
  for (int i = 0; i < 20; ++i) {
    ReplayKey one = key(std::to_string(i));
    one.path += long_text;
    unheard(store, one, 1);
  }
  EXPECT_LE(store.stats().kept, 7U);
  EXPECT_LE(store.stats().bytes, 50'000U);
}

TEST_F(ReplayStoreTest, WhoHoldsMostLosesHisOldestAnswer) {
  ReplayStore store = make(50'000);
  unheard(store, key("small", 1, 8), 10'000);
  for (const char* name : {"a", "b", "c", "d"}) {
    unheard(store, key(name), 10'000);
  }
  EXPECT_FALSE(known(store, key("a")));
  EXPECT_TRUE(known(store, key("small", 1, 8))) << "the oldest of all, but of one who has less";
  unheard(store, key("large", 1, 8), 25'000);
  EXPECT_FALSE(known(store, key("small", 1, 8))) << "now that one has more";
  EXPECT_TRUE(known(store, key("large", 1, 8)));
  EXPECT_FALSE(known(store, key("b"))) << "beside 30 thousand bytes of his, 25 are less";
  EXPECT_TRUE(known(store, key("d")));
  EXPECT_LE(store.stats().bytes, 50'000U);
}

TEST_F(ReplayStoreTest, ABoundedNumberListensToOneCall) {
  ReplayStore store = make();
  const auto made = store.claim(key("a"), false);
  std::vector<ReplayStore::Claim> joined;
  for (std::size_t i = 1; i < kMaxListeners; ++i) {
    joined.push_back(store.claim(key("a"), false));
    EXPECT_EQ(joined.back().call, made.call);
  }
  const auto refused = store.claim(key("a"), false);
  EXPECT_TRUE(refused.crowded);
  EXPECT_EQ(refused.call, nullptr);
  EXPECT_FALSE(store.claim(key("a", 2), false).crowded) << "another body is another error";
  store.finish(made.call, answer_of(1));
  EXPECT_TRUE(store.claim(key("a"), false).crowded) << "also of an answer that is kept";
  store.leave(joined.back().call, joined.back().listener, true);
  EXPECT_EQ(store.claim(key("a"), false).call, made.call);
}

}  // namespace
}  // namespace daybreak::api
