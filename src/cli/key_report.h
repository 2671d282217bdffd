// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keys as `daybreak keys` prints them.

#include <string>
#include <vector>

#include "access/api_key.h"

namespace daybreak::cli {

// "active", "expired" or "revoked".
std::string key_state(const access::ApiKey& key, access::UtcMicros now);

// One JSON object without line end; with "key" if `text` is not empty.
std::string key_json(const access::ApiKey& key, access::UtcMicros now, const std::string& text);

// A table with one line per key.
std::string key_table(const std::vector<access::ApiKey>& keys, access::UtcMicros now);

}  // namespace daybreak::cli
