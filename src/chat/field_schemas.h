// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON Schemas and texts that the tables of fields share.

#include <string_view>

namespace daybreak::chat {

inline constexpr std::string_view kBoolean = R"({"type":"boolean"})";
inline constexpr std::string_view kObject = R"({"type":"object"})";
inline constexpr std::string_view kObjects = R"({"type":"array","items":{"type":"object"}})";
inline constexpr std::string_view kText = R"({"type":"string"})";
inline constexpr std::string_view kSomeText = R"({"type":"string","minLength":1})";
inline constexpr std::string_view kTextList = R"({"type":"array","items":{"type":"string"}})";
inline constexpr std::string_view kTextPairs =
    R"({"type":"object","maxProperties":16,"additionalProperties":{"type":"string"}})";
inline constexpr std::string_view kTextOrObject = R"({"type":["string","object"]})";
inline constexpr std::string_view kInteger = R"({"type":"integer"})";
// Why chat's `verbosity` and the Responses API's `text.verbosity` are ignored.
inline constexpr std::string_view kNoVerbosity =
    "`low`, `medium` or `high`, else refused; nothing makes an answer longer or shorter";
inline constexpr std::string_view kAnswerLength =
    R"({"type":"integer","minimum":1,"maximum":4294967296})";
inline constexpr std::string_view kAnyLength =
    R"({"type":"integer","minimum":0,"maximum":4294967296})";
inline constexpr std::string_view kAlternatives = R"({"type":"integer","minimum":0,"maximum":20})";
inline constexpr std::string_view kChoices = R"({"type":"integer","minimum":1,"maximum":8})";
inline constexpr std::string_view kTemperature = R"({"type":"number","minimum":0,"maximum":2})";
inline constexpr std::string_view kPenalty = R"({"type":"number","minimum":-2,"maximum":2})";
inline constexpr std::string_view kShare = R"({"type":"number","minimum":0,"maximum":1})";
inline constexpr std::string_view kAboveZero =
    R"({"type":"number","exclusiveMinimum":0,"maximum":1})";
inline constexpr std::string_view kIds =
    R"({"type":"array","items":{"type":"integer","minimum":0}})";

}  // namespace daybreak::chat
