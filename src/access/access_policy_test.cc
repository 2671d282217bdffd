// SPDX-License-Identifier: Apache-2.0
#include "access/access_policy.h"

#include <gtest/gtest.h>

#include <future>

#include "access/access_testing.h"

namespace daybreak::access {
namespace {

constexpr const char* kPrices =
    "usd_per_million_tokens:\n  k3: {prompt: 3, cached: 0.30, completion: 15}\n";

class AccessPolicyTest : public ::testing::Test {
 protected:
  void start(bool with_keys = true, std::size_t max_queue = 1000) {
    policy_.reset();
    AccessOptions options;
    options.ledger = *Ledger::open(
        {.database = db(), .missing = Database::Missing::kCreate, .max_queue = max_queue});
    if (with_keys) {
      options.keys = *KeyStore::open({.database = db(), .pepper = {}, .clock = &utc_});
    }
    Database database = *open_access_database(db(), Database::Missing::kRefuse);
    options.used = *quota_sums(database, utc_.now());
    options.prices = *Prices::parse(kPrices, "prices");
    options.clock = &clock_;
    options.utc = &utc_;
    policy_ = *AccessPolicy::create(std::move(options));
  }
  std::string add_key(const KeySettings& settings) {
    auto store = *KeyStore::open(
        {.database = db(), .pepper = {}, .missing = Database::Missing::kCreate, .clock = &utc_});
    return store->create(settings)->text;
  }
  std::optional<Permit> begin(const Caller& caller, RequestEstimate request) {
    auto got = policy_->begin(caller, std::move(request));
    if (auto* refusal = std::get_if<Refusal>(&got)) {
      refusal_ = *refusal;
      return std::nullopt;
    }
    return std::get<Permit>(std::move(got));
  }
  static Recorded finish(Permit& permit, const TokenCounts& tokens) {
    std::promise<Recorded> done;
    EXPECT_TRUE(permit.finish(tokens, Outcome::kStop,
                              [&](const Result<Recorded>& r) { done.set_value(*r); }));
    return done.get_future().get();
  }
  std::vector<Usage> entries() {
    Database database = *open_access_database(db(), Database::Missing::kRefuse);
    std::vector<Usage> out;
    EXPECT_TRUE(scan_usage(database, {}, [&](const Usage& usage) {
      out.push_back(usage);
      return ok();
    }));
    return out;
  }
  std::filesystem::path db() { return dir_ / "access.db"; }

