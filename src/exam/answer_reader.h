// SPDX-License-Identifier: Apache-2.0
#pragma once

// AnswerReader: puts an answer together from the events of a streamed chat completion, or of a
// completion, whose text is then the content.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exam/answer.h"

namespace daybreak::exam {

inline constexpr std::size_t kMaxEventBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{8} << 20U;  // of its texts
inline constexpr std::size_t kMaxAnswerCalls = 128;
inline constexpr std::size_t kMaxAnswerIds = std::size_t{1} << 20U;

// Not thread-safe.
class AnswerReader {
 public:
  // Takes what has arrived, cut anywhere. Errors: kCorrupt (an event that is no chunk of a chat
  // completion), kTooLarge, kUnavailable (an event with an error, in its words).
  Status take(std::string_view bytes);

  // Whether a piece of the answer has come.
  [[nodiscard]] bool begun() const { return pieces_ > 0; }
  // How many events had a piece of it.
  [[nodiscard]] std::size_t pieces() const { return pieces_; }

  // Returns the answer once everything was taken; times are not set. Errors: kCorrupt if the stream
  // ended before the answer did.
  [[nodiscard]] Result<Answer> finish() &&;

 private:
  Status take_line(std::string_view line);
  Status take_event(std::string_view text);
  Status take_choice(const nlohmann::json& choice);
  Status take_call(const nlohmann::json& call);
  void take_usage(const nlohmann::json& usage);
  Status append(std::string& to, const nlohmann::json& delta, const char* key);

  Answer answer_;
  std::string line_;   // as received, not yet whole
  std::string event_;  // data lines of the event that is being read
  std::size_t bytes_ = 0;
  std::size_t pieces_ = 0;
  bool has_piece_ = false;  // the event that is being read
};

// Returns the message of an error body in OpenAI's shape, or the start of what it is.
[[nodiscard]] std::string error_message(std::string_view body);

}  // namespace daybreak::exam
