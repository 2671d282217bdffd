// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an exam came to, skill by skill.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exam/answer.h"
#include "exam/judge.h"
#include "exam/question.h"

namespace daybreak::exam {

struct SkillTally {
  std::string skill;
  std::size_t asked = 0;
  std::size_t answered = 0;  // the others are neither right nor wrong
  std::size_t right = 0;
  std::size_t formed = 0;
  std::size_t ids_known = 0;  // answers whose ids could be looked at
  std::size_t markers = 0;    // of those, to the letter
  std::string first_error;    // why the first one without an answer has none
};

struct EffortTally {
  std::string effort;
  std::size_t answers = 0;
  double median_tokens = 0;  // of thinking
};

struct Tally {
  std::vector<SkillTally> skills;  // in the order of the questions
  SkillTally total;
  std::vector<EffortTally> efforts;  // low, high, max, then others; those with known lengths
  // Medians over answers; nothing: none is known.
  std::optional<double> first_seconds;
  std::optional<double> tokens_per_second;  // of an answer, after its first token
  std::size_t completion_tokens = 0;
};

// REQUIRES: as many answers and verdicts as questions; a verdict without an answer is not looked
// at.
[[nodiscard]] Tally tally(std::span<const Question> questions,
                          std::span<const Result<Answer>> answers,
                          std::span<const Verdict> verdicts);

// Judges every answer; what was not answered gets an empty verdict.
[[nodiscard]] std::vector<Verdict> judge_all(std::span<const Question> questions,
                                             std::span<const Result<Answer>> answers,
                                             const tokenizer::Tokenizer* tokenizer);

// The least share of all that was asked of a skill which must be right.
struct Minimum {
  std::string skill;
  double share = 0;
};

// Reads SKILL=SHARE, a share from 0 to 1. Errors: kInvalidArgument.
[[nodiscard]] Result<Minimum> parse_minimum(std::string_view text);

// Errors: kInvalidArgument for a skill that was not asked, kCorrupt naming every skill below its
// minimum. A question without an answer counts as asked.
[[nodiscard]] Status check_minima(const Tally& tally, std::span<const Minimum> minima);

}  // namespace daybreak::exam
