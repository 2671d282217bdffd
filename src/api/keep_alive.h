// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeepAlive: when a stream that has nothing to say sends a comment, so that proxies on the way keep
// the connection.

#include <chrono>
#include <string_view>

namespace daybreak::api {

class KeepAlive {
 public:
  using Clock = std::chrono::steady_clock;

  // A comment of server-sent events: no client sees it.
  static constexpr std::string_view kComment = ": ping\n\n";

  // `silence` 0: never. Counts from now.
  explicit KeepAlive(std::chrono::milliseconds silence) : silence_(silence) { sent(); }

  // Something has been sent.
  void sent() {
    if (silence_.count() > 0) {
      due_ = Clock::now() + silence_;
    }
  }
  // When the next comment is due unless something is sent before.
  [[nodiscard]] Clock::time_point due() const { return due_; }
  [[nodiscard]] bool is_due() const { return Clock::now() >= due_; }

 private:
  std::chrono::milliseconds silence_;
  Clock::time_point due_ = Clock::time_point::max();
};

}  // namespace daybreak::api
