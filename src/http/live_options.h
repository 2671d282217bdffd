// SPDX-License-Identifier: Apache-2.0
#pragma once

// LiveOptions: the part of ServerOptions that can change while a server runs. Each value is read
// where it is used, so a change holds from the next request, wait or write on.

#include <atomic>
#include <chrono>
#include <cstddef>

#include "http/request_parser.h"
#include "http/server_options.h"

namespace daybreak::http {

// Thread-safe. A reader may see some of a set() before the rest: the values do not depend on each
// other.
struct LiveOptions {
  explicit LiveOptions(const ServerOptions& options) { set(options); }

  void set(const ServerOptions& options) {
    max_connections = options.max_connections;
    head_bytes = options.limits.head_bytes;
    body_bytes = options.limits.body_bytes;
    header_timeout = options.header_timeout;
    body_timeout = options.body_timeout;
    idle_timeout = options.idle_timeout;
    write_timeout = options.write_timeout;
  }
  [[nodiscard]] RequestLimits request_limits() const {
    return {.head_bytes = head_bytes, .body_bytes = body_bytes};
  }

  using Wait = std::atomic<std::chrono::milliseconds>;
  static_assert(Wait::is_always_lock_free);

  std::atomic<std::size_t> max_connections;
  std::atomic<std::size_t> head_bytes;
  std::atomic<std::size_t> body_bytes;
  Wait header_timeout;
  Wait body_timeout;
  Wait idle_timeout;
  Wait write_timeout;
};

}  // namespace daybreak::http
