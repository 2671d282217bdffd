// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks all questions of an exam, several at a time.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "exam/endpoint.h"
#include "exam/question.h"

namespace daybreak::exam {

inline constexpr std::size_t kMaxConcurrency = 256;
// So many questions in a row that found no connection, or were refused with 401, 403 or 404, end an
// exam.
inline constexpr std::size_t kMaxLostInARow = 5;
inline constexpr std::size_t kMaxRunBytes = std::size_t{1} << 30U;  // of all answers

struct RunOptions {
  EndpointOptions endpoint;
  std::size_t concurrency = 1;  // at most kMaxConcurrency
  // Called from any thread, one at a time, after each question.
  std::function<void(std::size_t done)> on_done = nullptr;
};

struct ExamRun {
  // One for each question, in their order: an answer, or why there is none. kCancelled: not asked,
  // because the exam had ended.
  std::vector<Result<Answer>> answers;
  double seconds = 0;
  // Why it ended early: kUnavailable (the endpoint is gone), kTooLarge (kMaxRunBytes).
  Status status = ok();
};

// Returns when every question was asked. Errors: those of Endpoint::create().
[[nodiscard]] Result<ExamRun> run_exam(std::span<const Question> questions,
                                       const RunOptions& options);

}  // namespace daybreak::exam
