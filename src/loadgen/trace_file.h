// SPDX-License-Identifier: Apache-2.0
#pragma once

// TraceFile: the numbered lines of a trace.

#include <memory>
#include <optional>
#include <string>

#include "base/line_reader.h"
#include "base/result.h"

namespace daybreak::loadgen {

class TraceFile {
 public:
  // Errors: kNotFound, kIo.
  [[nodiscard]] static Result<std::unique_ptr<TraceFile>> open(const std::string& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Returns the next line without its end, "\r\n" included; nothing at the end of the file.
  // Errors: kTooLarge (more than kMaxTraceLine bytes), kIo; naming file and line.
  [[nodiscard]] Result<std::optional<std::string>> next();
  // "FILE: line N" of the line returned last.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  TraceFile(std::string path, int descriptor);

  const std::string path_;
  const int descriptor_;
  LineReader lines_;
  std::size_t number_ = 0;
};

inline constexpr std::size_t kMaxTraceLine = std::size_t{32} << 20U;

}  // namespace daybreak::loadgen
