// SPDX-License-Identifier: Apache-2.0
#pragma once

// The string formats of JSON Schema 2020-12 as regular languages.

#include <cstdint>
#include <optional>
#include <string_view>

#include "grammar/dfa.h"

namespace daybreak::grammar {

// Whether `format` is an assertion (dates are dates) or only an annotation.
enum class Formats : bool { kAnnotate, kAssert };

// Returns the language of `format`, shared by all callers, or nothing for a name that is not in the
// list: date, time, date-time, duration, email, hostname, ipv4, ipv6, uri, uri-reference,
// uri-template, uuid, json-pointer, relative-json-pointer. Exactly the grammar of the RFC that the
// validation vocabulary (7.3) cites, with these decisions: days of a month and leap years are part
// of `date`; second 60 is allowed where it is 23:59:60 in UTC, on any date; no leading zeros in
// IPv4; no zone in IPv6; email has no limits of length; hostname is ASCII (A-labels are not
// decoded). Thread-safe; computed once per format.
[[nodiscard]] const Dfa* format_language(std::string_view format);

// Computes all of them, about a quarter of a second, for those who would rather not do it when the
// first schema asks.
void prepare_formats();

// Returns how many code points a string of `format` may have if format_language does not say:
// 253 for hostname (its labels are counted there; counting the whole name too would take 30,000
// states and as many masks).
[[nodiscard]] std::optional<std::uint32_t> format_max_chars(std::string_view format);

}  // namespace daybreak::grammar
