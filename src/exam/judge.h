// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether an answer is right and well-formed. tools/train/data_judge.py is the same judge for
// training; testdata/exam/answers.jsonl holds both to the same verdicts.

#include <optional>
#include <string>

#include "exam/answer.h"
#include "exam/question.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::exam {

struct Verdict {
  bool right = false;   // well-formed, and what was expected
  bool formed = false;  // as far as can be told
  std::string fault;    // why it is not well-formed
  // Whether the sampled ids are K3's format to the letter; nothing: they are not known.
  std::optional<bool> markers;
};

// `tokenizer` reads the ids; null: they are not looked at. Thread-safe.
[[nodiscard]] Verdict judge(const Question& question, const Answer& answer,
                            const tokenizer::Tokenizer* tokenizer);

// Returns what of an answer's shape is broken, as the API shows it: its end, markers in its texts,
// arguments that are no JSON object. Empty: nothing.
[[nodiscard]] std::string shape_fault(const Answer& answer);

// Returns whether calls and content are those expected: calls in order, their arguments as JSON
// values; the content as a JSON value, or as one of the texts.
[[nodiscard]] bool matches(const Expectation& expect, const Answer& answer);

}  // namespace daybreak::exam
