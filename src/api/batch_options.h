// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "access/utc_time.h"
#include "api/owner_share.h"

namespace daybreak::api {

// What a server may keep of files, and give to batches.
struct BatchOptions {
  std::string directory;  // of files and batches; empty: there are none
  std::uint64_t max_bytes = std::uint64_t{256} << 20U;  // of all files together
  std::size_t max_files = 10'000;
  OwnerShare owner_share = {};              // of both, and of unfinished batches
  std::size_t max_lines = 50'000;           // of one batch
  std::size_t in_flight = 2;                // requests of batches answered at the same time
  std::int64_t window_seconds = 86'400;     // from creation to expiry
  std::chrono::milliseconds sweep{60'000};  // from one look for expired files to the next
  const access::UtcClock* utc = &access::UtcClock::system();  // of files; outlives the service
};

}  // namespace daybreak::api
