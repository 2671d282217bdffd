// SPDX-License-Identifier: Apache-2.0
#pragma once

// ContentLog: the one place where a server writes down what clients asked and the model answered,
// if its operator wants that: a file of JSON lines, redacted (redaction.h). Nothing else tells
// content but the stores that clients ask to keep it (files, batches, responses, slots). A thread
// of its own redacts and writes, so that no answer waits for it.

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "access/utc_time.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"

namespace daybreak::api {

struct ContentLogOptions {
  std::filesystem::path file;  // empty: nothing is written down
  // When it is larger it becomes FILE.1, in place of the one before.
  std::uint64_t max_file_bytes = std::uint64_t{256} << 20U;
  // Of entries that wait to be written; one that finds no room is dropped and counted.
  std::size_t max_waiting_bytes = std::size_t{64} << 20U;
};

// One answered request.
struct ContentEntry {
  std::string request_id;
  std::string route;
  std::string request;  // JSON as the client sent it
  std::string choices;  // JSON array of the whole choices, streamed or not
};

// Thread-safe.
class ContentLog {
 public:
  // `metrics` and `log` outlive it. Errors: kIo naming the file, which is made readable for its
  // owner only and must be a regular file.
  [[nodiscard]] static Result<std::unique_ptr<ContentLog>> open(ContentLogOptions options,
                                                                Metrics& metrics, Log& log);
  // Writes what waits.
  ~ContentLog();
  ContentLog(const ContentLog&) = delete;
  ContentLog& operator=(const ContentLog&) = delete;

  // Takes an entry, or drops it. Never waits. The line is
  // {"time","request_id","route","request","choices"}, in the order of the calls.
  void write(ContentEntry entry);

 private:
  struct Waiting {
    ContentEntry entry;
    access::UtcMicros time = 0;
    std::size_t bytes = 0;
  };

  ContentLog(ContentLogOptions options, Metrics& metrics, Log& log);
  Status open_file();
  [[nodiscard]] Status prepare_file() const;
  Result<off_t> file_for(std::size_t bytes);
  Status append(const std::string& line);
  void run();
  void close_file();

  const ContentLogOptions options_;
  Log& log_;
  Counter written_;
  Counter dropped_;
  Counter failed_;
  int file_ = -1;  // of the thread, once it runs
  bool failing_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace daybreak::api
