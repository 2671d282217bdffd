// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keys as rows of the tables `keys` and `secrets`. Called inside transactions of the KeyStore.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "access/api_key.h"
#include "access/crypto.h"
#include "access/sqlite.h"

namespace daybreak::access {

[[nodiscard]] Result<KeyId> insert_key(Database& database, const KeySettings& settings,
                                       UtcMicros created);
[[nodiscard]] Status update_key(Database& database, KeyId id, const KeySettings& settings);

// What people call each key, revoked ones included.
using KeyNames = std::map<KeyId, std::string>;
[[nodiscard]] Result<KeyNames> read_key_names(Database& database);

// Returns all keys in the order of ids. Errors: kCorrupt for a row no version of this could write.
[[nodiscard]] Result<std::vector<ApiKey>> read_keys(Database& database);
// Errors: also kNotFound.
[[nodiscard]] Result<ApiKey> read_key(Database& database, KeyId id);

struct SecretRow {
  Digest digest;
  KeyId key{};
  std::optional<UtcMicros> expires;
};
[[nodiscard]] Status insert_secret(Database& database, const SecretRow& row,
                                   std::string_view prefix, UtcMicros created);
[[nodiscard]] Result<std::vector<SecretRow>> read_secrets(Database& database);

}  // namespace daybreak::access
