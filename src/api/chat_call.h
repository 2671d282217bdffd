// SPDX-License-Identifier: Apache-2.0
#pragma once

// ChatCall: one generating request of one wire protocol (OpenAI chat, Anthropic Messages, ...):
// what the engine is asked for, and how the answer is written. run_call.h does everything between
// the two, so that no protocol has its own path from ids to text.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/context.h"
#include "api/generation.h"
#include "api/prepare.h"
#include "base/result.h"
#include "http/message.h"

namespace daybreak::api {

// Made on a worker thread, then used on the connection's strand.
class ChatCall {
 public:
  explicit ChatCall(PreparedChat chat) : chat_(std::move(chat)) {}
  ChatCall(const ChatCall&) = delete;
  ChatCall& operator=(const ChatCall&) = delete;
  virtual ~ChatCall() = default;

  [[nodiscard]] const PreparedChat& chat() const { return chat_; }
  [[nodiscard]] PreparedChat& chat() { return chat_; }
  // What a Generation is made of.
  [[nodiscard]] const PreparedChat& prepared() const { return chat_; }
  [[nodiscard]] std::size_t choices() const { return chat_.request.n; }
  // At most, of all choices together.
  [[nodiscard]] std::size_t answer_tokens() const { return chat_.max_tokens * choices(); }

  // Log-probabilities of each token of the answer that are kept until it has ended.
  [[nodiscard]] virtual std::size_t kept_logprobs() const {
    return chat_.request.stream ? 0 : logprobs_of_token();
  }

  // The answer's id as the client gets it.
  [[nodiscard]] virtual std::string_view id() const = 0;
  // Takes note of deltas of an answer that is not streamed, for a protocol whose message keeps
  // their order; generation.completions() does not.
  virtual void note(const std::vector<ChoiceDelta>& /*deltas*/) {}
  // Returns the whole answer. REQUIRES: generation.done().
  [[nodiscard]] virtual http::Response whole(const Generation& generation) = 0;

  // Headers of a stream, asked for once, after the first deltas have come.
  [[nodiscard]] virtual std::vector<http::Header> stream_headers(const Generation& generation) = 0;
  // Returns the events that tell `deltas`, which `generation` has consumed; may be empty. The last
  // call is the one after which generation.done(): it ends the stream.
  [[nodiscard]] virtual std::string frames(const std::vector<ChoiceDelta>& deltas,
                                           const Generation& generation) = 0;
  // Returns the events that end a stream which has begun and cannot go on.
  [[nodiscard]] virtual std::string error_frames(const Error& error) = 0;

 protected:
  // The token's own and the alternatives.
  [[nodiscard]] std::size_t logprobs_of_token() const {
    const auto& sampling = chat_.request.sampling;
    return sampling.logprobs ? 1 + std::size_t{sampling.top_logprobs} : 0;
  }

 private:
  PreparedChat chat_;
};

// A protocol: how a request is read, and how it is refused.
struct ChatProtocol {
  // Pure computation on a worker thread. Errors: those of prepare_chat().
  std::function<Result<std::unique_ptr<ChatCall>>(const http::Request&, const Context&)> prepare;
  std::function<http::Response(const http::Request&, const Error&)> refuse;
};

// Appends "data: JSON\n\n"; nothing for an empty `json`.
void append_event(std::string& frames, std::string_view json);

}  // namespace daybreak::api
