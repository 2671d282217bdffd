// SPDX-License-Identifier: Apache-2.0
#pragma once

// One answer as the endpoint gave it.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/token.h"

namespace daybreak::exam {

struct Call {
  std::string name;
  std::string arguments;  // JSON, if the endpoint keeps its word

  friend bool operator==(const Call&, const Call&) = default;
};

struct Answer {
  std::string content;
  std::string reasoning;
  std::vector<Call> calls;
  std::string finish_reason;
  // What the endpoint says of tokens; nothing: it does not.
  std::optional<std::size_t> completion_tokens;
  std::optional<std::size_t> reasoning_tokens;
  std::optional<std::size_t> prompt_tokens;
  std::optional<std::size_t> cached_tokens;  // of the prompt, taken from a cache
  // The ids that were sampled, up to the last one with text.
  std::vector<TokenId> ids;
  double first_seconds = 0;  // from the request to the first piece of the answer
  double seconds = 0;        // to its end
};

}  // namespace daybreak::exam
