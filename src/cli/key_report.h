// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keys as `daybreak keys` prints them.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "access/key_store.h"

namespace daybreak::cli {

// "active", "expired" or "revoked".
std::string key_state(const access::ApiKey& key, access::UtcMicros now);

// One JSON object without line end. `last_used`: when its newest entry was written to the ledger.
std::string key_json(const access::ApiKey& key, access::UtcMicros now,
                     std::optional<access::UtcMicros> last_used);
// The same with the text, as "key", and without last use.
std::string new_key_json(const access::NewKey& made, access::UtcMicros now);

// A table with one line per key. A tenant, an expiry or a last use that is not there is "-".
std::string key_table(const std::vector<access::ApiKey>& keys, access::UtcMicros now,
                      const std::map<access::KeyId, access::UtcMicros>& last_uses);

}  // namespace daybreak::cli
