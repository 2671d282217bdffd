// SPDX-License-Identifier: Apache-2.0
#pragma once

// The questions of an exam: a file with one JSON object a line, as tools/train/questions.py writes
// it (docs/exam.md).

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak::exam {

inline constexpr std::size_t kMaxQuestionsBytes = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxQuestionBytes = std::size_t{1} << 20U;  // of a line
inline constexpr std::size_t kMaxQuestions = 20'000;
inline constexpr std::size_t kMaxNameBytes = 64;  // of an id, a skill, an effort
inline constexpr std::size_t kMaxSkills = 100;
inline constexpr std::size_t kMaxWordings = 64;

// What makes an answer right.
struct Expectation {
  nlohmann::json calls = nlohmann::json::array();  // of {"name","arguments"}, in this order
  std::optional<nlohmann::json> json;              // the content is this value
  std::optional<std::vector<std::string>> any;     // the content is one of these texts
};

struct Question {
  std::string id;
  std::string skill;
  std::string effort;   // "off", "low", "high", "max", or what else the request says
  std::string request;  // the bytes of an object: messages, tools, response_format, thinking ...
  Expectation expect;
  std::string digest;  // of the whole line: answers are compared between equal questions only
};

// Reads a whole file. `name` stands for it in messages. Errors: kInvalidArgument "NAME: line N:
// FIELD: expected ..., found ...", for an id that comes twice and a request that says what the exam
// decides too; kTooLarge beyond the bounds above.
[[nodiscard]] Result<std::vector<Question>> parse_questions(std::string_view text,
                                                            const std::string& name);

// Errors: those of read_whole_file() and parse_questions().
[[nodiscard]] Result<std::vector<Question>> read_questions(const std::string& path);

}  // namespace daybreak::exam
