// SPDX-License-Identifier: Apache-2.0
#include "access/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json_document.h"

namespace daybreak::access {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"stop", "length", "tool_calls", "cancelled",
                                                    "error"};

}  // namespace

std::string_view to_string(Outcome outcome) { return kNames[static_cast<std::size_t>(outcome)]; }

Result<Outcome> parse_outcome(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    return Error{Errc::kInvalidArgument, fmt::format("outcome: expected {}, found '{}'",
                                                     fmt::join(kNames, ", "), printable(name))};
  }
  return static_cast<Outcome>(found - kNames.begin());
}

Status validate(const TokenCounts& tokens) {
  const auto in_range = [](std::int64_t part, std::int64_t whole) {
    return part >= 0 && part <= whole && whole <= kMaxRequestTokens;
  };
  if (!in_range(tokens.cached, tokens.prompt) || !in_range(tokens.reasoning, tokens.completion)) {
    return Error{
        Errc::kInvalidArgument,
        fmt::format("tokens: expected 0 <= cached <= prompt and 0 <= reasoning <= "
                    "completion, none above {}; found prompt {}, cached {}, completion {}, "
                    "reasoning {}",
                    kMaxRequestTokens, tokens.prompt, tokens.cached, tokens.completion,
                    tokens.reasoning)};
  }
  return ok();
}

Status validate(const Usage& usage) {
  DAYBREAK_CHECK_OK(validate_name("request id", usage.request_id, kMaxRequestIdBytes));
  DAYBREAK_CHECK_OK(validate_name("model", usage.model, kMaxModelNameBytes));
  DAYBREAK_CHECK_OK(validate(usage.tokens));
  if (usage.time < 0 || usage.time > kMaxUtcMicros) {
    return Error{
        Errc::kInvalidArgument,
        fmt::format("time: expected 0 to {} microseconds, found {}", kMaxUtcMicros, usage.time)};
  }
  if (usage.cost_micro_usd < 0 || usage.cost_micro_usd > kMaxQuota) {
    return Error{Errc::kInvalidArgument, fmt::format("cost: expected 0 to {} micro-dollars, found "
                                                     "{}",
                                                     kMaxQuota, usage.cost_micro_usd)};
  }
  return ok();
}

}  // namespace daybreak::access
