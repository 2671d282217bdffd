// SPDX-License-Identifier: Apache-2.0
#include "access/schema.h"

#include <fmt/format.h>

namespace daybreak::access {
namespace {

constexpr std::int64_t kApplicationId = 0x44626b41;  // "DbkA"
constexpr std::int64_t kVersion = 2;
// Version 1 had no keys with zero retention.
constexpr std::int64_t kVersionBefore = 1;
constexpr const char* kFromVersionBefore =
    "ALTER TABLE keys ADD COLUMN zero_retention INTEGER NOT NULL DEFAULT 0";

// meta.key_changes grows with every change of keys: what makes servers reload.
constexpr const char* kTables = R"sql(
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT;
INSERT INTO meta VALUES ('key_changes', 0);
CREATE TABLE keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL, tenant TEXT NOT NULL, scopes TEXT NOT NULL, models TEXT NOT NULL,
  priority INTEGER NOT NULL, created INTEGER NOT NULL, expires INTEGER, revoked INTEGER,
  requests_per_minute INTEGER, tokens_per_minute INTEGER, concurrency INTEGER,
  tokens_per_day INTEGER, tokens_per_month INTEGER, micro_usd_per_month INTEGER,
  zero_retention INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE secrets (
  digest BLOB PRIMARY KEY, key_id INTEGER NOT NULL REFERENCES keys(id),
  prefix TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER) STRICT;
CREATE INDEX secrets_by_key ON secrets(key_id);
CREATE TABLE usage (
  id INTEGER PRIMARY KEY, time INTEGER NOT NULL, request_id TEXT NOT NULL UNIQUE,
  key_id INTEGER NOT NULL, model TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL,
  cost_micro_usd INTEGER NOT NULL, outcome TEXT NOT NULL, stream INTEGER NOT NULL) STRICT;
CREATE INDEX usage_by_time ON usage(time);
)sql";

enum class Tables : std::uint8_t { kNone, kOld, kNew };

// Returns which tables of ours there are.
Result<Tables> check_version(Database& database) {
  DAYBREAK_TRY(const auto tables, database.integer("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) {
    return Tables::kNone;
  }
  DAYBREAK_TRY(const auto application, database.integer("PRAGMA application_id"));
  if (application != kApplicationId) {
    return Error{Errc::kInvalidArgument,
                 database.name() + ": expected an access database, found another program's"};
  }
  DAYBREAK_TRY(const auto version, database.integer("PRAGMA user_version"));
  if (version == kVersionBefore) {
    return Tables::kOld;
  }
  if (version != kVersion) {
    return Error{Errc::kUnsupported,
                 fmt::format("{}: expected version {} of an access database, found {}",
                             database.name(), kVersion, version)};
  }
  return Tables::kNew;
}

Status make_tables(Database& database) {
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database));
  DAYBREAK_TRY(const Tables tables, check_version(database));  // of another process meanwhile
  if (tables != Tables::kNew) {
    DAYBREAK_CHECK_OK(database.execute(tables == Tables::kNone ? kTables : kFromVersionBefore));
    DAYBREAK_CHECK_OK(database.execute(
        fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, kVersion)));
  }
  return transaction.commit();
}

}  // namespace

Result<Database> open_access_database(const std::filesystem::path& path,
                                      Database::Missing missing) {
  DAYBREAK_TRY(Database database, Database::open(path, missing));
  // Before anything is written: it may be another program's.
  DAYBREAK_TRY(const Tables tables, check_version(database));
  DAYBREAK_CHECK_OK(database.make_durable());
  if (tables != Tables::kNew) {
    DAYBREAK_CHECK_OK(make_tables(database));
  }
  return database;
}

}  // namespace daybreak::access
