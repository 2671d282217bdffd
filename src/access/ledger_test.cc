// SPDX-License-Identifier: Apache-2.0
#include "access/ledger.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include "access/access_testing.h"
#include "access/usage_purge.h"
#include "access/usage_text.h"

namespace daybreak::access {
namespace {

class LedgerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Ledger> open(std::size_t max_queue = 1000) {
    auto ledger = Ledger::open({.database = dir_ / "access.db",
                                .missing = Database::Missing::kCreate,
                                .max_queue = max_queue});
    EXPECT_TRUE(ledger) << ledger.error().message;
    return *std::move(ledger);
  }
  Database database() {
    return *open_access_database(dir_ / "access.db", Database::Missing::kCreate);
  }
  void append_all(const std::vector<Usage>& entries) {
    const auto ledger = open();
    for (const Usage& usage : entries) {
      ASSERT_TRUE(ledger->append(usage, nullptr));
    }
  }
  std::vector<Usage> scan(const UsageFilter& filter = {}) {
    Database db = database();
    std::vector<Usage> out;
    EXPECT_TRUE(scan_usage(db, filter, [&](const Usage& usage) {
      out.push_back(usage);
      return ok();
    }));
    return out;
  }
  std::string totals(const std::vector<UsageGroup>& by, const UsageFilter& filter = {}) {
    Database db = database();
    std::string out = total_csv_header(by);
    const Status status = total_usage(db, filter, by, [&](const UsageTotal& total) {
      out += total_csv(total, *read_key_names(db));
      return ok();
    });
    return status ? out : status.error().message;
  }

  TemporaryDirectory dir_;
};

TEST_F(LedgerTest, DoneComesAfterTheEntryCanBeRead) {
  const auto ledger = open();
  Usage usage = test_usage("r1");
  usage.outcome = Outcome::kToolCalls;
  usage.stream = true;
  std::promise<std::size_t> seen;
  ASSERT_TRUE(ledger->append(usage, [&](const Result<Recorded>& result) {
    seen.set_value(result && *result == Recorded::kNew ? scan().size() : 99);
  }));
  EXPECT_EQ(seen.get_future().get(), 1U);
  EXPECT_EQ(scan(), std::vector<Usage>{usage});
}

TEST_F(LedgerTest, ARequestIdIsRecordedOnce) {
  const auto ledger = open();
  std::vector<std::promise<Recorded>> done(3);
  Usage again = test_usage("r1");
  again.tokens.prompt = 999;
  ASSERT_TRUE(ledger->append(test_usage("r1"), [&](const auto& r) { done[0].set_value(*r); }));
  ASSERT_TRUE(ledger->append(again, [&](const auto& r) { done[1].set_value(*r); }));
  ASSERT_TRUE(ledger->append(test_usage("r2"), [&](const auto& r) { done[2].set_value(*r); }));
  EXPECT_EQ(done[0].get_future().get(), Recorded::kNew);
  EXPECT_EQ(done[1].get_future().get(), Recorded::kAlready);
  EXPECT_EQ(done[2].get_future().get(), Recorded::kNew);
  const auto rows = scan();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], test_usage("r1"));
}

TEST_F(LedgerTest, ClosingWritesWhatWaits) {
  std::vector<Usage> entries;
  for (int i = 0; i < 900; ++i) {
    entries.push_back(test_usage(fmt::format("r{}", i)));
  }
  append_all(entries);
  EXPECT_EQ(scan(), entries);
}

TEST_F(LedgerTest, EntriesShareCommits) {
  const auto ledger = open();
  std::promise<void> gate;
  std::promise<void> last;
  const std::shared_future<void> opened = gate.get_future().share();
  ASSERT_TRUE(ledger->append(test_usage("first"), [opened](const auto&) { opened.wait(); }));
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(ledger->append(test_usage(fmt::format("r{}", i)), [&, i](const auto&) {
      if (i == 499) {
        last.set_value();
      }
    }));
  }
  gate.set_value();
  last.get_future().get();
  EXPECT_LE(ledger->stats().commits,
            3U);  // the first, those that came before it was written, all others
}

