// SPDX-License-Identifier: Apache-2.0
// The required cases of the JSON-Schema-Test-Suite for 2020-12 through the automaton: every verdict
// is right, or the schema is refused by name.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/json_tree.h"
#include "grammar/message_rules.h"
#include "grammar/random_text.h"
#include "testing/paths.h"

namespace daybreak::grammar {
namespace {

// Returns a value without spaces between its tokens.
std::string compact(const JsonNode& node) {
  if (node.is(JsonNode::Kind::kArray)) {
    std::vector<std::string> items;
    std::ranges::transform(node.items, std::back_inserter(items), compact);
    return json_list(items);
  }
  if (!node.is(JsonNode::Kind::kObject)) {
    return std::string(node.raw);
  }
  std::string text = "{";
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    text += (i == 0 ? "" : ",") + json_quoted(node.keys[i]) + ":" + compact(node.items[i]);
  }
  return text + "}";
}

// Documents from the network, dialects, and what depends on the instance or would need to remember
// whole objects.
const std::map<std::string, std::size_t> kRefused = {
    {"$dynamicRef", 25},           {"$ref", 44},        {"$schema", 5}, {"unevaluatedItems", 32},
    {"unevaluatedProperties", 56}, {"uniqueItems", 41},
};

struct Counts {
  std::size_t agree = 0;
  std::size_t wrong = 0;
  std::map<std::string, std::size_t> refused;  // by reason

  [[nodiscard]] std::size_t refusals() const {
    std::size_t sum = 0;
    for (const auto& [reason, count] : refused) {
      sum += count;
    }
    return sum;
  }
};

// What an error is about, without the place in the schema.
std::string reason_of(const Error& error) {
  for (const std::string_view reason :
       {"unevaluatedProperties", "unevaluatedItems", "uniqueItems", "$dynamicRef", "$ref",
        "$schema", "contains", "$vocabulary"}) {
    if (error.message.find(reason) != std::string::npos) {
      return std::string(reason);
    }
  }
  return error.message;
}

void judge(const JsonNode& group, Counts& counts) {
  const std::string_view schema = group.find("schema")->raw;
  for (const JsonNode& test : group.find("tests")->items) {
    const std::string text = compact(*test.find("data"));
    const auto accepted = schema_accepts(schema, text, {.formats = Formats::kAnnotate});
    if (!accepted) {
      const Error& error = accepted.error();
      EXPECT_TRUE(error.code == Errc::kUnsupported || error.code == Errc::kInvalidArgument)
          << error.message;
      ++counts.refused[reason_of(error)];
    } else if (*accepted == test.find("valid")->boolean) {
      ++counts.agree;
    } else {
      ++counts.wrong;
      ADD_FAILURE() << group.find("description")->text << ": " << test.find("description")->text
                    << ": " << text << " of " << schema;
    }
  }
}

TEST(JsonSchemaSuite, EveryVerdictIsRightOrRefusedByName) {
  const auto folder = testing::shared_path("json-schema-2020-12");
  DAYBREAK_SHARED_OR_SKIP(folder);
  std::map<std::string, Counts> files;
  Counts all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = testing::read_file(entry.path());
    const auto groups = parse_json_tree(text);
    ASSERT_TRUE(groups) << groups.error().message;
    Counts& counts = files[entry.path().stem().string()];
    for (const JsonNode& group : groups->items) {
      judge(group, counts);
    }
    all.agree += counts.agree;
    all.wrong += counts.wrong;
    for (const auto& [reason, count] : counts.refused) {
      all.refused[reason] += count;
    }
  }
  for (const auto& [name, counts] : files) {
    std::cout << name << ": " << counts.agree << " right, " << counts.refusals() << " refused\n";
  }
  for (const auto& [reason, count] : all.refused) {
    std::cout << "refused for " << reason << ": " << count << "\n";
  }
  EXPECT_EQ(all.wrong, 0U);
  EXPECT_EQ(all.agree, 1046U);
  EXPECT_EQ(all.refused, kRefused);
  std::cout << "PROOF json_schema_2020_12_grammar: " << all.agree << "/1249 verdicts, "
            << all.refusals() << " refused by name\n";
}

}  // namespace
}  // namespace daybreak::grammar
