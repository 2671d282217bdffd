// SPDX-License-Identifier: Apache-2.0
// `daybreak usage purge`: deletes old entries of the usage ledger, also while a server runs.

#include <cstdio>
#include <memory>
#include <string>

#include "access/schema.h"
#include "access/usage_purge.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/key_options.h"

namespace daybreak::cli {
namespace {

struct Options {
  std::string database;
  std::string older_than;
};

// Reads a date or time, or how long ago it was.
Result<access::UtcMicros> time_of(const std::string& text, access::UtcMicros now) {
  if (const auto ago = parse_duration(text)) {
    return now - ago->count() * access::kMicrosPerSecond;
  }
  return access::parse_utc(text);
}

Status run(const Options& options) {
  const access::UtcMicros now = access::UtcClock::system().now();
  const auto time = time_of(options.older_than, now);
  if (!time) {
    return Error(time.error()).in("--older-than");
  }
  DAYBREAK_TRY(access::Database database,
               access::open_access_database(options.database, access::Database::Missing::kRefuse));
  const auto deleted = access::purge_usage(database, *time, now);
  if (!deleted) {
    return Error(deleted.error()).in("--older-than");
  }
  std::printf("deleted %lld entries from before %s\n", static_cast<long long>(*deleted),
              access::format_utc(*time).c_str());
  return ok();
}

}  // namespace

void register_usage_purge(Command usage) {
  const auto options = std::make_shared<Options>();
  const Command sub = usage.add_subcommand("purge", "delete old entries; export them first");
  sub.add_option("--db", options->database, "the access database").required();
  sub.add_option(
         "--older-than", options->older_than,
         "a date or time (UTC), or how long ago such as 90d; not later than this month's start")
      .required();
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
