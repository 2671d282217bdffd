// SPDX-License-Identifier: Apache-2.0
#include "access/usage_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace daybreak::access {
namespace {

constexpr std::int64_t kRowsPerRead = 4096;

// Parameters 1 to 4; the last two apply if they are not null.
constexpr std::string_view kWhere =
    " WHERE time >= ?1 AND time < ?2 AND (?3 IS NULL OR key_id = ?3) AND (?4 IS NULL OR model = "
    "?4)";

void bind_filter(Statement& statement, const UsageFilter& filter) {
  statement.bind(1, filter.from).bind(2, filter.to);
  if (filter.key) {
    statement.bind(3, static_cast<std::int64_t>(*filter.key));
  }
  if (filter.model) {
    statement.bind(4, *filter.model);
  }
}

Result<Usage> usage_of(const Statement& row) {
  Usage out;
  out.time = row.integer(1);
  out.request_id = row.text(2);
  out.key = KeyId{row.integer(3)};
  out.model = row.text(4);
  out.tokens = {row.integer(5), row.integer(6), row.integer(7), row.integer(8)};
  out.cost_micro_usd = row.integer(9);
  const auto outcome = parse_outcome(row.text(10));
  const Status valid = outcome ? validate(out) : Status(outcome.error());
  if (!valid) {
    return Error{Errc::kCorrupt,
                 fmt::format("usage entry {}: {}", row.integer(0), valid.error().message)};
  }
  out.outcome = *outcome;
  out.stream = row.integer(11) != 0;
  return out;
}

struct Chunk {
  std::vector<Usage> rows;
  std::int64_t last_id = 0;
};

Result<Chunk> read_chunk(Database& database, const UsageFilter& filter, std::int64_t after,
                         std::int64_t up_to) {
  DAYBREAK_TRY(Statement rows,
               database.prepare(fmt::format(
                   "SELECT id, time, request_id, key_id, model, prompt_tokens, cached_tokens,"
                   " completion_tokens, reasoning_tokens, cost_micro_usd, outcome, stream"
                   " FROM usage NOT INDEXED{} AND id > ?5 AND id <= ?6 ORDER BY id LIMIT {}",
                   kWhere, kRowsPerRead)));
  bind_filter(rows, filter);
  rows.bind(5, after).bind(6, up_to);
  Chunk out;
  while (true) {
    DAYBREAK_TRY(const bool row, rows.step());
    if (!row) {
      return out;
    }
    DAYBREAK_TRY(Usage usage, usage_of(rows));
    out.rows.push_back(std::move(usage));
    out.last_id = rows.integer(0);
  }
}

struct Column {
  UsageGroup group;
  const char* sql;
};
// In the order of the output.
constexpr Column kColumns[] = {
    {UsageGroup::kDay, "strftime('%Y-%m-%d', time / 1000000, 'unixepoch')"},
    {UsageGroup::kMonth, "strftime('%Y-%m', time / 1000000, 'unixepoch')"},
    {UsageGroup::kTenant, "coalesce((SELECT tenant FROM keys WHERE keys.id = usage.key_id), '')"},
    {UsageGroup::kKey, "key_id"},
    {UsageGroup::kModel, "model"}};

UsageTotal total_of(const Statement& row, const std::vector<UsageGroup>& groups) {
  UsageTotal out;
  int column = 0;
  for (const UsageGroup group : groups) {
    if (group == UsageGroup::kKey) {
      out.key = KeyId{row.integer(column)};
    } else if (group == UsageGroup::kModel) {
      out.model = row.text(column);
    } else if (group == UsageGroup::kTenant) {
      out.tenant = row.text(column);
    } else {
      out.period = row.text(column);
    }
    ++column;
  }
  out.requests = row.integer(column);
  out.tokens = {row.integer(column + 1), row.integer(column + 2), row.integer(column + 3),
                row.integer(column + 4)};
  out.cost_micro_usd = row.integer(column + 5);
  return out;
}

}  // namespace

Result<UsageInsert> UsageInsert::prepare(Database& database) {
  DAYBREAK_TRY(Statement statement,
               database.prepare("INSERT INTO usage(time, request_id, key_id, model, prompt_tokens,"
                                " cached_tokens, completion_tokens, reasoning_tokens,"
                                " cost_micro_usd, outcome, stream)"
                                " VALUES (?,?,?,?,?,?,?,?,?,?,?)"
                                " ON CONFLICT(request_id) DO NOTHING"));
  return UsageInsert(database, std::move(statement));
}

