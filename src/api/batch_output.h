// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchOutput: the files into which the outcomes of a batch go, line by line as they come. A killed
// process loses no line it has written; going on finds which lines are done, repairs a torn last
// one, and refuses files that belong to another batch.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/batch_line.h"
#include "base/result.h"

namespace daybreak::api {

struct BatchPaths {
  std::string input;
  std::string output;
  std::string errors;  // what was not answered with 200; empty: goes into `output` too
  mode_t mode = 0644;  // of files that are made
};

struct BatchCounts {
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
};

// Not thread-safe. The files are locked against a second writer while it lives.
class BatchOutput {
 public:
  enum class Start : std::uint8_t { kNew, kResume };

  // kNew: the files must be new or empty. Errors: kInvalidArgument (a file is there already, is the
  // input, or is in use), kCorrupt (kResume: not what a batch has written), kIo.
  [[nodiscard]] static Result<std::unique_ptr<BatchOutput>> open(const BatchPaths& paths,
                                                                 Start start);
  ~BatchOutput();
  BatchOutput(const BatchOutput&) = delete;
  BatchOutput& operator=(const BatchOutput&) = delete;

  // Whether an earlier run has dealt with that line. Errors: kInvalidArgument: with another line
  // of that number.
  [[nodiscard]] Result<bool> has(const BatchLineId& id) const;

  // Appends one line (without its break) and hands it to the system. A write that fails leaves
  // nothing of it. Errors: kIo.
  Status write(std::string_view line, bool completed);
  // Waits until everything is on the disk. Errors: kIo.
  Status sync();

  [[nodiscard]] const BatchCounts& counts() const { return counts_; }  // earlier runs' included
  [[nodiscard]] std::uint64_t bytes() const { return files_[0].bytes + files_[1].bytes; }

 private:
  struct File {
    std::string path;
    int fd = -1;
    std::uint64_t bytes = 0;
  };
  BatchOutput() = default;
  Status open_file(File& file, const std::string& path, Start start, const BatchPaths& paths);
  Status recover(File& file);
  Status note(std::string_view line);

  File files_[2];  // of answers, of errors; the second may be unused
  std::unordered_map<std::uint64_t, std::uint64_t> done_;  // line to hash, of earlier runs
  BatchCounts counts_;
};

}  // namespace daybreak::api
