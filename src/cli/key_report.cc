// SPDX-License-Identifier: Apache-2.0
#include "cli/key_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "access/prices.h"

namespace daybreak::cli {
namespace {

using access::ApiKey;
using access::UtcMicros;
using Json = nlohmann::ordered_json;

Json optional_time(std::optional<UtcMicros> time) {
  return time ? Json(access::format_utc(*time)) : Json();
}

Json limits_json(const access::KeyLimits& limits) {
  const auto number = [](std::optional<std::int64_t> limit) {
    return limit ? Json(*limit) : Json();
  };
  Json out;
  out["requests_per_minute"] = number(limits.requests_per_minute);
  out["tokens_per_minute"] = number(limits.tokens_per_minute);
  out["concurrency"] = number(limits.concurrency);
  out["tokens_per_day"] = number(limits.tokens_per_day);
  out["tokens_per_month"] = number(limits.tokens_per_month);
  out["micro_usd_per_month"] = number(limits.micro_usd_per_month);
  return out;
}

std::string limits_text(const access::KeyLimits& limits) {
  std::string out;
  const auto add = [&out](std::optional<std::int64_t> limit, const char* unit) {
    if (limit) {
      out += fmt::format("{}{}{}", out.empty() ? "" : ", ", *limit, unit);
    }
  };
  add(limits.requests_per_minute, " req/min");
  add(limits.tokens_per_minute, " tok/min");
  add(limits.concurrency, " at once");
  add(limits.tokens_per_day, " tok/day");
  add(limits.tokens_per_month, " tok/month");
  if (limits.micro_usd_per_month) {
    out += fmt::format("{}{} USD/month", out.empty() ? "" : ", ",
                       access::format_usd(*limits.micro_usd_per_month));
  }
  return out.empty() ? "none" : out;
}

// "2026-11-30T08:15Z".
std::string minute(std::optional<UtcMicros> time) {
  return time ? access::format_utc(*time).substr(0, 16) + "Z" : "-";
}

Json key_object(const ApiKey& key, UtcMicros now) {
  Json out;
  out["id"] = static_cast<std::int64_t>(key.id);
  out["name"] = key.settings.name;
  out["prefix"] = key.prefix;
  out["state"] = key_state(key, now);
  out["scopes"] = to_string(key.settings.scopes);
  out["models"] = key.settings.models;
  out["tenant"] = key.settings.tenant;
  out["priority"] = key.settings.priority;
  out["zero_retention"] = key.settings.zero_retention;
  out["created"] = access::format_utc(key.created);
  out["expires"] = optional_time(key.settings.expires);
  out["revoked"] = optional_time(key.revoked);
  out["limits"] = limits_json(key.settings.limits);
  return out;
}

}  // namespace

std::string key_state(const ApiKey& key, UtcMicros now) {
  if (key.revoked) {
    return "revoked";
  }
  return key.settings.expires && now >= *key.settings.expires ? "expired" : "active";
}

std::string key_json(const ApiKey& key, UtcMicros now, std::optional<UtcMicros> last_used) {
  Json out = key_object(key, now);
  out["last_used"] = optional_time(last_used);
  return out.dump();
}

std::string new_key_json(const access::NewKey& made, UtcMicros now) {
  Json out = key_object(made.key, now);
  out["key"] = made.text;
  return out.dump();
}

std::string key_table(const std::vector<ApiKey>& keys, UtcMicros now,
                      const std::map<access::KeyId, UtcMicros>& last_uses) {
  constexpr const char* kLine =
      "{:>6}  {:<12}  {:<8}  {:<24}  {:<16}  {:<20}  {:<16}  {:>4}  {:<17}  {:<17}  {}\n";
  std::string out = fmt::format(fmt::runtime(kLine), "id", "prefix", "state", "name", "tenant",
                                "scopes", "models", "prio", "expires", "last used", "limits");
  for (const ApiKey& key : keys) {
    const access::KeySettings& settings = key.settings;
    const auto used = last_uses.find(key.id);
    out += fmt::format(
        fmt::runtime(kLine), static_cast<std::int64_t>(key.id), key.prefix, key_state(key, now),
        settings.name, settings.tenant.empty() ? "-" : settings.tenant, to_string(settings.scopes),
        settings.models.empty() ? "all" : fmt::format("{}", fmt::join(settings.models, ",")),
        settings.priority, minute(settings.expires),
        minute(used == last_uses.end() ? std::nullopt : std::optional(used->second)),
        limits_text(settings.limits));
  }
  return out;
}

}  // namespace daybreak::cli
