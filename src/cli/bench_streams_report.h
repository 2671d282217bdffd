// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `daybreak bench streams` measured, as text for people and as JSON for scripts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/stream_client.h"

namespace daybreak::cli {

struct StreamsShape {
  std::size_t streams = 2000;
  std::size_t rate = 10;  // tokens per second and stream
  std::size_t seconds = 20;
  std::size_t http_threads = 2;
  bool tls = false;

  [[nodiscard]] std::size_t tokens() const { return rate * seconds; }  // of each stream
};

struct StreamsReport {
  StreamsShape shape;
  StreamClientResult client;
  std::size_t idle_bytes = 0;       // the server's own memory before the first stream
  std::size_t peak_bytes = 0;       // the most while there were streams
  double server_cpu_seconds = 0.0;  // while there were streams
  double seconds = 0.0;             // from the first request to the last byte

  [[nodiscard]] double bytes_per_stream() const;
  [[nodiscard]] double cpu_us_per_token() const;
};

[[nodiscard]] std::string streams_json(const StreamsReport& report);
[[nodiscard]] std::string streams_text(const StreamsReport& report);

}  // namespace daybreak::cli
