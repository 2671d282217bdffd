// SPDX-License-Identifier: Apache-2.0
// The required cases of the JSON-Schema-Test-Suite for 2020-12.

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "grammar/validator.h"
#include "testing/paths.h"

namespace daybreak::grammar {
namespace {

// The groups whose schema needs a document from the network or a dialect of its own, and their
// cases: refused by name, never guessed.
const std::map<std::string, std::size_t> kRefused = {
    {"dynamicRef: $ref and $dynamicAnchor are independent of order - $defs first", 3},
    {"dynamicRef: $ref and $dynamicAnchor are independent of order - $ref first", 3},
    {"dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor", 2},
    {"dynamicRef: strict-tree schema, guards against misspelled properties", 2},
    {"dynamicRef: tests for implementation dynamic anchor and reference link", 3},
    {"refRemote", 31},
    {"vocabulary: ignore unrecognized optional vocabulary", 2},
    {"vocabulary: schema that uses custom metaschema with with no validation vocabulary", 3},
};

TEST(ValidatorShared, AgreesWithTheTestSuite) {
  const auto folder = testing::shared_path("json-schema-2020-12");
  DAYBREAK_SHARED_OR_SKIP(folder);
  std::size_t cases = 0;
  std::size_t right = 0;
  std::map<std::string, std::size_t> refused;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    const std::string text = testing::read_file(entry.path());
    const auto groups = parse_json_tree(text);
    ASSERT_TRUE(groups) << groups.error().message;
    for (const JsonNode& group : groups->items) {
      const std::string title = name + ": " + group.find("description")->text;
      SCOPED_TRACE(title);
      const auto& tests = group.find("tests")->items;
      cases += tests.size();
      auto document = SchemaDocument::parse(group.find("schema")->raw);
      if (!document) {
        EXPECT_NE(document.error().message.find("/$"), std::string::npos)
            << document.error().message;
        refused[name == "refRemote" ? name : title] += tests.size();
        continue;
      }
      const auto validator = Validator::create(*std::move(document));
      ASSERT_TRUE(validator) << validator.error().message;
      for (const JsonNode& test : tests) {
        const auto result = validator->validate(*test.find("data"));
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(result->valid(), test.find("valid")->boolean) << test.find("description")->text;
        right += result->valid() == test.find("valid")->boolean ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(refused, kRefused);
  EXPECT_EQ(cases, 1249U);
  EXPECT_GE(right * 100, cases * 95);
  std::cout << "PROOF json_schema_2020_12: " << right << "/" << cases << " verdicts, "
            << cases - right << " refused by name\n";
}

}  // namespace
}  // namespace daybreak::grammar
