// SPDX-License-Identifier: Apache-2.0
#include "access/key_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "access/key_rows.h"
#include "access/key_text.h"

namespace daybreak::access {
namespace {

// Stored as its HMAC, it shows whether a pepper is the right one. No key text can equal it.
constexpr std::string_view kPepperProbe = "daybreak pepper probe";

// Returns "" if there is none.
Result<std::string> meta_value(Database& database, std::string_view name) {
  DAYBREAK_TRY(Statement select, database.prepare("SELECT value FROM meta WHERE name=?"));
  select.bind(1, name);
  DAYBREAK_TRY(const bool row, select.step());
  return row ? select.text(0) : std::string();
}

// Returns what tells `database` from every other one, making it when there is none yet.
Result<std::string> id_of(Database& database) {
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database));
  DAYBREAK_TRY(std::string id, meta_value(database, "database_id"));
  if (id.empty()) {
    std::array<unsigned char, 16> random{};
    DAYBREAK_CHECK_OK(random_bytes(random));
    id = fmt::format("{:02x}", fmt::join(random, ""));
    DAYBREAK_TRY(Statement insert, database.prepare("INSERT INTO meta VALUES ('database_id', ?)"));
    DAYBREAK_CHECK_OK(insert.bind(1, id).run());
  }
  DAYBREAK_CHECK_OK(transaction.commit());
  return id;
}

// Returns the pepper of `database`, making both pepper and probe when there is none yet.
Result<Pepper> pepper_of(Database& database, const std::filesystem::path& path) {
  // The lock is held meanwhile: two processes must not disagree about who was first.
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database));
  DAYBREAK_TRY(const std::string stored, meta_value(database, "pepper_probe"));
  DAYBREAK_TRY(const Pepper pepper,
               load_pepper(path, stored.empty() ? MissingPepper::kCreate : MissingPepper::kRefuse));
  DAYBREAK_TRY(const Digest probe, hmac_sha256(pepper, kPepperProbe));
  if (stored.empty()) {
    DAYBREAK_TRY(Statement insert, database.prepare("INSERT INTO meta VALUES ('pepper_probe', ?)"));
    insert.bind_blob(1, probe.data(), probe.size());
    DAYBREAK_CHECK_OK(insert.run());
  } else if (!std::ranges::equal(stored, probe, [](char a, unsigned char b) {
               return static_cast<unsigned char>(a) == b;
             })) {
    return Error{Errc::kPermission, fmt::format("{}: not the pepper that {} was made with",
                                                path.string(), database.name())};
  }
  DAYBREAK_CHECK_OK(transaction.commit());
  return pepper;
}

Result<std::int64_t> count_keys(Database& database) {
  return database.integer("SELECT count(*) FROM keys");
}

}  // namespace

Result<std::unique_ptr<KeyStore>> KeyStore::open(const KeyStoreOptions& options) {
  DAYBREAK_TRY(Database database, open_access_database(options.database, options.missing));
  std::filesystem::path path = options.pepper;
  if (path.empty()) {
    path = options.database;
    path += ".pepper";
  }
  DAYBREAK_TRY(const Pepper pepper, pepper_of(database, path));
  DAYBREAK_TRY(std::string id, id_of(database));
  std::unique_ptr<KeyStore> store(
      new KeyStore(std::move(database), pepper, std::move(id), *options.clock));
  const std::lock_guard lock(store->mutex_);
  DAYBREAK_CHECK_OK(store->load());
  return store;
}

Result<NewKey> KeyStore::create(const KeySettings& settings) {
  DAYBREAK_CHECK_OK(validate(settings));
  const std::lock_guard lock(mutex_);
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database_));
  DAYBREAK_TRY(const std::int64_t count, count_keys(database_));
  if (count >= kMaxKeys) {
    return Error{Errc::kResourceLimit, fmt::format("{}: already holds {} keys, the most possible",
                                                   database_.name(), count)};
  }
  const UtcMicros now = clock_.now();
  DAYBREAK_TRY(const KeyId id, insert_key(database_, settings, now));
  DAYBREAK_TRY(std::string text, add_secret(id, now));
  DAYBREAK_TRY(ApiKey key, read_key(database_, id));
  DAYBREAK_CHECK_OK(commit_and_load(std::move(transaction)));
  return NewKey{std::move(key), std::move(text)};
}

