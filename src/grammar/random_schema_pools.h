// SPDX-License-Identifier: Apache-2.0
#pragma once

// What random_schema picks from.

#include <string_view>

namespace daybreak::grammar {

// Patterns as clients write them, and those that tell engines apart.
inline constexpr std::string_view kPatterns[] = {
    "^[a-z]+$",
    "^[A-Z]{2,3}$",
    R"(^\d{3}-\d{4}$)",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "^#[0-9a-fA-F]{6}$",
    R"(^v?\d+\.\d+\.\d+$)",
    R"(^https?://[^\s/]+)",
    "foo",
    R"(^\S+@\S+\.\S+$)",
    R"(^\+?[1-9]\d{6,14}$)",
    "^(foo|bar|baz)_[0-9]+$",
    "^[a-zA-Z_][a-zA-Z0-9_]*$",
    "^.{3,8}$",
    "[0-9]$",
    R"(^(\d{1,3}\.){3}\d{1,3}$)",
    R"(^[^"\\]*$)",
    "a{2,4}b?",
    "^(ab|a)(bc|c)?$",
    "^[0-9a-f]{8}-[0-9a-f]{4}$",
    "^/(?:[^/]+/)*[^/]*$",
};
inline constexpr std::string_view kOddPatterns[] = {
    "^$",        R"(^\n$)",     R"(^(?!.*\.\.)[a-z./]+$)",
    R"(\bid\b)", "^\xC3\xA9+$", R"([\u4e00-\u9fff]{1,4})",
    R"(^\W*$)",  "^(?:a|b)*?c",
};
inline constexpr std::string_view kNamePatterns[] = {"^x_",    "^[a-d]$", "_[0-9]$",
                                                     "^[A-Z]", "a",       "^[a-z]{1,5}$"};
inline constexpr std::string_view kFormats[] = {
    "date", "time", "date-time", "duration", "email", "uuid", "hostname", "ipv4", "ipv6", "uri"};
inline constexpr std::string_view kSteps[] = {"1",   "2",   "3",    "5",   "10",
                                              "0.5", "0.1", "0.01", "1.5", "100"};

}  // namespace daybreak::grammar
