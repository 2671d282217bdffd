// SPDX-License-Identifier: Apache-2.0
#include "grammar/rules_key.h"

#include <gtest/gtest.h>

#include <set>

namespace daybreak::grammar {
namespace {

TEST(RulesKey, DiffersWheneverTheRulesDo) {
  std::vector<MessageRules> all(1);
  const auto add = [&](auto change) {
    MessageRules rules;
    change(rules);
    all.push_back(rules);
  };
  add([](MessageRules& r) { r.start = MessageRules::Start::kResponse; });
  add([](MessageRules& r) { r.start = MessageRules::Start::kBare; });
  add([](MessageRules& r) { r.body = MessageRules::Body::kRegex; });
  add([](MessageRules& r) { r.use = MessageRules::Tools::kRequired; });
  add([](MessageRules& r) { r.parallel = false; });
  add([](MessageRules& r) { r.body_source = "a"; });
  add([](MessageRules& r) { r.partial = "a"; });
  add([](MessageRules& r) { r.choices = {""}; });
  add([](MessageRules& r) { r.choices = {"", ""}; });
  add([](MessageRules& r) { r.choices = {"1:a"}; });
  add([](MessageRules& r) { r.choices = {"ab", "c"}; });
  add([](MessageRules& r) { r.choices = {"a", "bc"}; });
  add([](MessageRules& r) { r.tools = {{.name = "f", .parameters = "", .strict = true}}; });
  add([](MessageRules& r) { r.tools = {{.name = "f", .parameters = "", .strict = false}}; });
  add([](MessageRules& r) { r.tools = {{.name = "", .parameters = "f", .strict = true}}; });
  add([](MessageRules& r) { r.tools = {{.name = "f", .parameters = "{}", .strict = true}}; });
  std::set<std::string> keys;
  for (const MessageRules& rules : all) {
    EXPECT_EQ(rules_key(rules), rules_key(MessageRules(rules)));
    keys.insert(rules_key(rules));
  }
  EXPECT_EQ(keys.size(), all.size());
}

}  // namespace
}  // namespace daybreak::grammar
