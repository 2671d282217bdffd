// SPDX-License-Identifier: Apache-2.0
#pragma once

// The check of a batch's input before anything of it is answered.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::api {

inline constexpr std::size_t kMaxBatchErrors = 20;  // that are told

struct BatchError {
  std::uint64_t line = 0;  // from 1; 0: of the whole batch
  std::string code;
  std::string message;
};

struct BatchCheck {
  std::uint64_t lines = 0;  // requests
  std::vector<BatchError> errors;
  bool ended = false;  // false: `stop` came first
};

// Reads the descriptor from its start to its end, a line at a time.
[[nodiscard]] BatchCheck check_batch(int input, std::string_view endpoint, std::size_t max_lines,
                                     const std::atomic<bool>& stop);

// OpenAI's list object of errors.
[[nodiscard]] std::string batch_errors_json(const std::vector<BatchError>& errors);

}  // namespace daybreak::api