TEST_F(LedgerTest, TheQueueIsBounded) {
  const auto ledger = open(3);
  std::promise<void> gate;
  const std::shared_future<void> opened = gate.get_future().share();
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_TRUE(ledger->append(test_usage(id), [opened](const auto&) { opened.wait(); }));
  }
  const auto full = ledger->append(test_usage("d"), [](const auto&) { ADD_FAILURE(); });
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Errc::kResourceLimit);
  EXPECT_EQ(ledger->stats().queued, 3U);
  gate.set_value();
}

TEST_F(LedgerTest, APlaceIsKeptForWhoeverReservedIt) {
  const auto ledger = open(2);
  auto first = ledger->reserve();
  ASSERT_TRUE(first);
  std::optional<Result<Ledger::Place>> second = ledger->reserve();
  ASSERT_TRUE(*second);
  EXPECT_EQ(ledger->reserve().error().code, Errc::kResourceLimit);
  EXPECT_EQ(ledger->append(test_usage("other"), nullptr).error().code, Errc::kResourceLimit);
  second.reset();  // gives it back
  EXPECT_EQ(ledger->stats().reserved, 1U);
  ASSERT_TRUE(ledger->append(*std::move(first), test_usage("mine"), nullptr));
  EXPECT_EQ(ledger->stats().reserved, 0U);
}

TEST_F(LedgerTest, PurgingTakesOldEntriesInPiecesAndNoneOfThisMonth) {
  std::vector<Usage> entries;
  for (int i = 0; i < 25; ++i) {
    entries.push_back(test_usage(fmt::format("old{}", i), *parse_utc("2026-09-30T23:59:59Z")));
  }
  const Usage kept = test_usage("kept", *parse_utc("2026-10-01"));
  entries.insert(entries.begin(), kept);
  append_all(entries);
  Database db = database();
  const UtcMicros now = *parse_utc("2026-11-30");
  const PurgeOptions pieces{.rows = 10, .pause = std::chrono::milliseconds(0)};
  const auto early = purge_usage(db, *parse_utc("2026-11-01T00:00:01Z"), now, pieces);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Errc::kInvalidArgument);
  EXPECT_NE(early.error().message.find("up to 2026-11-01T00:00:00.000000Z"), std::string::npos);
  EXPECT_EQ(scan().size(), 26U);
  EXPECT_EQ(*purge_usage(db, *parse_utc("2026-10-01"), now, pieces), 25);
  EXPECT_EQ(scan(), std::vector<Usage>{kept});
  EXPECT_EQ(*purge_usage(db, *parse_utc("2026-11-01"), now, pieces), 1);
  EXPECT_EQ(*purge_usage(db, *parse_utc("2026-11-01"), now, pieces), 0);
}

TEST_F(LedgerTest, EntriesThatCannotBeAreRefused) {
  const auto ledger = open();
  const auto refused = [&](const std::function<void(Usage&)>& spoil) {
    Usage usage = test_usage("r");
    spoil(usage);
    const auto status = ledger->append(usage, nullptr);
    return !status && status.error().code == Errc::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](Usage& u) { u.request_id.clear(); }));
  EXPECT_TRUE(refused([](Usage& u) { u.request_id = "a\nb"; }));
  EXPECT_TRUE(refused([](Usage& u) { u.request_id.assign(kMaxRequestIdBytes + 1, 'r'); }));
  EXPECT_TRUE(refused([](Usage& u) { u.tokens.cached = 101; }));
  EXPECT_TRUE(refused([](Usage& u) { u.tokens.reasoning = 21; }));
  EXPECT_TRUE(refused([](Usage& u) { u.tokens.reasoning = -1; }));
  EXPECT_TRUE(refused([](Usage& u) { u.tokens.prompt = kMaxRequestTokens + 1; }));
  EXPECT_TRUE(refused([](Usage& u) { u.cost_micro_usd = -1; }));
  EXPECT_TRUE(refused([](Usage& u) { u.time = kMaxUtcMicros + 1; }));
  EXPECT_FALSE(refused([](Usage& u) { u.request_id.assign(kMaxRequestIdBytes, 'r'); }));
}

