// SPDX-License-Identifier: Apache-2.0
#pragma once

// The lines of batches, in OpenAI's form: a request, and what became of it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace daybreak::api {

inline constexpr std::size_t kMaxCustomIdBytes = 256;

struct BatchRequest {
  std::string custom_id;
  std::string url;   // one of those that may be batched
  std::string body;  // JSON as it was, on one line
};

// Whether requests to `url` can be in a batch.
[[nodiscard]] bool can_be_batched(std::string_view url);
// "expected /v1/chat/completions, ...", for messages.
[[nodiscard]] std::string batch_urls();

// Reads one line. `endpoint`: the only url allowed; empty: any that can be batched.
// Errors: kInvalidArgument naming the member, what was expected and found.
Result<BatchRequest> parse_batch_request(std::string_view line, std::string_view endpoint);
// Returns the custom_id of a line that is otherwise wrong, "" if it has none.
[[nodiscard]] std::string custom_id_of(std::string_view line);

// Names an answered line: its number from 1, and a hash of its bytes, so that an answer is never
// taken for that of another request.
struct BatchLineId {
  std::uint64_t line = 0;
  std::uint64_t hash = 0;

  [[nodiscard]] static BatchLineId of(std::uint64_t line, std::string_view bytes);
  // "batch_req_12_0123456789abcdef".
  [[nodiscard]] std::string text() const;
  // Errors: kCorrupt.
  [[nodiscard]] static Result<BatchLineId> parse(std::string_view text);
  friend bool operator==(const BatchLineId&, const BatchLineId&) = default;
};

// What became of a line. Each is one line of JSON without its line break.
[[nodiscard]] std::string batch_answer_json(const BatchLineId& id, std::string_view custom_id,
                                            std::string_view request_id,
                                            const http::Response& response);
// `custom_id` empty: null. `code` is a word for programs, such as "invalid_request".
[[nodiscard]] std::string batch_error_json(const BatchLineId& id, std::string_view custom_id,
                                           std::string_view code, std::string_view message);

// What is read back of such a line.
struct BatchOutcome {
  BatchLineId id;
  bool completed = false;  // answered with 200
};
// Errors: kCorrupt.
Result<BatchOutcome> parse_batch_outcome(std::string_view line);

}  // namespace daybreak::api