Result<ApiKey> KeyStore::update(KeyId id, const Change& change) {
  const std::lock_guard lock(mutex_);
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database_));
  DAYBREAK_TRY(ApiKey key, read_key(database_, id));
  DAYBREAK_CHECK_OK(change(key.settings));
  DAYBREAK_CHECK_OK(validate(key.settings));
  DAYBREAK_CHECK_OK(update_key(database_, id, key.settings));
  DAYBREAK_CHECK_OK(commit_and_load(std::move(transaction)));
  return key;
}

Result<ApiKey> KeyStore::revoke(KeyId id) {
  const std::lock_guard lock(mutex_);
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database_));
  DAYBREAK_TRY(Statement update,
               database_.prepare("UPDATE keys SET revoked=? WHERE id=? AND revoked IS NULL"));
  update.bind(1, clock_.now()).bind(2, static_cast<std::int64_t>(id));
  DAYBREAK_CHECK_OK(update.run());
  DAYBREAK_TRY(ApiKey key, read_key(database_, id));
  DAYBREAK_CHECK_OK(commit_and_load(std::move(transaction)));
  return key;
}

Result<NewKey> KeyStore::rotate(KeyId id, std::chrono::seconds grace) {
  if (grace < std::chrono::seconds(0) || grace > kMaxRotationGrace) {
    return Error{Errc::kInvalidArgument, fmt::format("grace: expected 0 to {} seconds, found {}",
                                                     kMaxRotationGrace.count(), grace.count())};
  }
  const std::lock_guard lock(mutex_);
  DAYBREAK_TRY(Transaction transaction, Transaction::begin(database_));
  DAYBREAK_TRY(ApiKey key, read_key(database_, id));
  if (key.revoked) {
    return Error{Errc::kInvalidArgument, fmt::format("key {} was revoked; create a new one",
                                                     static_cast<std::int64_t>(id))};
  }
  const UtcMicros now = clock_.now();
  const UtcMicros end = now + grace.count() * kMicrosPerSecond;
  // What has ended already goes, which is what bounds the table.
  DAYBREAK_TRY(Statement prune, database_.prepare("DELETE FROM secrets WHERE key_id=? AND"
                                                  " expires <= ?"));
  DAYBREAK_CHECK_OK(prune.bind(1, static_cast<std::int64_t>(id)).bind(2, now).run());
  DAYBREAK_TRY(Statement age, database_.prepare("UPDATE secrets SET expires=min(?,"
                                                "coalesce(expires, ?)) WHERE key_id=?"));
  DAYBREAK_CHECK_OK(age.bind(1, end).bind(2, end).bind(3, static_cast<std::int64_t>(id)).run());
  if (database_.rows_changed() >= kMaxSecretsPerKey) {
    return Error{Errc::kResourceLimit,
                 fmt::format("key {}: {} texts are valid already, the most possible; wait for the "
                             "grace of one to end",
                             static_cast<std::int64_t>(id), kMaxSecretsPerKey)};
  }
  DAYBREAK_TRY(std::string text, add_secret(id, now));
  key.prefix = text.substr(0, kKeyPrefixBytes);
  DAYBREAK_CHECK_OK(commit_and_load(std::move(transaction)));
  return NewKey{std::move(key), std::move(text)};
}

Result<std::vector<ApiKey>> KeyStore::list() {
  const std::lock_guard lock(mutex_);
  return read_keys(database_);
}

Result<std::shared_ptr<const ApiKey>> KeyStore::authenticate(std::string_view text) const {
  return snapshot()->find(text, clock_.now());
}

