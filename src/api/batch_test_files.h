// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files of batches for tests. Test code only.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "testing/temporary_directory.h"

namespace daybreak::api {

using testing::TemporaryDirectory;

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
