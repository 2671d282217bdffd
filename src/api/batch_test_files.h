// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files of batches for tests. Test code only.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace daybreak::api {

// A directory that is gone with this object.
class BatchTestDirectory {
 public:
  BatchTestDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "daybreak_batch_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~BatchTestDirectory() { std::filesystem::remove_all(path_); }
  BatchTestDirectory(const BatchTestDirectory&) = delete;
  BatchTestDirectory& operator=(const BatchTestDirectory&) = delete;

  std::string path(const std::string& name = "") const { return (path_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path path_;
};

inline std::string batch_line(const std::string& custom_id, const std::string& prompt = "hi",
                              const std::string& more = "") {
  return R"({"custom_id":")" + custom_id +
         R"(","method":"POST","url":"/v1/completions","body":{"prompt":")" + prompt + "\"" + more +
         "}}\n";
}

// Parses every line; each must be whole.
inline std::vector<nlohmann::json> parse_lines(const std::string& text) {
  std::vector<nlohmann::json> out;
  EXPECT_TRUE(text.empty() || text.back() == '\n') << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    out.push_back(nlohmann::json::parse(line, nullptr, false));
    EXPECT_TRUE(out.back().is_object()) << line;
  }
  return out;
}

}  // namespace daybreak::api