Result<std::shared_ptr<const ApiKey>> KeyStore::authenticate(KeyId id) const {
  return snapshot()->find(id, clock_.now());
}

bool KeyStore::has_owner(std::string_view owner) const {
  return snapshot()->has_owner(owner, clock_.now());
}

bool KeyStore::note_expiries() {
  const std::lock_guard lock(mutex_);
  const UtcMicros since = std::exchange(expiries_noted_, clock_.now());
  const std::optional<UtcMicros> next = snapshot()->next_expiry(since);
  return next && *next <= expiries_noted_;
}

Result<std::string> KeyStore::seal(std::string_view text) const {
  // No key text begins like this: a seal is never the digest of a key.
  DAYBREAK_TRY(const Digest digest, hmac_sha256(pepper_, fmt::format("seal\n{}\n{}", id_, text)));
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::shared_ptr<const KeySnapshot> KeyStore::snapshot() const {
  const std::lock_guard lock(snapshot_mutex_);
  return snapshot_;
}

Result<bool> KeyStore::reload() {
  const std::lock_guard lock(mutex_);
  DAYBREAK_TRY(const std::int64_t version, database_.integer("PRAGMA data_version"));
  if (version == data_version_) {
    return false;
  }
  DAYBREAK_TRY(const std::int64_t changes,
               database_.integer("SELECT value FROM meta WHERE name='key_changes'"));
  if (changes != key_changes_) {
    DAYBREAK_CHECK_OK(load());
    return true;
  }
  data_version_ = version;  // only usage was written
  return false;
}

Result<std::string> KeyStore::add_secret(KeyId id, UtcMicros now) {
  DAYBREAK_TRY(std::string text, generate_key_text());
  DAYBREAK_TRY(const Digest digest, hmac_sha256(pepper_, text));
  DAYBREAK_CHECK_OK(insert_secret(database_, {digest, id, std::nullopt},
                                  std::string_view(text).substr(0, kKeyPrefixBytes), now));
  return text;
}

Status KeyStore::commit_and_load(Transaction transaction) {
  DAYBREAK_CHECK_OK(
      database_.execute("UPDATE meta SET value = value + 1 WHERE name='key_changes'"));
  DAYBREAK_CHECK_OK(transaction.commit());
  return load();
}

Status KeyStore::load() {
  // One read transaction: keys, secrets and the counter belong together.
  DAYBREAK_TRY(const std::int64_t version, database_.integer("PRAGMA data_version"));
  DAYBREAK_TRY(const Transaction transaction, Transaction::begin_read(database_));
  DAYBREAK_TRY(const std::int64_t changes,
               database_.integer("SELECT value FROM meta WHERE name='key_changes'"));
  DAYBREAK_TRY(std::vector<ApiKey> keys, read_keys(database_));
  DAYBREAK_TRY(const std::vector<SecretRow> secrets, read_secrets(database_));
  std::unordered_map<std::int64_t, std::shared_ptr<const ApiKey>> by_id;
  for (ApiKey& key : keys) {
    const auto id = static_cast<std::int64_t>(key.id);
    by_id.emplace(id, std::make_shared<const ApiKey>(std::move(key)));
  }
  const auto snapshot = std::make_shared<KeySnapshot>(pepper_);
  for (const SecretRow& row : secrets) {
    const auto found = by_id.find(static_cast<std::int64_t>(row.key));
    if (found == by_id.end()) {
      return Error{Errc::kCorrupt,
                   fmt::format("{}: a digest belongs to key {}, which is missing", database_.name(),
                               static_cast<std::int64_t>(row.key))};
    }
    snapshot->add(row.digest, found->second, row.expires);
  }
  data_version_ = version;
  key_changes_ = changes;
  const std::lock_guard lock(snapshot_mutex_);
  snapshot_ = snapshot;
  return ok();
}

}  // namespace daybreak::access
