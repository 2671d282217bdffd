// SPDX-License-Identifier: Apache-2.0
#include "cli/key_report.h"

#include <fmt/format.h>

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

}  // namespace

std::string key_state(const ApiKey& key, UtcMicros now) {
  if (key.revoked) {
    return "revoked";
  }
  return key.settings.expires && now >= *key.settings.expires ? "expired" : "active";
}

std::string key_json(const ApiKey& key, UtcMicros now, const std::string& text) {
  Json out;
  out["id"] = static_cast<std::int64_t>(key.id);
  if (!text.empty()) {
    out["key"] = text;
  }
  out["name"] = key.settings.name;
  out["prefix"] = key.prefix;
  out["state"] = key_state(key, now);
  out["scopes"] = to_string(key.settings.scopes);
  out["models"] = key.settings.models;
  out["tenant"] = key.settings.tenant;
  out["priority"] = key.settings.priority;
  out["created"] = access::format_utc(key.created);
  out["expires"] = optional_time(key.settings.expires);
  out["revoked"] = optional_time(key.revoked);
  out["limits"] = limits_json(key.settings.limits);
  return out.dump();
}

std::string key_table(const std::vector<ApiKey>& keys, UtcMicros now) {
  std::string out = fmt::format("{:>6}  {:<12}  {:<8}  {:<24}  {:<20}  {}\n", "id", "prefix",
                                "state", "name", "scopes", "limits");
  for (const ApiKey& key : keys) {
    out +=
        fmt::format("{:>6}  {:<12}  {:<8}  {:<24}  {:<20}  {}\n", static_cast<std::int64_t>(key.id),
                    key.prefix, key_state(key, now), key.settings.name,
                    to_string(key.settings.scopes), limits_text(key.settings.limits));
  }
  return out;
}

}  // namespace daybreak::cli
