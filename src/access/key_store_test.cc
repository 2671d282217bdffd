// SPDX-License-Identifier: Apache-2.0
#include "access/key_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "access/access_testing.h"
#include "access/key_text.h"
#include "testing/paths.h"

namespace daybreak::access {
namespace {

class KeyStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<KeyStore> open(Database::Missing missing = Database::Missing::kCreate) {
    auto store = KeyStore::open(
        {.database = dir_ / "access.db", .pepper = {}, .missing = missing, .clock = &utc_});
    EXPECT_TRUE(store) << store.error().message;
    return store ? *std::move(store) : nullptr;
  }
  static std::string fault(const KeyStore& store, const std::string& text) {
    const auto found = store.authenticate(text);
    if (found) {
      return "";
    }
    EXPECT_EQ(found.error().code, Errc::kUnauthenticated);
    if (text.size() >= 4) {  // no part of it
      for (std::size_t i = 0; i + 4 <= text.size(); ++i) {
        EXPECT_EQ(found.error().message.find(text.substr(i, 4)), std::string::npos);
      }
    }
    return found.error().message;
  }

  TemporaryDirectory dir_;
  ManualUtc utc_;
};

TEST_F(KeyStoreTest, FindsAKeyByItsTextAndOnlyThat) {
  const auto store = open();
  const auto made = store->create(test_settings("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(is_key_text(made->text)) << made->text;
  EXPECT_EQ(made->key.prefix, made->text.substr(0, 12));
  EXPECT_EQ(made->key.created, utc_.now());
  const auto found = store->authenticate(made->text);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->id, made->key.id);
  EXPECT_EQ((*found)->settings, test_settings("a"));
  EXPECT_EQ(fault(*store, ""), "no API key was given; send it as 'Authorization: Bearer KEY'");
  std::string other = made->text;
  other.back() = other.back() == 'x' ? 'y' : 'x';
  EXPECT_EQ(fault(*store, other), "the API key is unknown");
  EXPECT_EQ(fault(*store, made->text + "a"), "the API key is malformed");
  EXPECT_EQ(fault(*store, made->text.substr(1)), "the API key is malformed");
  EXPECT_EQ(fault(*store, "Bearer " + made->text), "the API key is malformed");
  EXPECT_EQ(fault(*store, std::string(1'000'000, 'k')), "the API key is malformed");
  EXPECT_EQ(fault(*store, std::string(49, '\0')), "the API key is malformed");
}

TEST_F(KeyStoreTest, AnOwnerIsThereWhileOneOfHisKeysIsValid) {
  const auto store = open();
  KeySettings team = test_settings();
  team.tenant = "team";
  const auto lasting = store->create(team);
  team.expires = utc_.now() + 1'000'000;
  ASSERT_TRUE(lasting && store->create(team) && store->create(test_settings()));
  EXPECT_TRUE(store->has_owner("tenant:team"));
  EXPECT_TRUE(store->has_owner("key:3"));
  for (const char* nobody : {"", "team", "key:1", "key:4", "tenant:tea", "tenant:team2"}) {
    EXPECT_FALSE(store->has_owner(nobody)) << nobody;
  }
  ASSERT_TRUE(store->revoke(KeyId{1}));
  EXPECT_TRUE(store->has_owner("tenant:team")) << "the other key";
  utc_.advance_us(1'000'000);
  EXPECT_FALSE(store->has_owner("tenant:team"));
  ASSERT_TRUE(store->rotate(KeyId{3}, std::chrono::seconds(60)));
  EXPECT_TRUE(store->has_owner("key:3"));
  ASSERT_TRUE(store->revoke(KeyId{3}));
  EXPECT_FALSE(store->has_owner("key:3"));
}

TEST_F(KeyStoreTest, ASealIsOfOneDatabaseNotOfItsPepper) {
  const std::string sealed = *open()->seal("key:1");
  EXPECT_EQ(sealed.size(), 64U);
  EXPECT_EQ(*open()->seal("key:1"), sealed) << "opened again";
  EXPECT_NE(*open()->seal("key:2"), sealed);
  for (const char* part : {"access.db", "access.db-wal", "access.db-shm"}) {
    std::filesystem::remove(dir_ / part);
  }
  EXPECT_NE(*open()->seal("key:1"), sealed) << "a new database beside the old pepper";
}

TEST_F(KeyStoreTest, ADatabaseOfBeforeSealsGetsAnIdThatStays) {
  const std::string sealed = *open()->seal("key:1");
  ASSERT_TRUE(open_access_database(dir_ / "access.db", Database::Missing::kRefuse)
                  ->execute("DELETE FROM meta WHERE name='database_id'"));
  const std::string later = *open()->seal("key:1");
  EXPECT_NE(later, sealed);
  EXPECT_EQ(*open()->seal("key:1"), later);
}

TEST_F(KeyStoreTest, StoresNoKeyText) {
  const auto store = open();
  const std::string text = store->create(test_settings())->text;
  const std::string rotated = store->rotate(KeyId{1}, std::chrono::seconds(60))->text;
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    const std::string bytes = testing::read_file(entry.path());
    for (const std::string& secret : {text, rotated}) {
      EXPECT_EQ(bytes.find(secret), std::string::npos) << entry.path();
      EXPECT_EQ(bytes.find(secret.substr(kKeyPrefixBytes)), std::string::npos) << entry.path();
    }
    EXPECT_EQ(entry.status().permissions() & std::filesystem::perms(077),
              std::filesystem::perms::none)
        << entry.path();
  }
}

TEST_F(KeyStoreTest, KeysAreDifferentAndEvenlySpread) {
  std::set<std::string> texts;
  std::array<int, 128> counts{};
  for (int i = 0; i < 2000; ++i) {
    const std::string text = *generate_key_text();
    ASSERT_TRUE(is_key_text(text));
    texts.insert(text);
    for (const char c : text.substr(kKeyTextStart.size())) {
      ++counts.at(static_cast<std::size_t>(c));
    }
  }
  EXPECT_EQ(texts.size(), 2000U);
  // 86,000 draws among 62: 1387 each, standard deviation 37. Modulo 62 of all bytes would give the
  // first eight characters 1680.
  for (const char c : std::string("0123456789ABCXYZabcxyz")) {
    EXPECT_NEAR(counts.at(static_cast<std::size_t>(c)), 1387, 220) << c;
  }
}

TEST_F(KeyStoreTest, EverySettingSurvivesOpeningAgain) {
  KeySettings settings = test_settings("Ops \xC3\xA4, \"x\"");
  settings.tenant = "acme";
  settings.scopes = *parse_scopes("metrics,admin,batch");
  settings.models = {"kimi-k3", "nano"};
  settings.priority = 9;
  settings.zero_retention = true;
  settings.expires = *parse_utc("2027-01-01");
  settings.limits = {.requests_per_minute = 1,
                     .tokens_per_minute = 2,
                     .concurrency = 3,
                     .tokens_per_day = 4,
                     .tokens_per_month = kMaxQuota,
                     .micro_usd_per_month = 0};
  const std::string text = open()->create(settings)->text;
  const auto store = open(Database::Missing::kRefuse);
  EXPECT_EQ((*store->authenticate(text))->settings, settings);
  const auto keys = store->list();
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->size(), 1U);
  EXPECT_EQ(keys->front().settings, settings);
  EXPECT_EQ(keys->front().prefix, text.substr(0, 12));
}

