// SPDX-License-Identifier: Apache-2.0
#pragma once

// The string formats of JSON Schema 2020-12 as regular languages.

#include <optional>
#include <string_view>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/dfa.h"

namespace daybreak::grammar {

// Whether `format` is an assertion (dates are dates) or only an annotation.
enum class Formats : bool { kAnnotate, kAssert };

// Returns the language of `format` (date, time, date-time, duration, email, hostname, ipv4, ipv6,
// uri, uri-reference, uuid, json-pointer, relative-json-pointer, and what else is regular), shared
// by all callers, or nothing for a name that is not in the list. Days of a month and leap years are
// part of `date`. Thread-safe; computed once per format.
[[nodiscard]] const Dfa* format_language(std::string_view format);

}  // namespace daybreak::grammar