  TemporaryDirectory dir_;
  ManualClock clock_;
  ManualUtc utc_;
  std::unique_ptr<AccessPolicy> policy_;
  std::optional<Refusal> refusal_;
};

TEST_F(AccessPolicyTest, OnlyAKeyWithScopeAndModelPasses) {
  KeySettings settings = test_settings();
  settings.models = {"k3"};
  const std::string text = add_key(settings);
  start();
  EXPECT_FALSE(policy_->open_to_all());
  ASSERT_TRUE(policy_->authorize(text, Scope::kInference, "k3"));
  EXPECT_TRUE(policy_->authorize(text, Scope::kInference, ""));
  const auto scope = policy_->authorize(text, Scope::kAdmin, "k3");
  EXPECT_EQ(scope.error(), (Error{Errc::kPermission, "the API key lacks the scope 'admin'"}));
  const auto model = policy_->authorize(text, Scope::kInference, "other");
  EXPECT_EQ(model.error(), (Error{Errc::kPermission, "the API key may not use the model 'other'"}));
  EXPECT_EQ(policy_->authorize("", Scope::kInference, "k3").error().code, Errc::kUnauthenticated);
  EXPECT_EQ(policy_->authorize("x", Scope::kInference, "k3").error().code, Errc::kUnauthenticated);
}

TEST_F(AccessPolicyTest, AnOpenServerLetsEverybodyInAndStillRecords) {
  start(false);
  EXPECT_TRUE(policy_->open_to_all());
  const auto caller = policy_->authorize("whatever", Scope::kAdmin, "k3");
  ASSERT_TRUE(caller);
  EXPECT_EQ((*caller)->id, kAnonymousId);
  EXPECT_EQ((*caller)->settings.name, "anonymous");
  EXPECT_FALSE(*policy_->reload_keys());
  auto permit = begin(*caller, {.request_id = "r",
                                .model = "k3",
                                .prompt_tokens = 10,
                                .max_completion_tokens = 5,
                                .stream = true});
  ASSERT_TRUE(permit);
  EXPECT_EQ(finish(*permit, {.prompt = 10, .cached = 4, .completion = 3}), Recorded::kNew);
  ASSERT_EQ(entries().size(), 1U);
  EXPECT_EQ(entries()[0], (Usage{.time = utc_.now(),
                                 .request_id = "r",
                                 .key = kAnonymousId,
                                 .model = "k3",
                                 .tokens = {10, 4, 3, 0},
                                 .cost_micro_usd = 64,  // 6*3 + 4*0.3 + 3*15 = 64.2
                                 .outcome = Outcome::kStop,
                                 .stream = true}));
}

TEST_F(AccessPolicyTest, WithoutALedgerAnOpenServerWorksAndKeysDoNot) {
  ASSERT_TRUE(add_key(test_settings()).size());
  auto open = *AccessPolicy::create({});
  auto got = open->begin(*open->authorize("", Scope::kInference, "m"),
                         {.request_id = "r", .model = "m", .prompt_tokens = 1});
  std::promise<Recorded> done;
  ASSERT_TRUE(std::get<Permit>(got).finish({.prompt = 1}, Outcome::kStop,
                                           [&](const auto& r) { done.set_value(*r); }));
  EXPECT_EQ(done.get_future().get(), Recorded::kNew);
  AccessOptions keys;
  keys.keys = *KeyStore::open({.database = db(), .pepper = {}});
  EXPECT_EQ(AccessPolicy::create(std::move(keys)).error().code, Errc::kInvalidArgument);
}

TEST_F(AccessPolicyTest, RatesAreReservedAndSettled) {
  KeySettings settings = test_settings();
  settings.limits.tokens_per_minute = 100;
  const std::string text = add_key(settings);
  start();
  const Caller caller = *policy_->authorize(text, Scope::kInference, "k3");
  auto permit = begin(
      caller, {.request_id = "a", .model = "k3", .prompt_tokens = 60, .max_completion_tokens = 40});
  ASSERT_TRUE(permit);
  EXPECT_EQ(permit->rates().tokens->remaining, 0);
  const RequestEstimate more{.request_id = "b", .model = "k3", .prompt_tokens = 30};
  ASSERT_FALSE(begin(caller, more));
  EXPECT_EQ(refusal_->limit, LimitKind::kTokensPerMinute);
  EXPECT_EQ(*refusal_->retry_after, std::chrono::seconds(18));
  finish(*permit, {.prompt = 60, .completion = 10});
  EXPECT_TRUE(begin(caller, more));  // and dropped, which gives it back
  EXPECT_TRUE(begin(caller, more));
  EXPECT_EQ(entries().size(), 1U);
}

TEST_F(AccessPolicyTest, NothingBeginsThatCouldNotBeWrittenDown) {
  const std::string text = add_key(test_settings());
  start(true, 2);
  const Caller caller = *policy_->authorize(text, Scope::kInference, "k3");
  const auto request = [](const char* id) {
    return RequestEstimate{.request_id = id, .model = "k3"};
  };
  auto first = begin(caller, request("a"));
  auto second = begin(caller, request("b"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  ASSERT_FALSE(begin(caller, request("c")));
  EXPECT_EQ(refusal_->limit, LimitKind::kServer);
  EXPECT_EQ(refusal_->error.code, Errc::kUnavailable);
  EXPECT_TRUE(refusal_->retry_after);
  second.reset();  // did not happen
  EXPECT_TRUE(begin(caller, request("c")));
}

TEST_F(AccessPolicyTest, QuotasAreNeverPassedAndSurviveARestart) {
  KeySettings settings = test_settings();
  settings.limits.tokens_per_day = 100;
  const std::string text = add_key(settings);
  start();
  Caller caller = *policy_->authorize(text, Scope::kInference, "k3");
  const auto request = [](const char* id, std::int64_t prompt) {
    return RequestEstimate{.request_id = id, .model = "k3", .prompt_tokens = prompt};
  };
  auto first = begin(caller, request("a", 60));
  ASSERT_TRUE(first);
  ASSERT_FALSE(begin(caller, request("b", 41)));  // in flight counts
  EXPECT_EQ(refusal_->limit, LimitKind::kTokensPerDay);
  EXPECT_EQ(refusal_->error.code, Errc::kResourceLimit);
  EXPECT_EQ(*refusal_->retry_after, std::chrono::hours(12));
  EXPECT_EQ(refusal_->error.message,
            "of the key's quota of 100 tokens a day, 60 tokens are used or reserved, and "
            "the request may use 41 tokens; it is renewed at 2026-12-01T00:00:00.000000Z");
  ASSERT_TRUE(begin(caller, request("b", 40)));
  ASSERT_FALSE(begin(caller, request("b", 101)));
  EXPECT_EQ(refusal_->error.code, Errc::kTooLarge);
  EXPECT_FALSE(refusal_->retry_after);
  finish(*first, {.prompt = 50});
  start();
  caller = *policy_->authorize(text, Scope::kInference, "k3");
  EXPECT_FALSE(begin(caller, request("c", 51)));
  EXPECT_TRUE(begin(caller, request("c", 50)));
  utc_.set("2026-12-01");
  EXPECT_TRUE(begin(caller, request("c", 100)));
  utc_.set("2026-11-30");  // the machine's clock goes back: the day is not given twice
  auto again = begin(caller, request("d", 100));
  ASSERT_TRUE(again);
  finish(*again, {.prompt = 100});
  EXPECT_FALSE(begin(caller, request("e", 1)));
}

TEST_F(AccessPolicyTest, MoneyOfAMonthIsAQuotaToo) {
  KeySettings settings = test_settings();
  settings.limits.micro_usd_per_month = 1000;
  settings.limits.tokens_per_month = 1000;
  const std::string text = add_key(settings);
  start();
  const Caller caller = *policy_->authorize(text, Scope::kInference, "k3");
  auto permit = begin(caller, {.request_id = "a",
                               .model = "k3",
                               .prompt_tokens = 83,
                               .max_completion_tokens = 50});  // 249 + 750
  ASSERT_TRUE(permit);
  ASSERT_FALSE(begin(caller, {.request_id = "b", .model = "k3", .prompt_tokens = 1}));
  EXPECT_EQ(refusal_->limit, LimitKind::kMoneyPerMonth);
  EXPECT_EQ(*refusal_->retry_after, std::chrono::hours(12));
  EXPECT_EQ(refusal_->error.message,
            "of the key's quota of $0.001 a month, $0.000999 are used or reserved, and the "
            "request may use $0.000003; it is renewed at 2026-12-01T00:00:00.000000Z");
  ASSERT_FALSE(begin(caller, {.request_id = "b", .model = "k3", .prompt_tokens = 400}));
  EXPECT_EQ(refusal_->error.message,
            "the request may use $0.0012, more than the key's quota of $0.001 a month ever allows");
  finish(*permit, {.prompt = 83, .completion = 0});
  EXPECT_TRUE(begin(caller, {.request_id = "b", .model = "k3", .prompt_tokens = 250}));
  ASSERT_FALSE(begin(caller, {.request_id = "b", .model = "k3", .prompt_tokens = 251}));
}

TEST_F(AccessPolicyTest, AnEntryCostsWhatHeldWhenItsRequestBegan) {
  start(false);
  auto before = begin(anonymous_caller(), {.request_id = "a", .model = "k3"});
  ASSERT_TRUE(before);
  policy_->set_prices(*Prices::parse(
      "usd_per_million_tokens:\n  k3: {prompt: 5, cached: 1, completion: 20}\n", "prices"));
  auto after = begin(anonymous_caller(), {.request_id = "b", .model = "k3"});
  ASSERT_TRUE(after);
  finish(*before, {.prompt = 10, .completion = 1});
  finish(*after, {.prompt = 10, .completion = 1});
  ASSERT_EQ(entries().size(), 2U);
  EXPECT_EQ(entries()[0].cost_micro_usd, 45);
  EXPECT_EQ(entries()[1].cost_micro_usd, 70);
}

TEST_F(AccessPolicyTest, ACallerKnownByItsIdNeedsKeyAndScope) {
  KeySettings settings = test_settings();
  add_key(settings);
  start();
  const KeyId key{1};
  EXPECT_EQ((*policy_->authorize(key, Scope::kInference))->id, key);
  EXPECT_EQ(policy_->authorize(key, Scope::kBatch).error().code, Errc::kPermission);
  EXPECT_EQ(policy_->authorize(kAnonymousId, Scope::kInference).error().code,
            Errc::kUnauthenticated);
  start(false);
  EXPECT_TRUE(policy_->authorize(kAnonymousId, Scope::kInference));
  EXPECT_EQ(policy_->authorize(key, Scope::kInference).error().code, Errc::kUnauthenticated);
}

TEST_F(AccessPolicyTest, ARetryUnderTheSameIdIsCountedOnce) {
  KeySettings settings = test_settings();
  settings.limits.tokens_per_month = 100;
  const std::string text = add_key(settings);
  start();
  const Caller caller = *policy_->authorize(text, Scope::kInference, "k3");
  for (int i = 0; i < 5; ++i) {
    auto permit = begin(caller, {.request_id = "same", .model = "k3", .prompt_tokens = 50});
    ASSERT_TRUE(permit) << i;
    EXPECT_EQ(finish(*permit, {.prompt = 50}), i == 0 ? Recorded::kNew : Recorded::kAlready);
  }
  EXPECT_EQ(entries().size(), 1U);
}

TEST_F(AccessPolicyTest, WhatCannotBeAccountedForDoesNotBegin) {
  start(false);
  const Caller caller = *policy_->authorize("", Scope::kInference, "");
  ASSERT_FALSE(begin(caller, {.request_id = "a", .model = "unpriced"}));
  EXPECT_EQ(refusal_->error.code, Errc::kNotFound);
  ASSERT_FALSE(begin(caller, {.request_id = "", .model = "k3"}));
  EXPECT_EQ(refusal_->error.code, Errc::kInvalidArgument);
  ASSERT_FALSE(begin(caller, {.request_id = "a", .model = "k3", .prompt_tokens = -1}));
  ASSERT_FALSE(
      begin(caller, {.request_id = "a", .model = "k3", .prompt_tokens = kMaxRequestTokens + 1}));
  auto permit = begin(caller, {.request_id = "a", .model = "k3", .prompt_tokens = 5});
  EXPECT_EQ(permit->finish({.prompt = 5, .cached = 6}, Outcome::kStop, nullptr).error().code,
            Errc::kInvalidArgument);
}

}  // namespace
}  // namespace daybreak::access
