// SPDX-License-Identifier: Apache-2.0
// The required cases of the JSON-Schema-Test-Suite for 2020-12 against the automaton: it agrees, or
// the schema is refused with the keyword's name.

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>

#include "base/json_tree.h"
#include "grammar/json_spelling.h"
#include "grammar/message_rules.h"
#include "testing/paths.h"

namespace daybreak::grammar {
namespace {

constexpr SchemaGrammarOptions kOptions = {.formats = Formats::kAnnotate};

// Cases whose schema is refused, by file.
const std::map<std::string, std::size_t> kRefused = {
    {"defs", 2},
    {"dynamicRef", 30},
    {"not", 2},
    {"ref", 2},
    {"refRemote", 31},
    {"unevaluatedItems", 34},
    {"unevaluatedProperties", 56},
    {"uniqueItems", 41},
    {"vocabulary", 5},
};

// A refusal says what cannot be enforced, or which reference or dialect is not here.
bool names_a_keyword(const std::string& message) {
  return message.find(" cannot be enforced exactly: ") != std::string::npos ||
         message.find("/$") != std::string::npos;
}

TEST(AutomatonShared, AgreesWithTheTestSuiteOrRefusesByName) {
  const auto folder = testing::shared_path("json-schema-2020-12");
  DAYBREAK_SHARED_OR_SKIP(folder);
  std::size_t cases = 0;
  std::size_t refusals = 0;
  std::map<std::string, std::size_t> refused;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    const std::string text = testing::read_file(entry.path());
    const auto groups = parse_json_tree(text);
    ASSERT_TRUE(groups) << groups.error().message;
    for (const JsonNode& group : groups->items) {
      const std::string schema(group.find("schema")->raw);
      for (const JsonNode& test : group.find("tests")->items) {
        ++cases;
        const auto accepted = schema_accepts(schema, compact_json(*test.find("data")), kOptions);
        if (!accepted) {
          EXPECT_TRUE(names_a_keyword(accepted.error().message)) << accepted.error().message;
          ++refused[name];
          ++refusals;
          continue;
        }
        EXPECT_EQ(*accepted, test.find("valid")->boolean)
            << name << ": " << group.find("description")->text << ": "
            << test.find("description")->text;
      }
    }
  }
  EXPECT_EQ(refused, kRefused);
  EXPECT_EQ(cases, 1249U);
  std::cout << "PROOF json_schema_automaton: " << cases - refusals << "/" << cases << " verdicts, "
            << refusals << " refused by name\n";
}

}  // namespace
}  // namespace daybreak::grammar