Result<bool> UsageInsert::insert(const Usage& usage) {
  statement_.bind(1, usage.time).bind(2, usage.request_id);
  statement_.bind(3, static_cast<std::int64_t>(usage.key)).bind(4, usage.model);
  statement_.bind(5, usage.tokens.prompt).bind(6, usage.tokens.cached);
  statement_.bind(7, usage.tokens.completion).bind(8, usage.tokens.reasoning);
  statement_.bind(9, usage.cost_micro_usd).bind(10, to_string(usage.outcome));
  statement_.bind(11, std::int64_t{usage.stream});
  DAYBREAK_CHECK_OK(statement_.run());
  return database_->rows_changed() == 1;
}

Status scan_usage(Database& database, const UsageFilter& filter,
                  const std::function<Status(const Usage&)>& each) {
  DAYBREAK_TRY(const std::int64_t up_to,
               database.integer("SELECT coalesce(max(id), 0) FROM usage"));
  std::int64_t after = std::numeric_limits<std::int64_t>::min();
  while (true) {
    DAYBREAK_TRY(const Chunk chunk, read_chunk(database, filter, after, up_to));
    for (const Usage& usage : chunk.rows) {
      DAYBREAK_CHECK_OK(each(usage));
    }
    if (std::ssize(chunk.rows) < kRowsPerRead) {
      return ok();
    }
    after = chunk.last_id;
  }
}

Status total_usage(Database& database, const UsageFilter& filter, const std::vector<UsageGroup>& by,
                   const std::function<Status(const UsageTotal&)>& each) {
  const auto wanted = [&](UsageGroup group) { return std::ranges::find(by, group) != by.end(); };
  if (wanted(UsageGroup::kDay) && wanted(UsageGroup::kMonth)) {
    return Error{Errc::kInvalidArgument, "usage: expected day or month, found both"};
  }
  std::vector<UsageGroup> groups;
  std::string columns;
  std::string order;
  for (const Column& column : kColumns) {
    if (wanted(column.group)) {
      groups.push_back(column.group);
      columns += std::string(column.sql) + ", ";
      order += fmt::format("{}{}", order.empty() ? " GROUP BY " : ", ", groups.size());
    }
  }
  if (!groups.empty()) {
    order += " ORDER BY " + order.substr(std::string_view(" GROUP BY ").size());
  }
  DAYBREAK_TRY(Statement rows,
               database.prepare(fmt::format(
                   "SELECT {}count(*), coalesce(sum(prompt_tokens), 0),"
                   " coalesce(sum(cached_tokens), 0), coalesce(sum(completion_tokens), 0),"
                   " coalesce(sum(reasoning_tokens), 0), coalesce(sum(cost_micro_usd), 0)"
                   " FROM usage{}{}",
                   columns, kWhere, order)));
  bind_filter(rows, filter);
  while (true) {
    DAYBREAK_TRY(const bool row, rows.step());
    if (!row) {
      return ok();
    }
    DAYBREAK_CHECK_OK(each(total_of(rows, groups)));
  }
}

Result<std::map<KeyId, UtcMicros>> last_uses(Database& database) {
  DAYBREAK_TRY(Statement rows,
               database.prepare("SELECT key_id, max(time) FROM usage GROUP BY key_id"));
  std::map<KeyId, UtcMicros> out;
  while (true) {
    DAYBREAK_TRY(const bool row, rows.step());
    if (!row) {
      return out;
    }
    out.emplace(KeyId{rows.integer(0)}, rows.integer(1));
  }
}

Result<std::vector<KeyQuotaSums>> quota_sums(Database& database, UtcMicros now) {
  DAYBREAK_TRY(Statement rows,
               database.prepare("SELECT key_id,"
                                " sum(iif(time >= ?1, prompt_tokens + completion_tokens, 0)),"
                                " sum(prompt_tokens + completion_tokens), sum(cost_micro_usd)"
                                " FROM usage WHERE time >= ?2 GROUP BY key_id"));
  rows.bind(1, day_start(utc_day(now))).bind(2, month_start(utc_month(now)));
  std::vector<KeyQuotaSums> out;
  while (true) {
    DAYBREAK_TRY(const bool row, rows.step());
    if (!row) {
      return out;
    }
    out.push_back({KeyId{rows.integer(0)}, {rows.integer(1), rows.integer(2), rows.integer(3)}});
  }
}

}  // namespace daybreak::access
