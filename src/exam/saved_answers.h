// SPDX-License-Identifier: Apache-2.0
#pragma once

// The answers of an exam in a file, one JSON object a line, and how a later run differs from them.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exam/answer.h"
#include "exam/judge.h"
#include "exam/question.h"

namespace daybreak::exam {

inline constexpr std::size_t kMaxSavedBytes = std::size_t{1} << 30U;

struct SavedAnswer {
  std::string digest;  // of the question
  std::string error;   // why there is no answer; empty: there is one
  Verdict verdict;
  Answer answer;  // texts, calls and finish_reason only
};
using SavedAnswers = std::map<std::string, SavedAnswer>;  // by the question's id

// In the order of the questions. REQUIRES: as many answers and verdicts as questions.
[[nodiscard]] std::string saved_text(std::span<const Question> questions,
                                     std::span<const Result<Answer>> answers,
                                     std::span<const Verdict> verdicts);

// `name` stands for the file in messages. Errors: kInvalidArgument "NAME: line N: FIELD: ...",
// kTooLarge.
[[nodiscard]] Result<SavedAnswers> parse_saved(std::string_view text, const std::string& name);

// Two runs over questions that both were asked word for word and answered.
struct Comparison {
  std::size_t pairs = 0;
  std::size_t same = 0;           // content and calls to the byte
  std::size_t same_thinking = 0;  // of those, with the same reasoning
  std::size_t both_right = 0;
  std::size_t lost = 0;        // right before, not now
  std::size_t gained = 0;      // right now, not before
  std::size_t not_paired = 0;  // asked now, but not before, or in other words, or one not answered
};

// REQUIRES: as saved_text().
[[nodiscard]] Comparison compare(std::span<const Question> questions,
                                 std::span<const Result<Answer>> answers,
                                 std::span<const Verdict> verdicts, const SavedAnswers& before);

}  // namespace daybreak::exam
