// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of `daybreak keys create` and `update` that say what a key may do.

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "access/api_key.h"
#include "base/result.h"
#include "cli/command.h"

namespace daybreak::cli {

// Options as given on the command line, by name without dashes.
using KeyOptionTexts = std::map<std::string, std::string, std::less<>>;

// Declares them on `command`; `texts` must outlive parsing.
void add_key_options(Command command, KeyOptionTexts& texts);

// Changes what was given, and nothing else. `now` is what "30d" counts from.
// Errors: kInvalidArgument naming the option, what was expected and what was found.
Status apply_key_options(const KeyOptionTexts& texts, access::UtcMicros now,
                         access::KeySettings& settings);

// Reads "90s", "15m", "24h" or "30d". Errors: kInvalidArgument.
Result<std::chrono::seconds> parse_duration(std::string_view text);

}  // namespace daybreak::cli
