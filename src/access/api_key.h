// SPDX-License-Identifier: Apache-2.0
#pragma once

// ApiKey: who a caller is and what he may do. Holds no secret.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "access/scope.h"
#include "access/utc_time.h"
#include "base/result.h"

namespace daybreak::access {

enum class KeyId : std::int64_t {};
// The caller of a server without keys.
inline constexpr KeyId kAnonymousId{0};

// Keys in one database, revoked ones included; they are never deleted, since the ledger names them.
inline constexpr std::int64_t kMaxKeys = 65'536;
inline constexpr std::size_t kMaxKeyNameBytes = 128;
inline constexpr std::size_t kMaxKeyModels = 256;
inline constexpr std::size_t kMaxModelNameBytes = 256;
inline constexpr int kMaxPriority = 9;
inline constexpr std::int64_t kMaxRatePerMinute = 1'000'000'000;
inline constexpr std::int64_t kMaxConcurrency = 1'000'000;
inline constexpr std::int64_t kMaxQuota = 1'000'000'000'000'000;  // tokens, or micro-dollars

// Nothing: no limit. Zero: nothing is allowed.
struct KeyLimits {
  std::optional<std::int64_t> requests_per_minute = {};  // [0, kMaxRatePerMinute]
  std::optional<std::int64_t> tokens_per_minute = {};    // [0, kMaxRatePerMinute]
  std::optional<std::int64_t> concurrency = {};          // answers that run or wait
  std::optional<std::int64_t> tokens_per_day = {};       // UTC days and months, [0, kMaxQuota]
  std::optional<std::int64_t> tokens_per_month = {};
  std::optional<std::int64_t> micro_usd_per_month = {};
  friend bool operator==(const KeyLimits&, const KeyLimits&) = default;
};

// What an administrator chooses.
struct KeySettings {
  std::string name;    // for people; need not be unique
  std::string tenant;  // whose data may share caches; empty: the key is a tenant of its own
  ScopeSet scopes;
  std::vector<std::string> models;  // empty: all
  int priority = 0;                 // 0 (lowest) to kMaxPriority
  bool zero_retention = false;      // what its requests are about stays in memory
  std::optional<UtcMicros> expires;
  KeyLimits limits;
  friend bool operator==(const KeySettings&, const KeySettings&) = default;
};

struct ApiKey {
  KeyId id{};
  KeySettings settings;
  std::string prefix;  // the first 12 characters of the newest key text
  UtcMicros created = 0;
  std::optional<UtcMicros> revoked;
};

// Errors: kInvalidArgument naming the setting, its range and what was found.
[[nodiscard]] Status validate(const KeySettings& settings);

// Errors: kInvalidArgument unless `text` is 1 to `max_bytes` bytes of UTF-8 without control
// characters; `what` names it in the message.
[[nodiscard]] Status validate_name(std::string_view what, std::string_view text,
                                   std::size_t max_bytes);

// Returns whose data the key's requests may see: its tenant's, or its own. Rotations and restarts
// keep it; "" of the anonymous caller.
[[nodiscard]] std::string owner_of(const ApiKey& key);

[[nodiscard]] bool allows_model(const ApiKey& key, std::string_view model);

}  // namespace daybreak::access
