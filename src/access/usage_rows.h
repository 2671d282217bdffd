// SPDX-License-Identifier: Apache-2.0
#pragma once

// Usage as rows of the table `usage`: writing one, reading many, adding up.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "access/quota_book.h"
#include "access/sqlite.h"
#include "access/usage.h"

namespace daybreak::access {

// The prepared INSERT. Must not outlive its Database; not thread-safe.
class UsageInsert {
 public:
  [[nodiscard]] static Result<UsageInsert> prepare(Database& database);
  // Returns whether the row is new: a request id that is there already changes nothing.
  [[nodiscard]] Result<bool> insert(const Usage& usage);

 private:
  UsageInsert(Database& database, Statement statement)
      : database_(&database), statement_(std::move(statement)) {}
  Database* database_;
  Statement statement_;
};

struct UsageFilter {
  UtcMicros from = 0;
  UtcMicros to = kMaxUtcMicros + 1;  // not included
  std::optional<KeyId> key = {};
  std::optional<std::string> model = {};
};

// Calls `each` with every entry that `filter` lets through and that was there at the call, in the
// order of writing. Reads a bounded number at a time and holds no lock in between, so that a slow
// reader neither needs memory nor keeps the writer's log from being emptied.
// Errors: those of `each`, which end it; kCorrupt for a row no version of this could write.
[[nodiscard]] Status scan_usage(Database& database, const UsageFilter& filter,
                                const std::function<Status(const Usage&)>& each);

enum class UsageGroup : std::uint8_t { kTenant, kKey, kModel, kDay, kMonth };

// Only the members that were grouped by are set.
struct UsageTotal {
  std::optional<std::string> tenant;  // as it is now; "" of keys without one, and without keys
  std::optional<KeyId> key;
  std::optional<std::string> model;
  std::optional<std::string> period;  // "2026-11-30", or "2026-11"
  std::int64_t requests = 0;
  TokenCounts tokens;
  std::int64_t cost_micro_usd = 0;
};

// Calls `each` with the totals of every group, in the order of period, tenant, key and
// model; without
// groups, once. Errors: those of `each`; kInvalidArgument for both day and month.
[[nodiscard]] Status total_usage(Database& database, const UsageFilter& filter,
                                 const std::vector<UsageGroup>& by,
                                 const std::function<Status(const UsageTotal&)>& each);

// Returns when each key's newest entry was written; keys without one are left out. Reads the whole
// ledger.
[[nodiscard]] Result<std::map<KeyId, UtcMicros>> last_uses(Database& database);

struct KeyQuotaSums {
  KeyId key{};
  QuotaSums sums;
};
// Returns what each key has used of the day and month of `now`.
[[nodiscard]] Result<std::vector<KeyQuotaSums>> quota_sums(Database& database, UtcMicros now);

}  // namespace daybreak::access
