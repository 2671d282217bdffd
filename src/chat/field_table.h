// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of every request field that clients are known to send: what is done about it, and why.
// Parsing decides by it, docs/api.md shows it, and a test holds both to it. A field that would
// change the answer is honoured or refused; only one that cannot is ignored.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Whose API a field comes from. kOther: SGLang, llama.cpp, OpenRouter and their like.
enum class FieldApi : std::uint8_t { kOpenAi, kMoonshot, kVllm, kOther };

enum class FieldVerdict : std::uint8_t {
  kHonoured,  // parsed by its own reader
  kIgnored,   // listed in ChatRequest::ignored_fields
  kRefused,   // kInvalidArgument, unless neutral
};

struct FieldRule {
  std::string_view name;  // path, such as "stream_options.include_usage"; "messages[]." any message
  FieldApi api;
  FieldVerdict verdict;
  // JSON values that ask for what happens anyway, separated by " or ": neither refused nor listed.
  std::string_view neutral;
  std::string_view text;  // what it does, or why it is ignored or refused
};

inline constexpr std::size_t kMaxIgnoredFields =
    32;  // listed; more are ignored without being named

// Every rule, names distinct, in the order of the document.
[[nodiscard]] std::span<const FieldRule> field_rules();

// Returns the rule of a path, or null.
[[nodiscard]] const FieldRule* find_field_rule(std::string_view name);

// Judges every member of an object: honoured ones pass, ignored and unknown ones are added to
// `ignored`. A null member counts as absent.
// Errors: kInvalidArgument for a refused one.
[[nodiscard]] Status judge_fields(const Field& object, std::vector<std::string>& ignored);

// Judges one value by the rule `name`. REQUIRES: the rule exists and refuses.
[[nodiscard]] Status judge_field(const Field& field, std::string_view name);

// Returns the table as docs/api.md has it, by verdict.
[[nodiscard]] std::string field_table_markdown();

}  // namespace daybreak::chat
