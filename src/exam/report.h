// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an exam came to, for a person and for a program.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "exam/saved_answers.h"
#include "exam/tally.h"

namespace daybreak::exam {

// An answer that was not right.
struct WrongAnswer {
  std::string id;
  std::string skill;
  std::string asked;     // the last message
  std::string expected;  // JSON
  std::string found;     // JSON
  std::string fault;     // why it is not well-formed; empty: it is
};

struct Report {
  std::string questions;  // the file
  std::string endpoint;   // the model's directory, or a URL
  double seconds = 0;
  Tally tally;
  std::optional<Comparison> comparison;
  std::vector<WrongAnswer> wrong;
};

// Returns the first `each` answers of every skill that are not right.
[[nodiscard]] std::vector<WrongAnswer> wrong_answers(std::span<const Question> questions,
                                                     std::span<const Result<Answer>> answers,
                                                     std::span<const Verdict> verdicts,
                                                     std::size_t each);

enum class Bars : bool { kOff, kOn };

// A table of lines that end in a line break.
[[nodiscard]] std::string report_text(const Report& report, Bars bars);

// One JSON object.
[[nodiscard]] std::string report_json(const Report& report);

}  // namespace daybreak::exam
