// SPDX-License-Identifier: Apache-2.0
// `daybreak keys`: makes, shows, changes and ends the API keys of an access database.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/key_store.h"
#include "access/schema.h"
#include "access/usage_rows.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/key_options.h"
#include "cli/key_report.h"

namespace daybreak::cli {
namespace {

using access::KeyId;
using access::KeyStore;

struct Options {
  std::string database;
  std::string pepper;
  std::size_t id = 0;
  std::string grace = "24h";
  bool json = false;
  KeyOptionTexts settings;
};

access::UtcMicros now() { return access::UtcClock::system().now(); }
KeyId id_of(const Options& options) { return KeyId{static_cast<std::int64_t>(options.id)}; }

Status print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return Error{Errc::kIo, "cannot write to stdout"};
  }
  return ok();
}

Result<std::unique_ptr<KeyStore>> open(const Options& options, access::Database::Missing missing) {
  return KeyStore::open({options.database, options.pepper, missing});
}

Status print_keys(const Options& options, const std::vector<access::ApiKey>& keys) {
  DAYBREAK_TRY(access::Database database,
               access::open_access_database(options.database, access::Database::Missing::kRefuse));
  DAYBREAK_TRY(const auto uses, access::last_uses(database));
  if (!options.json) {
    return print(key_table(keys, now(), uses));
  }
  for (const access::ApiKey& key : keys) {
    const auto used = uses.find(key.id);
    DAYBREAK_CHECK_OK(print(
        key_json(key, now(), used == uses.end() ? std::nullopt : std::optional(used->second)) +
        "\n"));
  }
  return ok();
}

// The key alone goes to stdout, so that a script can keep it; the rest is for people.
Status print_new(const Options& options, const access::NewKey& made) {
  if (options.json) {
    return print(new_key_json(made, now()) + "\n");
  }
  DAYBREAK_CHECK_OK(print(made.text + "\n"));
  std::fprintf(stderr, "key %lld; this text is stored nowhere and not shown again\n",
               static_cast<long long>(made.key.id));
  return ok();
}

Status create(const Options& options) {
  access::KeySettings settings;
  settings.scopes.add(access::Scope::kInference);
  DAYBREAK_CHECK_OK(apply_key_options(options.settings, now(), settings));
  DAYBREAK_CHECK_OK(validate(settings));  // before a database is made for nothing
  DAYBREAK_TRY(const auto store, open(options, access::Database::Missing::kCreate));
  DAYBREAK_TRY(const access::NewKey made, store->create(settings));
  return print_new(options, made);
}

Status list(const Options& options) {
  DAYBREAK_TRY(const auto store, open(options, access::Database::Missing::kRefuse));
  DAYBREAK_TRY(const auto keys, store->list());
  return print_keys(options, keys);
}

Status update(const Options& options) {
  DAYBREAK_TRY(const auto store, open(options, access::Database::Missing::kRefuse));
  DAYBREAK_TRY(const access::ApiKey key,
               store->update(id_of(options), [&](access::KeySettings& settings) {
                 return apply_key_options(options.settings, now(), settings);
               }));
  return print_keys(options, {key});
}

Status revoke(const Options& options) {
  DAYBREAK_TRY(const auto store, open(options, access::Database::Missing::kRefuse));
  DAYBREAK_TRY(const access::ApiKey key, store->revoke(id_of(options)));
  return print_keys(options, {key});
}

Status rotate(const Options& options) {
  auto grace = parse_duration(options.grace);
  if (!grace) {
    return std::move(grace).error().in("--grace");
  }
  DAYBREAK_TRY(const auto store, open(options, access::Database::Missing::kRefuse));
  DAYBREAK_TRY(const access::NewKey made, store->rotate(id_of(options), *grace));
  return print_new(options, made);
}

struct Part {
  Command command;
  std::shared_ptr<Options> options;
};

Part add_part(Command keys, const char* name, const char* help, Status (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  const Command sub = keys.add_subcommand(name, help);
  sub.add_option("--db", options->database, "the access database").required();
  sub.add_option("--pepper", options->pepper,
                 "the file with the server's secret; default: the database's with .pepper added");
  sub.add_flag("--json", options->json, "print JSON, one line per key");
  sub.runs([options, run] { return run(*options); });
  return {sub, options};
}

void add_id(const Part& part) {
  part.command.add_option("ID", part.options->id, "the key's number, from keys list")
      .required()
      .in_range(1, std::uint64_t{1} << 62U, "POSITIVE");
}

}  // namespace

void register_keys(Command root) {
  const Command keys =
      root.add_subcommand("keys", "API keys: create, list, update, rotate, revoke");
  keys.require_subcommand();
  const Part made = add_part(keys, "create", "make a key and print it, once", create);
  add_key_options(made.command, made.options->settings);
  made.command.option("--name").required();
  add_part(keys, "list", "all keys, revoked ones included", list);
  const Part changed = add_part(keys, "update", "change what is given of a key's settings", update);
  add_id(changed);
  add_key_options(changed.command, changed.options->settings);
  const Part rotated = add_part(keys, "rotate", "give a key a new text and print it, once", rotate);
  add_id(rotated);
  rotated.command
      .add_option("--grace", rotated.options->grace, "how long the old text stays valid, to 90d")
      .show_default();
  add_id(add_part(keys, "revoke", "end a key for ever", revoke));
}

}  // namespace daybreak::cli
