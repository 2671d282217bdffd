// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of efforts that the APIs have, and what this model makes of them. It knows three.

#include <optional>
#include <string_view>

#include "chat/chat_request.h"

namespace daybreak::chat {

// Returns the effort for a name of OpenAI's or Anthropic's API: "minimal" and "low" are low,
// "medium" and "high" are high, "xhigh" and "max" are max. Nothing for others; "none", which is not
// an effort, is for the reader of the field.
[[nodiscard]] std::optional<Effort> effort_named(std::string_view name);

// What an error says is expected where those names are, and the schema of such a field, without and
// with "none".
inline constexpr std::string_view kEffortsExpected =
    "\"minimal\", \"low\", \"medium\", \"high\", \"xhigh\" or \"max\"";
inline constexpr std::string_view kEffortNames =
    R"({"enum":["minimal","low","medium","high","xhigh","max"]})";
inline constexpr std::string_view kEffortNamesOrNone =
    R"({"enum":["none","minimal","low","medium","high","xhigh","max"]})";

}  // namespace daybreak::chat