TEST_F(LedgerTest, ScansInPiecesAndByFilter) {
  std::vector<Usage> entries;
  const UtcMicros start = *parse_utc("2026-11-30");
  const auto ledger = open(20'000);
  for (int i = 0; i < 9000; ++i) {
    Usage usage = test_usage(fmt::format("r{}", i), start + i);
    usage.key = KeyId{i % 3};
    usage.model = i % 2 == 0 ? "even" : "odd";
    entries.push_back(usage);
    ASSERT_TRUE(ledger->append(std::move(usage), nullptr));
  }
  while (ledger->stats().queued > 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(scan(), entries);
  EXPECT_EQ(scan({.from = start + 10, .to = start + 20}),
            (std::vector<Usage>(entries.begin() + 10, entries.begin() + 20)));
  EXPECT_EQ(scan({.key = KeyId{2}}).size(), 3000U);
  EXPECT_EQ(scan({.key = KeyId{2}, .model = "even"}).size(), 1500U);
  EXPECT_EQ(scan({.model = "none"}).size(), 0U);
  // What is written during a scan is not part of it.
  Database db = database();
  std::size_t count = 0;
  ASSERT_TRUE(scan_usage(db, {}, [&](const Usage&) {
    if (++count == 1) {
      EXPECT_TRUE(db.execute("INSERT INTO usage VALUES (99999,1,'n',1,'m',1,0,1,0,0,'stop',0)"));
    }
    return ok();
  }));
  EXPECT_EQ(count, 9000U);
}

TEST_F(LedgerTest, AddsUpByKeyModelAndTime) {
  const auto entry = [](const char* id, const char* time, std::int64_t key, const char* model) {
    Usage usage = test_usage(id, *parse_utc(time));
    usage.key = KeyId{key};
    usage.model = model;
    return usage;
  };
  append_all({entry("1", "2026-11-30T23:59:59.999999Z", 1, "a"),
              entry("2", "2026-12-01", 1, "b,\"c"), entry("3", "2026-12-01", 2, "a"),
              entry("4", "2026-12-31", 1, "a")});
  const std::string tail =
      "requests,prompt_tokens,cached_tokens,completion_tokens,reasoning_tokens,cost_micro_usd\n";
  const std::string one = "1,100,40,20,5,492\n";
  EXPECT_EQ(totals({}), tail + "4,400,160,80,20,1968\n");
  EXPECT_EQ(totals({UsageGroup::kKey}),
            "key_id,key_name," + tail + "1,,3,300,120,60,15,1476\n2,," + one);
  EXPECT_EQ(totals({UsageGroup::kModel, UsageGroup::kDay}),
            "day,model," + tail + "2026-11-30,a," + one + "2026-12-01,a," + one +
                "2026-12-01,\"b,\"\"c\"," + one + "2026-12-31,a," + one);
  EXPECT_EQ(totals({UsageGroup::kMonth}),
            "month," + tail + "2026-11," + one + "2026-12,3,300,120,60,15,1476\n");
  EXPECT_EQ(totals({UsageGroup::kMonth, UsageGroup::kDay}),
            "usage: expected day or month, found both");
  EXPECT_EQ(totals({}, {.from = *parse_utc("2027-01-01")}), tail + "0,0,0,0,0,0\n");
  EXPECT_EQ(totals({}, {.to = *parse_utc("2026-12-01")}), tail + one);
}

TEST_F(LedgerTest, AddsUpByTenantAndNamesKeys) {
  Database db = database();
  for (const char* tenant : {"team", "", "team"}) {
    KeySettings settings = test_settings();
    settings.name = std::string("of ") + tenant;
    settings.tenant = tenant;
    ASSERT_TRUE(insert_key(db, settings, 1));
  }
  std::vector<Usage> entries;
  for (const std::int64_t key : {1, 2, 3, 0, 9}) {  // 0 is nobody's, 9 is not there
    entries.push_back(test_usage(std::to_string(key), *parse_utc("2026-11-30") + key));
    entries.back().key = KeyId{key};
  }
  append_all(entries);
  const std::string tail =
      "requests,prompt_tokens,cached_tokens,completion_tokens,reasoning_tokens,cost_micro_usd\n";
  const std::string one = "1,100,40,20,5,492\n";
  EXPECT_EQ(totals({UsageGroup::kTenant}),
            "tenant," + tail + ",3,300,120,60,15,1476\nteam,2,200,80,40,10,984\n");
  EXPECT_EQ(totals({UsageGroup::kKey, UsageGroup::kTenant}, {.to = *parse_utc("2026-11-30") + 4}),
            "tenant,key_id,key_name," + tail + ",0,," + one + ",2,of ," + one + "team,1,of team," +
                one + "team,3,of team," + one);
  UsageTotal total;
  total.tenant = "team";
  total.key = KeyId{3};
  const auto json = nlohmann::json::parse(total_json(total, *read_key_names(db)));
  EXPECT_EQ(json["tenant"], "team");
  EXPECT_EQ(json["key_name"], "of team");
  const auto uses = last_uses(db);
  ASSERT_TRUE(uses) << uses.error().message;
  EXPECT_EQ(uses->size(), 5U);
  EXPECT_EQ(uses->at(KeyId{3}), *parse_utc("2026-11-30") + 3);
}

TEST_F(LedgerTest, QuotaSumsAreThoseOfTheDayAndMonth) {
  std::vector<Usage> entries = {test_usage("1", *parse_utc("2026-10-31T23:59:59.999999Z")),
                                test_usage("2", *parse_utc("2026-11-01")),
                                test_usage("3", *parse_utc("2026-11-29T23:59:59.999999Z")),
                                test_usage("4", *parse_utc("2026-11-30")),
                                test_usage("5", *parse_utc("2026-11-30T23:00:00Z"))};
  entries[4].key = KeyId{2};
  append_all(entries);
  Database db = database();
  const auto sums = quota_sums(db, *parse_utc("2026-11-30T12:00:00Z"));
  ASSERT_TRUE(sums) << sums.error().message;
  ASSERT_EQ(sums->size(), 2U);
  EXPECT_EQ((*sums)[0].key, KeyId{1});
  EXPECT_EQ((*sums)[0].sums.day_tokens, 120);
  EXPECT_EQ((*sums)[0].sums.month_tokens, 360);
  EXPECT_EQ((*sums)[0].sums.month_micro_usd, 3 * 492);
  EXPECT_EQ((*sums)[1].sums.day_tokens, 120);
}

TEST(UsageText, IsCsvAndJson) {
  Usage usage = test_usage("a,\"b\"", *parse_utc("2026-11-30T01:02:03.5Z"));
  usage.stream = true;
  EXPECT_EQ(usage_csv(usage, {{KeyId{1}, "x,y"}}),
            "2026-11-30T01:02:03.500000Z,\"a,\"\"b\"\"\",1,\"x,y\",k3,100,40,20,5,492,stop,true\n");
  const auto json = nlohmann::json::parse(usage_json(usage, {{KeyId{1}, "alice"}}));
  EXPECT_EQ(json["request_id"], "a,\"b\"");
  EXPECT_EQ(json["cost_micro_usd"], 492);
  EXPECT_EQ(json["stream"], true);
  EXPECT_EQ(json["time"], "2026-11-30T01:02:03.500000Z");
  EXPECT_EQ(json["key_name"], "alice");
  EXPECT_EQ(json.size(), 12U);
  for (const Outcome outcome : {Outcome::kStop, Outcome::kLength, Outcome::kToolCalls,
                                Outcome::kCancelled, Outcome::kError}) {
    EXPECT_EQ(*parse_outcome(to_string(outcome)), outcome);
  }
  EXPECT_FALSE(parse_outcome("ok"));
}

}  // namespace
}  // namespace daybreak::access
