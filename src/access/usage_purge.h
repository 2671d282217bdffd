// SPDX-License-Identifier: Apache-2.0
#pragma once

// purge_usage(): deletes old entries of the ledger while a server writes new ones.

#include <chrono>
#include <cstdint>

#include "access/sqlite.h"
#include "access/utc_time.h"
#include "base/result.h"

namespace daybreak::access {

struct PurgeOptions {
  std::int64_t rows = 10'000;  // of one transaction: what a server's writer may have to wait for
  std::chrono::milliseconds pause{100};  // between two, so that the writer gets its turn
};

// Deletes every entry from before `time`. Returns how many there were. What is deleted stays
// deleted when it ends early.
// Errors: kInvalidArgument unless `time` is at most the start of the UTC month of `now`: what is
// left of a month's quotas is what the entries of that month leave; those of Database.
[[nodiscard]] Result<std::int64_t> purge_usage(Database& database, UtcMicros time, UtcMicros now,
                                               const PurgeOptions& options = {});

}  // namespace daybreak::access
