// SPDX-License-Identifier: Apache-2.0
// `daybreak usage`: what the usage ledger holds, added up or entry by entry.

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "access/prices.h"
#include "access/schema.h"
#include "access/usage_text.h"
#include "cli/command.h"
#include "cli/commands.h"

namespace daybreak::cli {
namespace {

using access::UsageGroup;

struct Options {
  std::string database;
  std::string from;
  std::string to;
  std::vector<std::string> by;
  std::size_t key = 0;
  bool one_key = false;
  std::string model;
  bool entries = false;
  bool json = false;
  bool csv = false;
};

Status print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0) {
    return Error{Errc::kIo, "cannot write to stdout"};
  }
  return ok();
}

Result<access::UtcMicros> time_of(const char* option, const std::string& text,
                                  access::UtcMicros otherwise) {
  if (text.empty()) {
    return otherwise;
  }
  auto time = access::parse_utc(text);
  return time ? time : std::move(time).error().in(option);
}

Result<access::UsageFilter> filter_of(const Options& options) {
  access::UsageFilter out;
  DAYBREAK_TRY(out.from, time_of("--from", options.from, out.from));
  DAYBREAK_TRY(out.to, time_of("--to", options.to, out.to));
  if (options.one_key) {
    out.key = access::KeyId{static_cast<std::int64_t>(options.key)};
  }
  if (!options.model.empty()) {
    out.model = options.model;
  }
  return out;
}

Result<std::vector<UsageGroup>> groups_of(const std::vector<std::string>& names) {
  std::vector<UsageGroup> out;
  for (const std::string& name : names) {
    if (name == "tenant") {
      out.push_back(UsageGroup::kTenant);
    } else if (name == "key") {
      out.push_back(UsageGroup::kKey);
    } else if (name == "model") {
      out.push_back(UsageGroup::kModel);
    } else if (name == "day") {
      out.push_back(UsageGroup::kDay);
    } else if (name == "month") {
      out.push_back(UsageGroup::kMonth);
    } else {
      return Error{
          Errc::kInvalidArgument,
          fmt::format("--by: expected tenant, key, model, day or month, found '{}'", name)};
    }
  }
  return out;
}

// The columns of what was grouped by, then the sums.
std::string table_line(const std::vector<std::string>& cells) {
  constexpr std::size_t kWidths[] = {10, 16, 6, 24, 24, 9, 13, 13, 13, 14};
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool text = i < 2 || i == 3 || i == 4;
    out += text ? fmt::format("{:<{}}", cells[i], kWidths[i])
                : fmt::format("{:>{}}", cells[i], kWidths[i]);
    out += i + 1 < cells.size() ? " " : "\n";
  }
  return out;
}

std::string total_line(const access::UsageTotal& total, const access::KeyNames& names) {
  const auto name = total.key ? names.find(*total.key) : names.end();
  const std::string tenant = total.tenant.value_or("");
  return table_line({total.period.value_or("-"), tenant.empty() ? "-" : tenant,
                     total.key ? std::to_string(static_cast<std::int64_t>(*total.key)) : "-",
                     name == names.end() ? "-" : name->second, total.model.value_or("-"),
                     std::to_string(total.requests), std::to_string(total.tokens.prompt),
                     std::to_string(total.tokens.cached), std::to_string(total.tokens.completion),
                     access::format_usd(total.cost_micro_usd)});
}

Status run_totals(access::Database& database, const access::UsageFilter& filter,
                  const access::KeyNames& names, const Options& options) {
  DAYBREAK_TRY(const std::vector<UsageGroup> by, groups_of(options.by));
  if (!options.json) {
    DAYBREAK_CHECK_OK(
        print(options.csv ? access::total_csv_header(by)
                          : table_line({"period", "tenant", "key", "name", "model", "requests",
                                        "prompt", "cached", "completion", "USD"})));
  }
  return total_usage(database, filter, by, [&](const access::UsageTotal& total) {
    return print(options.json  ? access::total_json(total, names)
                 : options.csv ? access::total_csv(total, names)
                               : total_line(total, names));
  });
}

Status run_entries(access::Database& database, const access::UsageFilter& filter,
                   const access::KeyNames& names, const Options& options) {
  if (!options.by.empty()) {
    return Error{Errc::kInvalidArgument, "--entries: expected no --by, which adds them up"};
  }
  if (!options.json) {
    DAYBREAK_CHECK_OK(print(access::usage_csv_header()));
  }
  return scan_usage(database, filter, [&](const access::Usage& usage) {
    return print(options.json ? access::usage_json(usage, names) : access::usage_csv(usage, names));
  });
}

Status run(const Options& options) {
  if (options.database.empty()) {  // the sub-command has one of its own
    return Error{Errc::kInvalidArgument, "--db: expected the access database, found none"};
  }
  DAYBREAK_TRY(const access::UsageFilter filter, filter_of(options));
  DAYBREAK_TRY(access::Database database,
               access::open_access_database(options.database, access::Database::Missing::kRefuse));
  DAYBREAK_TRY(const access::KeyNames names, access::read_key_names(database));
  DAYBREAK_CHECK_OK(options.entries ? run_entries(database, filter, names, options)
                                    : run_totals(database, filter, names, options));
  if (std::fflush(stdout) != 0) {
    return Error{Errc::kIo, "cannot write to stdout"};
  }
  return ok();
}

}  // namespace

void register_usage(Command root) {
  const auto options = std::make_shared<Options>();
  const Command sub = root.add_subcommand("usage", "what the usage ledger holds");
  sub.add_option("--db", options->database, "the access database; needed");
  sub.add_option("--from", options->from, "a date or time (UTC) such as 2026-11-30, included");
  sub.add_option("--to", options->to, "a date or time (UTC), not included");
  sub.add_option("--by", options->by, "one total for each tenant, key, model, day or month")
      .comma_separated();
  const OptionRef key = sub.add_option("--key", options->key, "only this key; 0: without keys")
                            .in_range(0, std::uint64_t{1} << 62U, "UINT");
  sub.add_option("--model", options->model, "only this model");
  sub.add_flag("--entries", options->entries, "every request by itself, as CSV or JSON lines");
  OptionRef json = sub.add_flag("--json", options->json, "print JSON lines");
  sub.add_flag("--csv", options->csv, "print CSV").excludes(json);
  register_usage_purge(sub);
  sub.runs([options, key] {
    options->one_key = key.given();
    return run(*options);
  });
}

}  // namespace daybreak::cli