TEST_F(KeyStoreTest, AQuotaOfMoneyIsSpokenOfInDollars) {
  KeySettings settings = test_settings();
  settings.limits.micro_usd_per_month = kMaxQuota;
  EXPECT_TRUE(validate(settings));
  settings.limits.micro_usd_per_month = kMaxQuota + 1;
  EXPECT_EQ(validate(settings).error().message,
            "dollars per month: expected 0 to 1000000000.00, found 1000000000.000001");
}

TEST_F(KeyStoreTest, ExpiryIsToTheMicrosecond) {
  const auto store = open();
  KeySettings settings = test_settings();
  settings.expires = utc_.now() + 10;
  const std::string text = store->create(settings)->text;
  utc_.advance_us(9);
  EXPECT_EQ(fault(*store, text), "");
  utc_.advance_us(1);
  EXPECT_EQ(fault(*store, text), "the API key has expired");
  ASSERT_TRUE(store->update(KeyId{1}, [](KeySettings& s) {
    s.expires.reset();
    return ok();
  }));
  EXPECT_EQ(fault(*store, text), "");
}

TEST_F(KeyStoreTest, AKnownKeyIsFoundByItsIdWhileItIsValid) {
  auto store = open();
  KeySettings settings = test_settings();
  const KeyId first = store->create(settings)->key.id;
  settings.expires = utc_.now() + 1000;
  const KeyId second = store->create(settings)->key.id;
  EXPECT_EQ((*store->authenticate(first))->id, first);
  ASSERT_TRUE(store->rotate(first, std::chrono::seconds(0)));
  EXPECT_TRUE(store->authenticate(first)) << "a rotation changes the text alone";
  EXPECT_TRUE(store->authenticate(second));
  utc_.advance_us(1000);
  EXPECT_NE(store->authenticate(second).error().message.find("expired"), std::string::npos);
  ASSERT_TRUE(store->revoke(first));
  EXPECT_NE(store->authenticate(first).error().message.find("revoked"), std::string::npos);
  for (const std::int64_t unknown : {0, 99, -1}) {
    EXPECT_EQ(store->authenticate(KeyId{unknown}).error().code, Errc::kUnauthenticated);
  }
}

