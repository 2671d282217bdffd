// SPDX-License-Identifier: Apache-2.0
// The published cases of the MFJS dialect: verdict, part of the message, kind of error.

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

#include "base/json_tree.h"
#include "grammar/mfjs.h"
#include "testing/paths.h"

namespace daybreak::grammar {
namespace {

TEST(MfjsShared, AgreesOnEveryCase) {
  const auto folder = testing::shared_path("mfjs");
  DAYBREAK_SHARED_OR_SKIP(folder);
  std::size_t valid = 0;
  std::size_t invalid = 0;
  for (const auto& suite : std::filesystem::directory_iterator(folder)) {
    if (!suite.is_directory()) {
      continue;
    }
    SCOPED_TRACE(suite.path().filename().string());
    std::istringstream good(testing::read_file(suite.path() / "valid.jsonl"));
    for (std::string line; std::getline(good, line); ++valid) {
      const Status status = check_mfjs(line, MfjsLevel::kUltra, kDocumentedMfjsLimits);
      EXPECT_TRUE(status) << status.error().message << "\n" << line;
    }
    std::istringstream bad(testing::read_file(suite.path() / "invalid.jsonl"));
    for (std::string line; std::getline(bad, line); ++invalid) {
      const auto row = parse_json_tree(line);
      ASSERT_TRUE(row) << row.error().message;
      const Status status =
          check_mfjs(row->find("schema")->text, MfjsLevel::kUltra, kDocumentedMfjsLimits);
      ASSERT_FALSE(status) << line;
      const std::string& message = status.error().message;
      EXPECT_NE(message.find(row->find("expect")->text), std::string::npos) << message << line;
      EXPECT_EQ(message.starts_with("JSON schema parsing error: "), row->find("unmarshal")->boolean)
          << message;
    }
  }
  EXPECT_EQ(valid, 73U);
  EXPECT_EQ(invalid, 114U);
  std::cout << "PROOF mfjs: " << valid << " valid and " << invalid << " invalid schemas\n";
}

}  // namespace
}  // namespace daybreak::grammar
