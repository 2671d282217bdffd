// SPDX-License-Identifier: Apache-2.0
#include "access/key_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace daybreak::access {
namespace {

constexpr std::string_view kSelect =
    "SELECT id, name, tenant, scopes, models, priority, expires, requests_per_minute,"
    " tokens_per_minute, concurrency, tokens_per_day, tokens_per_month, micro_usd_per_month,"
    " zero_retention, created, revoked,"
    " (SELECT prefix FROM secrets WHERE key_id = keys.id ORDER BY created DESC, rowid DESC LIMIT 1)"
    " FROM keys";

// Names cannot hold line breaks, so lines keep them apart.
std::string join_lines(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void bind_optional(Statement& statement, int index, std::optional<std::int64_t> value) {
  if (value) {
    statement.bind(index, *value);
  } else {
    statement.bind_null(index);
  }
}

// Parameters 1 to 13, in the order of the columns of kSelect from `name`.
void bind_settings(Statement& statement, const KeySettings& settings) {
  statement.bind(1, settings.name).bind(2, settings.tenant);
  statement.bind(3, to_string(settings.scopes)).bind(4, join_lines(settings.models));
  statement.bind(5, std::int64_t{settings.priority});
  bind_optional(statement, 6, settings.expires);
  bind_optional(statement, 7, settings.limits.requests_per_minute);
  bind_optional(statement, 8, settings.limits.tokens_per_minute);
  bind_optional(statement, 9, settings.limits.concurrency);
  bind_optional(statement, 10, settings.limits.tokens_per_day);
  bind_optional(statement, 11, settings.limits.tokens_per_month);
  bind_optional(statement, 12, settings.limits.micro_usd_per_month);
  statement.bind(13, std::int64_t{settings.zero_retention ? 1 : 0});
}

std::optional<std::int64_t> optional_at(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
}

Result<ApiKey> key_of(const Statement& row) {
  ApiKey key;
  key.id = KeyId{row.integer(0)};
  KeySettings& settings = key.settings;
  settings.name = row.text(1);
  settings.tenant = row.text(2);
  auto scopes = parse_scopes(row.text(3));
  if (scopes) {
    settings.scopes = *scopes;
  }
  settings.models = split_lines(row.text(4));
  settings.priority = static_cast<int>(std::clamp<std::int64_t>(row.integer(5), -1, 1000));
  settings.expires = optional_at(row, 6);
  settings.limits = {.requests_per_minute = optional_at(row, 7),
                     .tokens_per_minute = optional_at(row, 8),
                     .concurrency = optional_at(row, 9),
                     .tokens_per_day = optional_at(row, 10),
                     .tokens_per_month = optional_at(row, 11),
                     .micro_usd_per_month = optional_at(row, 12)};
  settings.zero_retention = row.integer(13) != 0;
  key.created = row.integer(14);
  key.revoked = optional_at(row, 15);
  key.prefix = row.text(16);
  // A key that cannot be read must not become one with fewer limits.
  const Status valid = scopes ? validate(settings) : Status(scopes.error());
  if (!valid) {
    return Error{Errc::kCorrupt, fmt::format("key {}: {}", row.integer(0), valid.error().message)};
  }
  return key;
}

}  // namespace

Result<KeyId> insert_key(Database& database, const KeySettings& settings, UtcMicros created) {
  DAYBREAK_TRY(Statement insert,
               database.prepare("INSERT INTO keys(name, tenant, scopes, models, priority, expires,"
                                " requests_per_minute, tokens_per_minute, concurrency,"
                                " tokens_per_day, tokens_per_month, micro_usd_per_month,"
                                " zero_retention, created)"
                                " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  bind_settings(insert, settings);
  insert.bind(14, created);
  DAYBREAK_CHECK_OK(insert.run());
  return KeyId{database.last_rowid()};
}

Status update_key(Database& database, KeyId id, const KeySettings& settings) {
  DAYBREAK_TRY(Statement update,
               database.prepare("UPDATE keys SET name=?, tenant=?, scopes=?, models=?, priority=?,"
                                " expires=?, requests_per_minute=?, tokens_per_minute=?,"
                                " concurrency=?, tokens_per_day=?, tokens_per_month=?,"
                                " micro_usd_per_month=?, zero_retention=? WHERE id=?"));
  bind_settings(update, settings);
  update.bind(14, static_cast<std::int64_t>(id));
  return update.run();
}

Result<std::vector<ApiKey>> read_keys(Database& database) {
  DAYBREAK_TRY(Statement rows, database.prepare(std::string(kSelect) + " ORDER BY id"));
  std::vector<ApiKey> out;
  while (true) {
    DAYBREAK_TRY(const bool row, rows.step());
    if (!row) {
      return out;
    }
    DAYBREAK_TRY(ApiKey key, key_of(rows));
    out.push_back(std::move(key));
  }
}

Result<KeyNames> read_key_names(Database& database) {
  DAYBREAK_TRY(Statement rows, database.prepare("SELECT id, name FROM keys"));
  KeyNames out;
  while (true) {
    DAYBREAK_TRY(const bool row, rows.step());
    if (!row) {
      return out;
    }
    out.emplace(KeyId{rows.integer(0)}, rows.text(1));
  }
}

Result<ApiKey> read_key(Database& database, KeyId id) {
  DAYBREAK_TRY(Statement rows, database.prepare(std::string(kSelect) + " WHERE id=?"));
  rows.bind(1, static_cast<std::int64_t>(id));
  DAYBREAK_TRY(const bool row, rows.step());
  if (!row) {
    return Error{Errc::kNotFound,
                 fmt::format("no key has the id {}", static_cast<std::int64_t>(id))};
  }
  return key_of(rows);
}

Status insert_secret(Database& database, const SecretRow& row, std::string_view prefix,
                     UtcMicros created) {
  DAYBREAK_TRY(Statement insert,
               database.prepare("INSERT INTO secrets(digest, key_id, prefix, created, expires)"
                                " VALUES (?,?,?,?,?)"));
  insert.bind_blob(1, row.digest.data(), row.digest.size());
  insert.bind(2, static_cast<std::int64_t>(row.key)).bind(3, prefix).bind(4, created);
  bind_optional(insert, 5, row.expires);
  return insert.run();
}

Result<std::vector<SecretRow>> read_secrets(Database& database) {
  DAYBREAK_TRY(Statement rows, database.prepare("SELECT digest, key_id, expires FROM secrets"));
  std::vector<SecretRow> out;
  while (true) {
    DAYBREAK_TRY(const bool row, rows.step());
    if (!row) {
      return out;
    }
    const std::string digest = rows.text(0);
    SecretRow secret{{}, KeyId{rows.integer(1)}, optional_at(rows, 2)};
    if (digest.size() != secret.digest.size()) {
      return Error{Errc::kCorrupt,
                   fmt::format("key {}: expected a digest of {} bytes, found {}", rows.integer(1),
                               secret.digest.size(), digest.size())};
    }
    std::ranges::copy(digest, secret.digest.begin());
    out.push_back(secret);
  }
}

}  // namespace daybreak::access
