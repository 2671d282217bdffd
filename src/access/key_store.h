// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeyStore: the keys of an access database. A key's text is shown once, when it is made; only its
// HMAC-SHA-256 under the pepper is stored. Changes are seen at once by this store, and by other
// processes' stores at their next reload().

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/api_key.h"
#include "access/key_snapshot.h"
#include "access/schema.h"
#include "base/result.h"

namespace daybreak::access {

// Texts of one key that are valid at the same time, while rotations overlap.
inline constexpr std::int64_t kMaxSecretsPerKey = 8;
inline constexpr std::chrono::seconds kMaxRotationGrace{90 * 86'400};

struct KeyStoreOptions {
  std::filesystem::path database;
  std::filesystem::path pepper = {};  // empty: the database's path with ".pepper" added
  Database::Missing missing = Database::Missing::kRefuse;
  const UtcClock* clock = &UtcClock::system();
};

struct NewKey {
  ApiKey key;
  std::string text;  // the only time it is seen
};

// Thread-safe; authenticate() never waits for the disk. Every change may fail with the errors of
// Database; kIo or kCorrupt may mean that it was made, but could not be read back.
class KeyStore {
 public:
  // Creates a missing pepper only for a database that has none yet.
  // Errors: those of open_access_database() and load_pepper(); kPermission if the pepper is not the
  // one this database was made with.
  [[nodiscard]] static Result<std::unique_ptr<KeyStore>> open(const KeyStoreOptions& options);

  // Errors: kInvalidArgument (see validate()), kResourceLimit at kMaxKeys.
  [[nodiscard]] Result<NewKey> create(const KeySettings& settings);
  // Lets `change` edit the settings; if it or the result fails, nothing changes. Nobody else's
  // change can come between. Errors: kNotFound, those of `change`, kInvalidArgument.
  using Change = std::function<Status(KeySettings&)>;
  [[nodiscard]] Result<ApiKey> update(KeyId id, const Change& change);
  // Ends all texts of the key for ever; again is no error. Errors: kNotFound.
  [[nodiscard]] Result<ApiKey> revoke(KeyId id);
  // Makes a new text. The older ones are valid for `grace` from now, or their own end if that is
  // sooner. Errors: kNotFound, kInvalidArgument (revoked, or a grace outside [0,
  // kMaxRotationGrace]), kResourceLimit at kMaxSecretsPerKey.
  [[nodiscard]] Result<NewKey> rotate(KeyId id, std::chrono::seconds grace);
  // Returns all keys in the order of their ids.
  [[nodiscard]] Result<std::vector<ApiKey>> list();

  // See KeySnapshot::find() of both.
  [[nodiscard]] Result<std::shared_ptr<const ApiKey>> authenticate(std::string_view text) const;

  [[nodiscard]] Result<std::shared_ptr<const ApiKey>> authenticate(KeyId id) const;

  // See KeySnapshot::has_owner().
  [[nodiscard]] bool has_owner(std::string_view owner) const;

  // Whether a key has expired since the last call; the first one counts from open(). For a timer of
  // a second.
  [[nodiscard]] bool note_expiries();

  // Returns 64 hexadecimal digits that only a store of the same database returns for `text`: the
  // same pepper beside another database gives others.
  // Thread-safe. Errors: those of hmac_sha256().
  [[nodiscard]] Result<std::string> seal(std::string_view text) const;

  // Takes over what other processes have changed. Returns whether there was anything. Cheap if
  // there was not: for a timer of a second. After an error the keys stay as they were.
  [[nodiscard]] Result<bool> reload();

 private:
  KeyStore(Database database, const Pepper& pepper, std::string id, const UtcClock& clock)
      : database_(std::move(database)),
        pepper_(pepper),
        id_(std::move(id)),
        clock_(clock),
        expiries_noted_(clock.now()) {}
  [[nodiscard]] std::shared_ptr<const KeySnapshot> snapshot() const;
  [[nodiscard]] Result<ApiKey> change_settings(KeyId id, const Change& change);
  [[nodiscard]] Result<std::string> add_secret(KeyId id, UtcMicros now);
  [[nodiscard]] Status load();
  [[nodiscard]] Status commit_and_load(Transaction transaction);

  mutable std::mutex snapshot_mutex_;
  std::shared_ptr<const KeySnapshot> snapshot_;  // shared with look-ups in flight

  std::mutex mutex_;  // of everything below; taken before snapshot_mutex_
  Database database_;
  const Pepper pepper_;
  const std::string id_;  // of the database, for ever
  const UtcClock& clock_;
  UtcMicros expiries_noted_;        // until when
  std::int64_t data_version_ = -1;  // of SQLite: whether another connection wrote anything
  std::int64_t key_changes_ = -1;   // of meta: whether keys changed
};

}  // namespace daybreak::access
