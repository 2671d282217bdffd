// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: messages as ids, and what a grammar makes of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/test_tokens.h"

namespace daybreak::grammar {

using Ids = std::vector<TokenId>;

inline Ids operator+(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Text, never markers, whatever it looks like.
inline Ids t(std::string_view text) { return test_tokens().ids(text); }
inline Ids open(std::string_view header) {
  return Ids{test_tokens().markers.open} + t(header) + Ids{test_tokens().markers.sep};
}
inline Ids close(std::string_view name) {
  return Ids{test_tokens().markers.close} + t(name) + Ids{test_tokens().markers.sep};
}
inline Ids end() { return close("message") + Ids{test_tokens().markers.end_of_msg}; }

inline Ids thought() { return t("let me see") + close("think"); }
inline Ids response(const Ids& body) { return open("response") + body + close("response"); }
inline Ids argument(std::string_view key, std::string_view type, std::string_view value) {
  return open("argument key=\"" + std::string(key) + "\" type=\"" + std::string(type) + "\"") +
         t(value) + close("argument");
}
inline Ids block(std::string_view text) {
  return open("json type=\"object\"") + t(text) + close("json");
}
inline Ids call(std::string_view tool, int index, const Ids& arguments) {
  return open("call tool=\"" + std::string(tool) + "\" index=\"" + std::to_string(index) + "\"") +
         arguments + close("call");
}
inline Ids tools(const Ids& calls) { return open("tools") + calls + close("tools"); }

inline std::shared_ptr<const Grammar> grammar_of(const MessageRules& rules) {
  auto grammar = compile(rules, test_tokens().markers);
  EXPECT_TRUE(grammar) << (grammar ? "" : grammar.error().message);
  return grammar ? *std::move(grammar) : nullptr;
}

// Feeds ids one by one, holding the mask and complete() to every one of them. Returns how many were
// taken; all of them and one more if the message is then complete.
inline std::size_t taken(const std::shared_ptr<const Grammar>& grammar, const Ids& ids) {
  const std::array<TokenId, 1> stop{test_tokens().eos};
  Matcher matcher(grammar, test_tokens().index, stop);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool allowed = mask_has(matcher.mask(), ids[i]);
    const bool accepted = matcher.accept(ids[i]);
    EXPECT_EQ(allowed, accepted) << "id " << ids[i] << " at " << i;
    if (!accepted) {
      return i;
    }
    EXPECT_EQ(mask_has(matcher.mask(), stop[0]), matcher.complete());
    // Nothing but the end is possible after end_of_msg, and nothing ends before.
    EXPECT_EQ(matcher.complete(), ids[i] == test_tokens().markers.end_of_msg);
    EXPECT_EQ(matcher.finished(), matcher.complete());
  }
  return ids.size() + (matcher.complete() ? 1 : 0);
}

inline std::string spelled(const Ids& ids) { return test_tokens().tokenizer->decode(ids); }

inline void expect_taken(const MessageRules& rules, const Ids& ids) {
  const auto grammar = grammar_of(rules);
  ASSERT_NE(grammar, nullptr);
  const std::size_t count = taken(grammar, ids);
  EXPECT_EQ(count, ids.size() + 1)
      << spelled(ids) << "\nstopped after "
      << spelled(
             {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()))});
}

inline void expect_refused(const MessageRules& rules, const Ids& ids) {
  const auto grammar = grammar_of(rules);
  ASSERT_NE(grammar, nullptr);
  EXPECT_LE(taken(grammar, ids), ids.size()) << spelled(ids);
}

inline MessageRules tool_rules(std::vector<ToolRule> all,
                               MessageRules::Tools use = MessageRules::Tools::kRequired,
                               MessageRules::Start start = MessageRules::Start::kNone) {
  MessageRules rules;
  rules.start = start;
  rules.use = use;
  rules.tools = std::move(all);
  return rules;
}

}  // namespace daybreak::grammar
