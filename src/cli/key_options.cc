// SPDX-License-Identifier: Apache-2.0
#include "cli/key_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "access/prices.h"
#include "base/json_document.h"

namespace daybreak::cli {
namespace {

using access::KeySettings;
using access::UtcMicros;

constexpr std::string_view kNone = "none";
constexpr std::int64_t kMaxDurationSeconds = 100LL * 366 * 86'400;

Result<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stopped != text.data() + text.size() || value < 0) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("expected a whole number of at least 0, found '{}'", printable(text))};
  }
  return value;
}

// A number, or "none" for no limit.
Status set_limit(std::string_view text, std::optional<std::int64_t>& limit) {
  limit.reset();
  if (text != kNone) {
    DAYBREAK_TRY(limit, parse_whole(text));
  }
  return ok();
}

Status set_money(std::string_view text, std::optional<std::int64_t>& limit) {
  limit.reset();
  if (text != kNone) {
    DAYBREAK_TRY(limit, access::parse_usd(text));
  }
  return ok();
}

Status set_expiry(std::string_view text, UtcMicros now, std::optional<UtcMicros>& expires) {
  expires.reset();
  if (text == kNone) {
    return ok();
  }
  if (const auto after = parse_duration(text)) {
    expires = now + after->count() * access::kMicrosPerSecond;
    return ok();
  }
  const auto date = access::parse_utc(text);
  if (!date) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("expected a date (UTC) such as 2026-11-30 or 2026-11-30T08:15:00Z, a "
                             "time from now such as 30d, or none, found '{}'",
                             printable(text))};
  }
  expires = *date;
  return ok();
}

Status set_models(std::string_view text, std::vector<std::string>& models) {
  models.clear();
  if (text == "all") {
    return ok();
  }
  for (bool last = false; !last;) {
    const std::size_t comma = text.find(',');
    last = comma == std::string_view::npos;
    models.emplace_back(text.substr(0, comma));  // an empty one is refused with the others
    text.remove_prefix(last ? text.size() : comma + 1);
  }
  return ok();
}

struct KeyOption {
  const char* name;
  const char* help;
  Status (*set)(std::string_view text, UtcMicros now, KeySettings& settings);
};

// In the order of the help.
constexpr KeyOption kOptions[] = {
    {"name", "for people; need not be unique",
     [](std::string_view text, UtcMicros, KeySettings& s) {
       s.name = text;
       return ok();
     }},
    {"scopes", "of inference, batch, files, admin, metrics; default: inference",
     [](std::string_view text, UtcMicros, KeySettings& s) -> Status {
       DAYBREAK_TRY(s.scopes, access::parse_scopes(text));
       return ok();
     }},
    {"models", "names separated by commas; default: all",
     [](std::string_view text, UtcMicros, KeySettings& s) { return set_models(text, s.models); }},
    {"expires", "a date (UTC), a time from now such as 30d, or none",
     [](std::string_view text, UtcMicros now, KeySettings& s) {
       return set_expiry(text, now, s.expires);
     }},
    {"tenant", "whose data may share caches; none: the key's own",
     [](std::string_view text, UtcMicros, KeySettings& s) {
       s.tenant = text == kNone ? std::string_view() : text;
       return ok();
     }},
    {"priority", "0 (lowest, the default) to 9",
     [](std::string_view text, UtcMicros, KeySettings& s) -> Status {
       DAYBREAK_TRY(const std::int64_t priority, parse_whole(text));
       s.priority = static_cast<int>(std::min<std::int64_t>(priority, access::kMaxPriority + 1));
       return ok();
     }},
    {"zero-retention", "on: prompts and answers stay in memory; off is the default",
     [](std::string_view text, UtcMicros, KeySettings& s) -> Status {
       if (text != "on" && text != "off") {
         return Error{Errc::kInvalidArgument,
                      fmt::format("expected on or off, found '{}'", printable(text))};
       }
       s.zero_retention = text == "on";
       return ok();
     }},
    {"requests-per-minute", "a number, or none",
     [](std::string_view text, UtcMicros, KeySettings& s) {
       return set_limit(text, s.limits.requests_per_minute);
     }},
    {"tokens-per-minute", "of prompts and answers; a number, or none",
     [](std::string_view text, UtcMicros, KeySettings& s) {
       return set_limit(text, s.limits.tokens_per_minute);
     }},
    {"concurrency", "requests at the same time; a number, or none",
     [](std::string_view text, UtcMicros, KeySettings& s) {
       return set_limit(text, s.limits.concurrency);
     }},
    {"tokens-per-day", "of the UTC day; a number, or none",
     [](std::string_view text, UtcMicros, KeySettings& s) {
       return set_limit(text, s.limits.tokens_per_day);
     }},
    {"tokens-per-month", "of the UTC month; a number, or none",
     [](std::string_view text, UtcMicros, KeySettings& s) {
       return set_limit(text, s.limits.tokens_per_month);
     }},
    {"usd-per-month", "dollars of the UTC month, such as 12.50, or none",
     [](std::string_view text, UtcMicros, KeySettings& s) {
       return set_money(text, s.limits.micro_usd_per_month);
     }},
};

}  // namespace

void add_key_options(Command command, KeyOptionTexts& texts) {
  for (const KeyOption& option : kOptions) {
    command.add_option(
        std::string("--") + option.name,
        [&texts, name = option.name](const std::string& text) { texts[name] = text; }, option.help);
  }
}

Status apply_key_options(const KeyOptionTexts& texts, UtcMicros now, KeySettings& settings) {
  for (const KeyOption& option : kOptions) {
    const auto found = texts.find(std::string_view(option.name));
    if (found == texts.end()) {
      continue;
    }
    if (Status set = option.set(found->second, now, settings); !set) {
      return std::move(set).error().in(std::string("--") + option.name);
    }
  }
  return ok();
}

Result<std::chrono::seconds> parse_duration(std::string_view text) {
  constexpr std::pair<char, std::int64_t> kUnits[] = {
      {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) {
      continue;
    }
    const auto count = parse_whole(text.substr(0, text.size() - 1));
    if (count && *count <= kMaxDurationSeconds / seconds) {
      return std::chrono::seconds(*count * seconds);
    }
  }
  return Error{
      Errc::kInvalidArgument,
      fmt::format("expected a time such as 90s, 15m, 24h or 30d, found '{}'", printable(text))};
}

}  // namespace daybreak::cli