TEST_F(KeyStoreTest, RevocationIsForEver) {
  const auto store = open();
  const std::string text = store->create(test_settings())->text;
  EXPECT_EQ(*store->revoke(KeyId{1})->revoked, utc_.now());
  EXPECT_EQ(fault(*store, text), "the API key was revoked");
  const UtcMicros first = utc_.now();
  utc_.advance_us(5);
  EXPECT_EQ(*store->revoke(KeyId{1})->revoked, first);
  EXPECT_EQ(store->rotate(KeyId{1}, std::chrono::seconds(0)).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(store->revoke(KeyId{2}).error().code, Errc::kNotFound);
  EXPECT_EQ(fault(*open(), text), "the API key was revoked");
}

TEST_F(KeyStoreTest, RotationLeavesTheOldTextValidForItsGrace) {
  const auto store = open();
  const std::string old = store->create(test_settings())->text;
  const auto rotated = store->rotate(KeyId{1}, std::chrono::seconds(60));
  ASSERT_TRUE(rotated) << rotated.error().message;
  EXPECT_NE(rotated->text, old);
  EXPECT_EQ(store->list()->front().prefix, rotated->text.substr(0, 12));
  utc_.advance_us(60 * kMicrosPerSecond - 1);
  EXPECT_EQ(fault(*store, old), "");
  EXPECT_EQ((*store->authenticate(old))->id, (*store->authenticate(rotated->text))->id);
  // A later rotation with more grace does not give the first text more.
  const auto third = store->rotate(KeyId{1}, std::chrono::seconds(3600));
  ASSERT_TRUE(third);
  utc_.advance_us(1);
  EXPECT_EQ(fault(*store, old), "the API key was replaced by a newer one");
  EXPECT_EQ(fault(*store, rotated->text), "");
  EXPECT_EQ(fault(*store, third->text), "");
  const auto now = store->rotate(KeyId{1}, std::chrono::seconds(0));
  EXPECT_EQ(fault(*store, third->text), "the API key was replaced by a newer one");
  EXPECT_EQ(fault(*store, now->text), "");
}

TEST_F(KeyStoreTest, TextsOfOneKeyAreBounded) {
  const auto store = open();
  ASSERT_TRUE(store->create(test_settings()));
  for (std::int64_t i = 1; i < kMaxSecretsPerKey; ++i) {
    ASSERT_TRUE(store->rotate(KeyId{1}, std::chrono::seconds(60))) << i;
  }
  EXPECT_EQ(store->rotate(KeyId{1}, std::chrono::seconds(60)).error().code, Errc::kResourceLimit);
  utc_.advance_us(61 * kMicrosPerSecond);
  EXPECT_TRUE(store->rotate(KeyId{1}, std::chrono::seconds(60)));
  EXPECT_EQ(store->rotate(KeyId{1}, kMaxRotationGrace + std::chrono::seconds(1)).error().code,
            Errc::kInvalidArgument);
  EXPECT_EQ(store->rotate(KeyId{1}, std::chrono::seconds(-1)).error().code, Errc::kInvalidArgument);
}

TEST_F(KeyStoreTest, ReloadTakesOverWhatAnotherProcessChanged) {
  const auto server = open();
  const auto admin = open();
  const std::string text = admin->create(test_settings())->text;
  EXPECT_EQ(fault(*server, text), "the API key is unknown");
  EXPECT_TRUE(*server->reload());
  EXPECT_EQ(fault(*server, text), "");
  EXPECT_FALSE(*server->reload());
  const auto held = *server->authenticate(text);
  ASSERT_TRUE(admin->update(KeyId{1}, [](KeySettings& s) {
    s.priority = 5;
    return ok();
  }));
  EXPECT_TRUE(*server->reload());
  EXPECT_EQ((*server->authenticate(text))->settings.priority, 5);
  EXPECT_EQ(held->settings.priority, 0);  // what a request began with does not change under it
  ASSERT_TRUE(admin->revoke(KeyId{1}));
  EXPECT_TRUE(*server->reload());
  EXPECT_EQ(fault(*server, text), "the API key was revoked");
}

TEST_F(KeyStoreTest, ReloadIgnoresUsage) {
  const auto server = open();
  auto other = *open_access_database(dir_ / "access.db", Database::Missing::kRefuse);
  ASSERT_TRUE(other.execute("INSERT INTO usage VALUES (1,1,'r',1,'m',1,0,1,0,0,'stop',0)"));
  EXPECT_FALSE(*server->reload());
}

TEST_F(KeyStoreTest, AFailedUpdateChangesNothing) {
  const auto store = open();
  ASSERT_TRUE(store->create(test_settings()));
  EXPECT_EQ(store
                ->update(KeyId{1},
                         [](KeySettings& s) {
                           s.priority = 10;
                           return ok();
                         })
                .error()
                .code,
            Errc::kInvalidArgument);
  EXPECT_EQ(store
                ->update(KeyId{1},
                         [](KeySettings& s) {
                           s.priority = 3;
                           return Status(Error{Errc::kCancelled, "no"});
                         })
                .error()
                .code,
            Errc::kCancelled);
  EXPECT_EQ(store->list()->front().settings.priority, 0);
  EXPECT_EQ(store->update(KeyId{7}, [](KeySettings&) { return ok(); }).error().code,
            Errc::kNotFound);
}

TEST_F(KeyStoreTest, SettingsHaveBounds) {
  const auto store = open();
  const auto refused = [&](const std::function<void(KeySettings&)>& spoil) {
    KeySettings settings = test_settings();
    spoil(settings);
    const auto made = store->create(settings);
    return !made && made.error().code == Errc::kInvalidArgument;
  };
  EXPECT_FALSE(refused([](KeySettings& s) { s.name = std::string(kMaxKeyNameBytes, 'n'); }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.name = std::string(kMaxKeyNameBytes + 1, 'n'); }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.name.clear(); }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.name = "a\nb"; }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.name = "\xff"; }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.models = {"a\nb"}; }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.models = {""}; }));
  EXPECT_FALSE(refused([](KeySettings& s) { s.models.assign(kMaxKeyModels, "m"); }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.models.assign(kMaxKeyModels + 1, "m"); }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.scopes = {}; }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.priority = -1; }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.limits.tokens_per_day = -1; }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.limits.tokens_per_minute = kMaxRatePerMinute + 1; }));
  EXPECT_TRUE(refused([](KeySettings& s) { s.expires = -1; }));
}

