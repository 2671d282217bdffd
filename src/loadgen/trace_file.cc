// SPDX-License-Identifier: Apache-2.0
#include "loadgen/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace daybreak::loadgen {

TraceFile::TraceFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), lines_(descriptor, kMaxTraceLine) {}

TraceFile::~TraceFile() { ::close(descriptor_); }

Result<std::unique_ptr<TraceFile>> TraceFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error{errno == ENOENT ? Errc::kNotFound : Errc::kIo,
                 path + ": " + std::generic_category().message(errno)};
  }
  return std::unique_ptr<TraceFile>(new TraceFile(path, descriptor));  // NOLINT: private
}

std::string TraceFile::where() const { return path_ + ": line " + std::to_string(number_); }

Result<std::optional<std::string>> TraceFile::next() {
  std::optional<Result<std::string>> line = lines_.next();
  if (!line) {
    return std::optional<std::string>();
  }
  ++number_;
  if (!*line) {
    return std::move(*line).error().in(where());
  }
  std::string text = **std::move(line);
  if (text.ends_with('\r')) {
    text.pop_back();
  }
  return std::optional(std::move(text));
}

}  // namespace daybreak::loadgen
