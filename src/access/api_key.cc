// SPDX-License-Identifier: Apache-2.0
#include "access/api_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/prices.h"
#include "base/json_document.h"
#include "base/utf8.h"

namespace daybreak::access {
namespace {

Status check_range(std::string_view what, std::optional<std::int64_t> value, std::int64_t max) {
  if (value && (*value < 0 || *value > max)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("{}: expected 0 to {}, found {}", what, max, *value)};
  }
  return ok();
}

Status validate(const KeyLimits& limits) {
  DAYBREAK_CHECK_OK(
      check_range("requests per minute", limits.requests_per_minute, kMaxRatePerMinute));
  DAYBREAK_CHECK_OK(check_range("tokens per minute", limits.tokens_per_minute, kMaxRatePerMinute));
  DAYBREAK_CHECK_OK(check_range("concurrency", limits.concurrency, kMaxConcurrency));
  DAYBREAK_CHECK_OK(check_range("tokens per day", limits.tokens_per_day, kMaxQuota));
  DAYBREAK_CHECK_OK(check_range("tokens per month", limits.tokens_per_month, kMaxQuota));
  if (const auto& usd = limits.micro_usd_per_month; usd && *usd > kMaxQuota) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("dollars per month: expected 0 to {}, found {}", format_usd(kMaxQuota),
                             format_usd(*usd))};
  }
  // Below 0 is no amount that anybody can have typed.
  return check_range("micro-dollars per month", limits.micro_usd_per_month, kMaxQuota);
}

}  // namespace

Status validate_name(std::string_view what, std::string_view text, std::size_t max_bytes) {
  const bool control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (text.empty() || text.size() > max_bytes || control || !is_valid_utf8(text)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("{}: expected 1 to {} bytes of UTF-8 without control characters, "
                             "found {} bytes '{}'",
                             what, max_bytes, text.size(), printable(text))};
  }
  return ok();
}

Status validate(const KeySettings& settings) {
  DAYBREAK_CHECK_OK(validate_name("name", settings.name, kMaxKeyNameBytes));
  if (!settings.tenant.empty()) {
    DAYBREAK_CHECK_OK(validate_name("tenant", settings.tenant, kMaxKeyNameBytes));
  }
  if (settings.scopes.empty()) {
    return Error{Errc::kInvalidArgument, "scopes: expected at least one"};
  }
  if (settings.models.size() > kMaxKeyModels) {
    return Error{Errc::kInvalidArgument, fmt::format("models: expected at most {}, found {}",
                                                     kMaxKeyModels, settings.models.size())};
  }
  for (const std::string& model : settings.models) {
    DAYBREAK_CHECK_OK(validate_name("model", model, kMaxModelNameBytes));
  }
  DAYBREAK_CHECK_OK(check_range("priority", settings.priority, kMaxPriority));
  DAYBREAK_CHECK_OK(check_range("expires", settings.expires, kMaxUtcMicros));
  return validate(settings.limits);
}

std::string owner_of(const ApiKey& key) {
  if (key.id == kAnonymousId) {
    return "";
  }
  return key.settings.tenant.empty() ? fmt::format("key:{}", static_cast<std::int64_t>(key.id))
                                     : "tenant:" + key.settings.tenant;
}

bool allows_model(const ApiKey& key, std::string_view model) {
  return key.settings.models.empty() ||
         std::ranges::find(key.settings.models, model) != key.settings.models.end();
}

}  // namespace daybreak::access