TEST_F(KeyStoreTest, KeysOfADatabaseAreBounded) {
  const auto store = open();
  auto database = *open_access_database(dir_ / "access.db", Database::Missing::kRefuse);
  ASSERT_TRUE(database.execute(
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 65536) INSERT INTO"
      " keys(name, tenant, scopes, models, priority, created)"
      " SELECT 'k', '', 'admin', '', 0, 1 FROM n"));
  EXPECT_TRUE(store->create(test_settings()));
  EXPECT_EQ(store->create(test_settings()).error().code, Errc::kResourceLimit);
}

TEST_F(KeyStoreTest, ThePepperMustBeTheOneTheDatabaseWasMadeWith) {
  ASSERT_TRUE(open()->create(test_settings()));
  const auto pepper = dir_ / "access.db.pepper";
  const auto reopen = [&] {
    return KeyStore::open({.database = dir_ / "access.db", .pepper = {}});
  };
  std::filesystem::rename(pepper, dir_ / "kept");
  EXPECT_EQ(reopen().error().code, Errc::kNotFound);  // not a new one, which would know no key
  EXPECT_FALSE(std::filesystem::exists(pepper));
  ASSERT_TRUE(load_pepper(pepper, MissingPepper::kCreate));
  EXPECT_EQ(reopen().error().code, Errc::kPermission);
  std::filesystem::rename(dir_ / "kept", pepper);
  EXPECT_TRUE(reopen());
}

