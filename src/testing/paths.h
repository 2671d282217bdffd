// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where tests find fixtures. Test code only.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace daybreak::testing {

// Returns a path inside the source tree, such as source_path("testdata/chat").
inline std::filesystem::path source_path(const std::string& relative) {
  const char* root = std::getenv("DAYBREAK_SOURCE_DIR");
  return std::filesystem::path(root == nullptr ? "." : root) / relative;
}

// Returns a path inside the shared reference data; may not exist, see DAYBREAK_SHARED_OR_SKIP.
inline std::filesystem::path shared_path(const std::string& relative) {
  if (const char* dir = std::getenv("DAYBREAK_SHARED_DIR"); dir != nullptr) {
    return std::filesystem::path(dir) / relative;
  }
  return source_path("../shared/data") / relative;
}

// Returns the whole file, or fails the test and returns "".
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace daybreak::testing

// Skips the test, visibly, on a machine without the shared reference data.
#define DAYBREAK_SHARED_OR_SKIP(path)                               \
  if (!std::filesystem::exists(path)) {                             \
    GTEST_SKIP() << "no shared reference data: " << (path).string() \
                 << " (set DAYBREAK_SHARED_DIR)";                   \
  }                                                                 \
  static_assert(true)
