// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables of the fields that clients are known to send to a route: what is done about each, and why.
// Parsing decides by them; /openapi.json and the documents show them, and tests hold all three
// together. A field that would change the answer is honoured or refused; only one that cannot is
// ignored.

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
enum class FieldApi : std::uint8_t { kOpenAi, kAnthropic, kMoonshot, kVllm, kOther };

enum class FieldVerdict : std::uint8_t {
  kHonoured,  // parsed by its own reader
  kIgnored,   // listed in ChatRequest::ignored_fields
  kRefused,   // kInvalidArgument, unless neutral
};

struct FieldRule {
  std::string_view name;  // path, such as "stream_options.include_usage"; "messages[]." any message
  FieldApi api;
  FieldVerdict verdict;
  // Of an honoured field: the JSON Schema of its values, "" if there is nothing to say. Of others:
  // JSON values that ask for what happens anyway, separated by " or ", neither refused nor listed.
  std::string_view values;
  std::string_view text;  // what it does, or why it is ignored or refused

  [[nodiscard]] std::vector<std::string_view> neutral_values() const;  // none if honoured
  [[nodiscard]] bool top_level() const { return name.find_first_of(".[") == name.npos; }
};

inline constexpr std::size_t kMaxIgnoredFields =
    32;  // listed; more are ignored without being named

// Immutable, so that threads may share it.
class FieldTable {
 public:
  enum class Refusals : std::uint8_t { kNone, kAll };

  // The rules of `own`, and those of `other` that `names` lists, separated by spaces: fields that
  // mean the same. kAll: also every top-level field that `other` refuses, unless `own` has a rule
  // of that name, so that what changes answers is unknown nowhere.
  // REQUIRES: names are distinct and known to `other`; what is viewed is static.
  explicit FieldTable(std::span<const FieldRule> own);
  FieldTable(std::span<const FieldRule> own, const FieldTable& other, std::string_view names,
             Refusals refusals = Refusals::kNone);

  // Every rule, names distinct, in the order of the document.
  [[nodiscard]] std::span<const FieldRule> rules() const { return rules_; }

  // Returns the rule of a path, or null.
  [[nodiscard]] const FieldRule* find(std::string_view name) const;

  // Judges every member of an object: honoured ones pass, ignored and unknown ones are added to
  // `ignored`. A null member counts as absent.
  // Errors: kInvalidArgument for a refused one.
  [[nodiscard]] Status judge(const Field& object, std::vector<std::string>& ignored) const;

  // Judges one value by the rule `name`. REQUIRES: the rule exists and refuses.
  [[nodiscard]] Status judge(const Field& field, std::string_view name) const;

  // Returns the table as the documents have it, by verdict.
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<FieldRule> rules_;
  std::vector<std::size_t> sorted_;  // indices of rules_, by name
};

[[nodiscard]] const FieldTable& chat_fields();        // POST /v1/chat/completions
[[nodiscard]] const FieldTable& completion_fields();  // POST /v1/completions
[[nodiscard]] const FieldTable& responses_fields();   // POST /v1/responses
[[nodiscard]] const FieldTable& anthropic_fields();   // POST /v1/messages, also to count tokens
[[nodiscard]] const FieldTable& tokenize_fields();    // POST /tokenize
[[nodiscard]] const FieldTable& detokenize_fields();  // POST /detokenize

}  // namespace daybreak::chat
