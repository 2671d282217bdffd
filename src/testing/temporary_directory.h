// SPDX-License-Identifier: Apache-2.0
#pragma once

// A directory that is gone with its object. Test code only.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace daybreak::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "daybreak_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

  // Writes in one step, so that whoever watches the file sees all of it. Returns its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(file(name + ".new"), std::ios::binary | std::ios::trunc) << bytes;
    std::filesystem::rename(file(name + ".new"), file(name));
    return file(name);
  }
  [[nodiscard]] std::string read(std::string_view name) const {
    std::stringstream text;
    text << std::ifstream(file(name), std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace daybreak::testing
