// SPDX-License-Identifier: Apache-2.0
#pragma once

// RequestParser: bytes in, one HTTP/1.x request or one precise refusal out. Works on memory only,
// so that the connection, the unit tests and the fuzz target all run the same code.
//
//   kHead --(blank line)--> kHeadDone --(continue_body)--> kBody --(all of it)--> kDone
//     \_________________________ any violation _________________________/--> kFailed

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace daybreak::http {

struct RequestLimits {
  std::size_t head_bytes = 8 * 1024;     // request line and headers; over it: 431
  std::size_t body_bytes = 1024 * 1024;  // after removing the chunked coding; over it: 413
};

// Why a request is refused: the status to answer, and a message for the client.
struct Refusal {
  int status = 0;
  std::string message;
};

class RequestParser {
 public:
  enum class State { kHead, kHeadDone, kBody, kDone, kFailed };

  explicit RequestParser(RequestLimits limits);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  // Consumes a prefix of `bytes` and returns its length; the caller presents the rest again, with
  // more behind it. Stops at the end of the head (kHeadDone) and of the request (kDone). The part
  // not consumed never exceeds limits.head_bytes: a longer one is refused.
  std::size_t feed(std::string_view bytes);

  // Goes on to the body, once the head has been looked at. REQUIRES: state() == kHeadDone.
  void continue_body();

  [[nodiscard]] State state() const;
  // The client waits for "100 Continue" before it sends the body. REQUIRES: the head is done.
  [[nodiscard]] bool wants_continue() const;
  // REQUIRES: state() == kFailed.
  [[nodiscard]] const Refusal& refusal() const;
  // Bytes of the body received so far.
  [[nodiscard]] std::size_t body_bytes() const;
  // Returns the request without id and body, or nothing while its head is not complete. REQUIRES:
  // take() has not been called.
  [[nodiscard]] std::optional<Request> head() const;
  // Moves the request out, without its id. REQUIRES: state() == kDone.
  [[nodiscard]] Request take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::http