TEST_F(KeyStoreTest, OtherDatabasesAreRefusedAndLeftAlone) {
  EXPECT_EQ(KeyStore::open({.database = dir_ / "no.db", .pepper = {}}).error().code,
            Errc::kNotFound);
  const auto path = dir_ / "other.db";
  {
    auto other = *Database::open(path, Database::Missing::kCreate);
    ASSERT_TRUE(other.execute("CREATE TABLE t (x)"));
  }
  const std::string before = testing::read_file(path);
  EXPECT_EQ(KeyStore::open({.database = path, .pepper = {}}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(testing::read_file(path), before);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "other.db.pepper"));
  std::ofstream(dir_ / "text.db") << std::string(10'000, 'x');
  EXPECT_EQ(KeyStore::open({.database = dir_ / "text.db", .pepper = {}}).error().code,
            Errc::kCorrupt);
  ASSERT_TRUE(open());
  auto newer = *open_access_database(dir_ / "access.db", Database::Missing::kRefuse);
  ASSERT_TRUE(newer.execute("PRAGMA user_version=3"));
  EXPECT_EQ(KeyStore::open({.database = dir_ / "access.db", .pepper = {}}).error().code,
            Errc::kUnsupported);
}

TEST_F(KeyStoreTest, ADatabaseOfVersion1IsTakenOver) {
  ASSERT_TRUE(open()->create(test_settings()));
  {
    auto older = *open_access_database(dir_ / "access.db", Database::Missing::kRefuse);
    ASSERT_TRUE(older.execute("ALTER TABLE keys DROP COLUMN zero_retention"));
    ASSERT_TRUE(older.execute("PRAGMA user_version=1"));
  }
  const auto store = open();
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->list()->front().settings.zero_retention);
  KeySettings settings = test_settings();
  settings.zero_retention = true;
  ASSERT_TRUE(store->create(settings));
  EXPECT_TRUE(store->list()->back().settings.zero_retention);
  auto now = *open_access_database(dir_ / "access.db", Database::Missing::kRefuse);
  EXPECT_EQ(*now.integer("PRAGMA user_version"), 2);
}

TEST_F(KeyStoreTest, ADamagedRowIsNoKeyWithFewerLimits) {
  ASSERT_TRUE(open()->create(test_settings()));
  auto database = *open_access_database(dir_ / "access.db", Database::Missing::kRefuse);
  for (const char* damage : {"scopes='root'", "priority=77", "tokens_per_day=-5", "name=''"}) {
    ASSERT_TRUE(database.execute("SAVEPOINT s"));
    ASSERT_TRUE(database.execute(std::string("UPDATE keys SET ") + damage));
    ASSERT_TRUE(database.execute("RELEASE s"));
    EXPECT_EQ(KeyStore::open({.database = dir_ / "access.db", .pepper = {}}).error().code,
              Errc::kCorrupt)
        << damage;
    ASSERT_TRUE(database.execute(
        "UPDATE keys SET scopes='inference', priority=0, tokens_per_day=NULL, name='n'"));
  }
  EXPECT_TRUE(open());
}

TEST(DatabaseTest, CommitsReachTheDisk) {
  const TemporaryDirectory dir;
  auto database = *open_access_database(dir / "a.db", Database::Missing::kCreate);
  EXPECT_EQ(*database.integer("PRAGMA synchronous"), 2);  // FULL
  auto mode = *database.prepare("PRAGMA journal_mode");
  ASSERT_TRUE(*mode.step());
  EXPECT_EQ(mode.text(0), "wal");
}

}  // namespace
}  // namespace daybreak::access
