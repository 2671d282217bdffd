// SPDX-License-Identifier: Apache-2.0
// A server whose usage ledger cannot be written for a while, or to the end.

#include <gtest/gtest.h>

#include "api/admission_test_server.h"

namespace daybreak::api {
namespace {

using LedgerLockTest = AdmissionTest;

// What a client saw the end of is in the ledger as soon as that can be written again.
TEST_F(LedgerLockTest, AnAnswerGivenWhileTheLedgerIsLockedIsWrittenDownLater) {
  const std::string key = add_key(access::test_settings());
  start(TestApi::says(kAnswer), {}, std::chrono::seconds(0));
  EXPECT_EQ(status_of(api_->get("/ready")), 200);
  {
    access::Database other =
        *access::open_access_database(db(), access::Database::Missing::kRefuse);
    const auto held = access::Transaction::begin(other);
    ASSERT_TRUE(held);
    EXPECT_EQ(status_of(post(chat_body(), bearer(key))), 200);
    EXPECT_TRUE(entries().empty());
    const std::string ready = api_->get("/ready");
    EXPECT_EQ(status_of(ready), 503);
    EXPECT_NE(ready.find("usage ledger behind"), std::string::npos) << ready;
    EXPECT_EQ(status_of(api_->get("/health")), 200);
    const std::string metrics = api_->metrics.text();
    EXPECT_NE(metrics.find("daybreak_usage_entries_queued 1\n"), std::string::npos) << metrics;
    EXPECT_EQ(metrics.find("daybreak_usage_write_failures_total 0\n"), std::string::npos);
    EXPECT_NE(api_->logged().find("usage not recorded yet"), std::string::npos);
  }
  EXPECT_TRUE(eventually([&] { return entries().size() == 1; }));
  EXPECT_TRUE(eventually([&] { return status_of(api_->get("/ready")) == 200; }));
}

TEST_F(LedgerLockTest, WhatIsLostAtTheEndIsToldEntryByEntry) {
  const std::string key = add_key(access::test_settings());
  start();
  access::Database other = *access::open_access_database(db(), access::Database::Missing::kRefuse);
  const auto held = access::Transaction::begin(other);
  ASSERT_TRUE(held);
  EXPECT_EQ(status_of(post(chat_body(), bearer(key) + "x-request-id: told\r\n")), 200);
  api_->service->start_draining();
  api_->engine.stop(std::chrono::milliseconds(0));
  api_->server->stop();
  api_->service->stop_workers();
  const std::string log = api_->logged();
  EXPECT_NE(log.find("usage lost"), std::string::npos) << log;
  EXPECT_NE(log.find("told-"), std::string::npos) << log;
  EXPECT_NE(log.find("entries=1"), std::string::npos) << log;
}

}  // namespace
}  // namespace daybreak::api
