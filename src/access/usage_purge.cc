// SPDX-License-Identifier: Apache-2.0
#include "access/usage_purge.h"

#include <fmt/format.h>

#include <thread>

namespace daybreak::access {

Result<std::int64_t> purge_usage(Database& database, UtcMicros time, UtcMicros now,
                                 const PurgeOptions& options) {
  const UtcMicros latest = month_start(utc_month(now));
  if (time > latest) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("expected a time up to {}, the start of this month, whose entries the "
                             "quotas are counted from, found {}",
                             format_utc(latest), format_utc(time))};
  }
  DAYBREAK_TRY(Statement piece,
               database.prepare("DELETE FROM usage WHERE id IN (SELECT id FROM usage"
                                " WHERE time < ?1 ORDER BY time LIMIT ?2)"));
  for (std::int64_t deleted = 0;;) {
    piece.bind(1, time).bind(2, options.rows);
    DAYBREAK_CHECK_OK(piece.run());
    const std::int64_t rows = database.rows_changed();
    deleted += rows;
    if (rows < options.rows) {
      return deleted;
    }
    std::this_thread::sleep_for(options.pause);
  }
}

}  // namespace daybreak::access
